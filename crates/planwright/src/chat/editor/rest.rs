//! What was typed at once after a line. The editor reads whatever is there and keeps it for the next line, which would
//! then look as if the person had typed it after they had seen the answer. So it is taken out of the editor at once: the
//! editor reads lines, unseen, until there is nothing left to read.

use std::collections::VecDeque;
use std::io;

use rustyline::Editor;
use rustyline::history::FileHistory;

use super::{Commands, CurrentLine};

#[derive(Debug, Default)]
pub(in crate::chat) struct Rest {
    pub(in crate::chat) lines: VecDeque<String>,
    /// What follows the last line.
    pub(in crate::chat) unfinished: String,
}

/// On these the editor reads whole lines, one at a time, and nothing stays with it.
const WITHOUT_KEYS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// Whether the editor reads keys, or whole lines.
pub(super) fn reads_keys() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    !WITHOUT_KEYS.iter().any(|without| without.eq_ignore_ascii_case(&term))
}

#[cfg(unix)]
pub(super) fn take(editor: &mut Editor<Commands, FileHistory>, line: &CurrentLine) -> io::Result<Rest> {
    use rustyline::error::ReadlineError;
    let mut rest = Rest::default();
    if !reads_keys() {
        return Ok(rest);
    }
    // The queue shows it.
    let hidden = HiddenOutput::begin()?;
    set_waits(editor, false);
    line.take();
    loop {
        match editor.readline("") {
            Ok(whole) => rest.lines.push_back(whole),
            // Ctrl+C empties the line.
            Err(ReadlineError::Interrupted) => {}
            Err(_) => break,
        }
        line.take();
    }
    rest.unfinished = line.take();
    set_waits(editor, true);
    drop(hidden);
    Ok(rest)
}

#[cfg(not(unix))]
pub(super) fn take(_: &mut Editor<Commands, FileHistory>, _: &CurrentLine) -> io::Result<Rest> {
    Ok(Rest::default())
}

/// The editor is told that the input ends where nothing is left to read.
pub(super) fn stop_waiting() {
    #[cfg(unix)]
    crate::chat::keyboard::stop_waiting_for_keys();
}

#[cfg(unix)]
fn set_waits(editor: &mut Editor<Commands, FileHistory>, waits: bool) {
    if let Some(helper) = editor.helper_mut() {
        helper.waits = waits;
    }
}

/// What is written to stdout is not shown until this is dropped.
#[cfg(unix)]
struct HiddenOutput {
    stdout: std::os::fd::OwnedFd,
}

#[cfg(unix)]
impl HiddenOutput {
    fn begin() -> io::Result<Self> {
        use std::io::Write as _;
        io::stdout().flush()?;
        let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
        let stdout = rustix::io::dup(rustix::stdio::stdout())?;
        rustix::stdio::dup2_stdout(&nowhere)?;
        Ok(Self { stdout })
    }
}

#[cfg(unix)]
impl Drop for HiddenOutput {
    fn drop(&mut self) {
        let _ = rustix::stdio::dup2_stdout(&self.stdout);
    }
}
