//! The keys that are pressed while the agent works. They are not shown where they are pressed, since that would be in the
//! middle of what the agent says. They are read here, for the queue below it. Ctrl+C still arrives as a signal.

mod decoder;

#[cfg(unix)]
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::fd::BorrowedFd;
#[cfg(unix)]
use rustix::io::{Errno, ioctl_fionread, read};
#[cfg(unix)]
use rustix::stdio::stdin;
#[cfg(unix)]
use rustix::termios::{InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
#[cfg(unix)]
use tokio::io::Interest;
#[cfg(unix)]
use tokio::io::unix::AsyncFd;

use super::typeahead::Key;
use decoder::Decoder;
pub(super) use decoder::LineFeed;

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

/// An escape after which nothing comes for so long is the key itself.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(40);
/// How often keys are looked for where the system cannot say that there are some.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Reads keys one by one until it is dropped.
#[derive(Debug)]
pub(super) struct Keyboard {
    _found: FoundTerminal,
    decoder: Decoder,
    line_feed: LineFeed,
    /// When a key was read last.
    last: Instant,
    /// Whether the terminal was told to mark what is pasted.
    #[cfg(unix)]
    marks_paste: bool,
    /// Tells that there is something to read. `None` where the system cannot.
    #[cfg(unix)]
    ready: Option<AsyncFd<BorrowedFd<'static>>>,
}

/// What became of waiting for keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyWait {
    /// There may be some.
    Look,
    /// The terminal is gone.
    Gone,
}

#[cfg(unix)]
impl Keyboard {
    pub(super) fn listen(line_feed: LineFeed) -> Self {
        let found = FoundTerminal::remember();
        listen_for_keys(line_feed);
        let marks_paste = std::io::stdout().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
        if marks_paste {
            put(PASTE_APART);
        }
        let ready = if line_feed == LineFeed::NewLine { stdin_readiness() } else { None };
        Self { _found: found, decoder: Decoder::new(line_feed), line_feed, last: Instant::now(), marks_paste, ready }
    }

    /// Waits until there may be keys. Dropping the future loses nothing.
    pub(super) async fn wait(&self) -> KeyWait {
        let undecided = async {
            match self.decoder.is_undecided() {
                true => tokio::time::sleep(ESCAPE_TIMEOUT).await,
                false => std::future::pending().await,
            }
        };
        tokio::select! {
            wait = self.readable() => wait,
            () = undecided => KeyWait::Look,
        }
    }

    async fn readable(&self) -> KeyWait {
        let Some(ready) = &self.ready else {
            tokio::time::sleep(POLL_INTERVAL).await;
            return KeyWait::Look;
        };
        match ready.readable().await {
            Ok(guard) if guard.ready().is_read_closed() => KeyWait::Gone,
            Ok(mut guard) => {
                // What comes from now on is told again.
                guard.clear_ready();
                KeyWait::Look
            }
            Err(_) => KeyWait::Gone,
        }
    }

    /// The terminal was used by another program meanwhile.
    pub(super) fn listen_again(&self) {
        listen_for_keys(self.line_feed);
        if self.marks_paste {
            put(PASTE_APART);
        }
    }

    /// The keys that were pressed since. It does not wait for any.
    pub(super) fn pressed(&mut self) -> Vec<Key> {
        // Who suspends the program and lets it continue finds the terminal as the shell left it.
        listen_for_keys(self.line_feed);
        let mut keys = Vec::new();
        if self.last.elapsed() >= ESCAPE_TIMEOUT {
            keys.extend(self.decoder.settle());
        }
        let mut bytes = [0; 1024];
        while ioctl_fionread(stdin()).is_ok_and(|waiting| waiting > 0) {
            match read(stdin(), &mut bytes) {
                Ok(0) => break,
                Ok(count) => {
                    keys.extend(self.decoder.decode(&bytes[..count]));
                    self.last = Instant::now();
                }
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
    pub(super) fn listen(line_feed: LineFeed) -> Self {
        let decoder = Decoder::new(line_feed);
        Self { _found: FoundTerminal::remember(), decoder, line_feed, last: Instant::now() }
    }

    pub(super) async fn wait(&self) -> KeyWait {
        tokio::time::sleep(POLL_INTERVAL).await;
        KeyWait::Look
    }

    pub(super) fn listen_again(&self) {}

    pub(super) fn pressed(&mut self) -> Vec<Key> {
        self.decoder.decode(&[])
    }
}

/// Tells when there is something to read.
#[cfg(unix)]
#[expect(deprecated, reason = "what replaces it is unsafe; stdin stays open as long as the program runs")]
fn stdin_readiness() -> Option<AsyncFd<BorrowedFd<'static>>> {
    AsyncFd::with_interest(stdin(), Interest::READABLE).ok()
}

/// No echo, no lines, and nothing is lost when a signal comes. A terminal that refuses shows the keys; nothing worse.
#[cfg(unix)]
fn listen_for_keys(line_feed: LineFeed) {
    let Ok(mut modes) = tcgetattr(stdin()) else { return };
    let listening = LocalModes::NOFLSH | LocalModes::ISIG;
    let cooked = LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN;
    let changed = match line_feed {
        LineFeed::Enter => InputModes::empty(),
        // Ctrl+J is told apart from Enter, and Ctrl+S stops nothing.
        LineFeed::NewLine => InputModes::ICRNL | InputModes::IXON,
    };
    let listens = modes.local_modes.contains(listening) && !modes.local_modes.intersects(cooked);
    if listens && !modes.input_modes.intersects(changed) {
        return;
    }
    modes.local_modes.remove(cooked);
    modes.local_modes.insert(listening);
    modes.input_modes.remove(changed);
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
