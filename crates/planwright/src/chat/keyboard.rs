//! The keys that are pressed while the agent works. They are not shown where they are pressed, since that would be in the
//! middle of what the agent says. They are read here, for the queue below it. Ctrl+C still arrives as a signal.

mod decoder;

#[cfg(unix)]
use std::io::{IsTerminal as _, Write as _};

#[cfg(unix)]
use rustix::io::{Errno, ioctl_fionread, read};
#[cfg(unix)]
use rustix::stdio::stdin;
#[cfg(unix)]
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

use super::typeahead::Key;
use decoder::Decoder;

/// Pasted text is told apart from typed text.
#[cfg(unix)]
const PASTE_APART: &str = "\u{1b}[?2004h";
pub(super) const PASTE_AS_TYPED: &str = "\u{1b}[?2004l";

/// The terminal as it was found. It is put back when this is dropped, whatever happens.
#[derive(Debug)]
pub(super) struct FoundTerminal {
    #[cfg(unix)]
    modes: Option<Termios>,
}

impl FoundTerminal {
    #[cfg(unix)]
    pub(super) fn remember() -> Self {
        Self { modes: tcgetattr(stdin()).ok() }
    }

    #[cfg(not(unix))]
    pub(super) fn remember() -> Self {
        Self {}
    }
}

#[cfg(unix)]
impl Drop for FoundTerminal {
    fn drop(&mut self) {
        if let Some(modes) = &self.modes {
            let _ = tcsetattr(stdin(), OptionalActions::Now, modes);
        }
    }
}

/// Reads keys one by one until it is dropped.
#[derive(Debug)]
pub(super) struct Keyboard {
    _found: FoundTerminal,
    decoder: Decoder,
    /// Whether the terminal was told to mark what is pasted.
    #[cfg(unix)]
    marks_paste: bool,
}

#[cfg(unix)]
impl Keyboard {
    pub(super) fn listen() -> Self {
        let found = FoundTerminal::remember();
        listen_for_keys();
        let marks_paste = std::io::stdout().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
        if marks_paste {
            put(PASTE_APART);
        }
        Self { _found: found, decoder: Decoder::default(), marks_paste }
    }

    /// The keys that were pressed since. It does not wait for any.
    pub(super) fn pressed(&mut self) -> Vec<Key> {
        // Who suspends the program and lets it continue finds the terminal as the shell left it.
        listen_for_keys();
        let mut keys = Vec::new();
        let mut bytes = [0; 1024];
        while ioctl_fionread(stdin()).is_ok_and(|waiting| waiting > 0) {
            match read(stdin(), &mut bytes) {
                Ok(0) => break,
                Ok(count) => keys.extend(self.decoder.decode(&bytes[..count])),
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        keys
    }
}

#[cfg(unix)]
impl Drop for Keyboard {
    fn drop(&mut self) {
        if self.marks_paste {
            put(PASTE_AS_TYPED);
        }
    }
}

#[cfg(not(unix))]
impl Keyboard {
    pub(super) fn listen() -> Self {
        Self { _found: FoundTerminal::remember(), decoder: Decoder::default() }
    }

    pub(super) fn pressed(&mut self) -> Vec<Key> {
        self.decoder.decode(&[])
    }
}

/// No echo, no lines, and nothing is lost when a signal comes. A terminal that refuses shows the keys; nothing worse.
#[cfg(unix)]
fn listen_for_keys() {
    let Ok(mut modes) = tcgetattr(stdin()) else { return };
    let listening = LocalModes::NOFLSH | LocalModes::ISIG;
    let cooked = LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
    if modes.local_modes.contains(listening) && !modes.local_modes.intersects(cooked) {
        return;
    }
    modes.local_modes.remove(cooked);
    modes.local_modes.insert(listening);
    read_what_is_there(&mut modes);
    let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
}

/// Reading gives what was pressed so far, and nothing if nothing was.
#[cfg(unix)]
fn read_what_is_there(modes: &mut Termios) {
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
}

/// Makes the program that reads the terminal now stop waiting for keys, until its modes are set anew.
#[cfg(unix)]
pub(super) fn stop_waiting_for_keys() {
    if let Ok(mut modes) = tcgetattr(stdin()) {
        read_what_is_there(&mut modes);
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
}

#[cfg(unix)]
fn put(sequence: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(sequence.as_bytes()).and_then(|()| stdout.flush());
}
