//! How far a long command has come, for a person who waits at a terminal.

use std::io::{IsTerminal as _, Write as _};

use crate::terminal::screen::Screen;

#[derive(Debug)]
pub(crate) struct Counting {
    watched: bool,
}

impl Counting {
    pub(crate) fn new(screen: &Screen) -> Self {
        Self { watched: !screen.json && std::io::stderr().is_terminal() }
    }

    /// In the place of what was shown before.
    pub(crate) fn show(&mut self, words: &str) {
        if self.watched {
            eprint!("\r{words}");
            let _ = std::io::stderr().flush();
        }
    }

    pub(crate) fn clear(self) {
        if self.watched {
            eprint!("\r\u{1b}[K");
        }
    }
}
