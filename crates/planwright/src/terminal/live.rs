//! What is drawn anew on a terminal while something lasts.

use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};

use super::screen;
use crate::failure::Failure;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What takes away the line that is drawn anew.
const ERASE: &str = "\r\u{1b}[J";

pub(crate) const fn spinner(ticks: usize) -> &'static str {
    SPINNER[ticks % SPINNER.len()]
}

/// The last column stays free: some terminals go on to the next row after it.
pub(crate) fn width() -> usize {
    screen::width().min(screen::window().0).saturating_sub(1)
}

/// Colours are left out where they are not wanted; moving the cursor is not a colour.
pub(crate) fn put(movement: &str, text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    if AutoStream::choice(&stdout) == ColorChoice::Never {
        write!(stdout, "{movement}{}", anstream::adapter::strip_str(text))?;
    } else {
        write!(stdout, "{movement}{text}")?;
    }
    Ok(stdout.flush()?)
}

/// One line below everything that stays.
#[derive(Debug, Default)]
pub(crate) struct LiveLine {
    drawn: bool,
}

impl LiveLine {
    /// Whole lines that stay.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        put(self.erased(), text)
    }

    /// The line itself, which must not be wider than [`width`].
    pub(crate) fn draw(&mut self, line: &str) -> Result<(), Failure> {
        put(self.erased(), line)?;
        self.drawn = !line.is_empty();
        Ok(())
    }

    fn erased(&mut self) -> &'static str {
        if std::mem::take(&mut self.drawn) { ERASE } else { "" }
    }
}
