//! While the agent works, keys that are pressed would be written into what it says. They are kept for the next prompt
//! instead; Ctrl+C still arrives.

#[cfg(unix)]
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// How the terminal was found. It is put back when this is dropped, whatever happens.
#[derive(Debug)]
pub(super) struct Quiet {
    #[cfg(unix)]
    found: Option<Termios>,
}

impl Quiet {
    /// The terminal as it is now.
    #[cfg(unix)]
    pub(super) fn remember() -> Self {
        Self { found: tcgetattr(rustix::stdio::stdin()).ok() }
    }

    /// No echo until this is dropped.
    #[cfg(unix)]
    pub(super) fn begin() -> Self {
        let quiet = Self::remember();
        if let Some(found) = &quiet.found {
            let mut silent = found.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            // A terminal that refuses shows the keys; nothing worse.
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &silent);
        }
        quiet
    }

    #[cfg(not(unix))]
    pub(super) fn remember() -> Self {
        Self {}
    }

    #[cfg(not(unix))]
    pub(super) fn begin() -> Self {
        Self {}
    }
}

#[cfg(unix)]
impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(found) = &self.found {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, found);
        }
    }
}
