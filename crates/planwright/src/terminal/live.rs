//! The last lines of a terminal, which are redrawn while something runs.

use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};

use super::markdown::Headings;
use super::screen;
use crate::failure::Failure;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What takes away so many rows that were drawn last.
pub(crate) fn erase(rows: usize) -> String {
    match rows {
        0 => String::new(),
        1 => "\r\u{1b}[J".to_owned(),
        rows => format!("\r\u{1b}[{}A\u{1b}[J", rows - 1),
    }
}

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

/// The text as [`put`] writes it where colours are not wanted. For text with movements in it that are kept.
pub(crate) fn without_unwanted_colors(text: &str) -> String {
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => text.to_owned(),
    }
}

/// Headings have a style where styles are seen.
pub(crate) fn headings() -> Headings {
    match AutoStream::choice(&io::stdout()) {
        ColorChoice::Never => Headings::Marked,
        ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => Headings::Styled,
    }
}

/// The redrawn lines, below the lines that stay.
#[derive(Debug, Default)]
pub(crate) struct LiveLine {
    /// How many rows are drawn.
    drawn: usize,
}

impl LiveLine {
    /// Writes whole lines that stay.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        put(&self.erased(), text)
    }

    /// Draws the lines, none of which may be wider than [`width`]. Together they are lower than the window.
    pub(crate) fn draw(&mut self, lines: &[String]) -> Result<(), Failure> {
        put(&self.erased(), &lines.join("\n"))?;
        self.drawn = lines.len();
        Ok(())
    }

    fn erased(&mut self) -> String {
        erase(std::mem::take(&mut self.drawn))
    }
}
