//! The last line of a terminal, which is redrawn while something runs.

use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};

use super::screen;
use crate::failure::Failure;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Erases the redrawn line.
const ERASE: &str = "\r\u{1b}[J";

pub(crate) const fn spinner(ticks: usize) -> &'static str {
    SPINNER[ticks % SPINNER.len()]
}

/// The last column stays free, because some terminals move to the next row after it.
pub(crate) fn width() -> usize {
    screen::width().min(screen::window().0).saturating_sub(1)
}

/// Strips colours where they are not wanted. Cursor movements are kept.
pub(crate) fn put(movement: &str, text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    if AutoStream::choice(&stdout) == ColorChoice::Never {
        write!(stdout, "{movement}{}", anstream::adapter::strip_str(text))?;
    } else {
        write!(stdout, "{movement}{text}")?;
    }
    Ok(stdout.flush()?)
}

/// The redrawn line, below the lines that stay.
#[derive(Debug, Default)]
pub(crate) struct LiveLine {
    drawn: bool,
}

impl LiveLine {
    /// Writes whole lines that stay.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        put(self.erased(), text)
    }

    /// Draws the line itself, which must not be wider than [`width`].
    pub(crate) fn draw(&mut self, line: &str) -> Result<(), Failure> {
        put(self.erased(), line)?;
        self.drawn = !line.is_empty();
        Ok(())
    }

    fn erased(&mut self) -> &'static str {
        if std::mem::take(&mut self.drawn) { ERASE } else { "" }
    }
}
