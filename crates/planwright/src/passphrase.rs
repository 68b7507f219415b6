//! Passphrases, asked on the terminal itself and not shown. They are never taken from an argument, a variable or a pipe.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};

use planwright_engine::process::close_memory;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

use crate::failure::Failure;

/// The longest that is read.
const MAX_BYTES: usize = 4096;

/// Asks for a passphrase that exists.
pub(crate) fn ask(question: &str) -> Result<SecretString, Failure> {
    close_memory();
    let terminal = File::options().read(true).write(true).open("/dev/tty").map_err(|_| no_terminal())?;
    let silent = Silent::begin(&terminal)?;
    let asked = read(&terminal, question);
    drop(silent);
    let _ = writeln!(&terminal);
    asked
}

/// Asks for a new one, twice.
pub(crate) fn ask_new(name: &str) -> Result<SecretString, Failure> {
    use secrecy::ExposeSecret as _;
    let first = ask(&format!("New passphrase for {name}: "))?;
    let second = ask("The same again: ")?;
    if first.expose_secret() != second.expose_secret() {
        return Err(Failure::usage("the two passphrases are not the same; nothing was changed"));
    }
    Ok(first)
}

fn read(terminal: &File, question: &str) -> Result<SecretString, Failure> {
    let unreadable = |error: std::io::Error| Failure::usage(format!("the passphrase cannot be read: {error}"));
    (&*terminal).write_all(question.as_bytes()).map_err(unreadable)?;
    let mut line = String::with_capacity(MAX_BYTES);
    let mut reader = std::io::Read::take(BufReader::new(terminal), MAX_BYTES as u64);
    reader.read_line(&mut line).map_err(unreadable)?;
    if !line.ends_with('\n') {
        return Err(Failure::declined("No passphrase was given; nothing was changed."));
    }
    Ok(SecretString::from(line.trim_end_matches(['\n', '\r']).to_owned()))
}

fn no_terminal() -> Failure {
    Failure::declined("A passphrase is asked on a terminal, and this process has none; nothing was changed.")
}

/// The terminal does not show what is typed until this is dropped.
struct Silent<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Silent<'a> {
    fn begin(terminal: &'a File) -> Result<Self, Failure> {
        let before = tcgetattr(terminal).map_err(|_| no_terminal())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        silent.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG);
        // What was typed before the question is no answer to it.
        tcsetattr(terminal, OptionalActions::Flush, &silent).map_err(|_| no_terminal())?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}
