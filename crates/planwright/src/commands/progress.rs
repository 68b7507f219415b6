//! A progress line for a person who waits at a terminal.

use std::io::{IsTerminal as _, Write as _};

use crate::terminal::screen::Screen;

#[derive(Debug)]
pub(crate) struct ProgressLine {
    shown: bool,
}

impl ProgressLine {
    pub(crate) fn new(screen: &Screen) -> Self {
        Self { shown: !screen.json && std::io::stderr().is_terminal() }
    }

    /// Replaces the line.
    pub(crate) fn show(&mut self, text: &str) {
        self.write(&format!("\r{text}"));
    }

    pub(crate) fn clear(self) {
        self.write("\r\u{1b}[K");
    }

    /// A line that cannot be shown does not end the work.
    fn write(&self, text: &str) {
        if self.shown {
            let mut stderr = std::io::stderr();
            let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
        }
    }
}
