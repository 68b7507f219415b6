//! The person's terminal, or whatever stands in its place: what is written once, and what is asked.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anstream::ColorChoice;
use serde::Serialize;

use crate::cli::ColorWhen;
use crate::failure::Failure;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    /// How many columns text may take.
    pub(crate) width: usize,
    pub(crate) json: bool,
    /// Somebody is there to be asked.
    pub(crate) interactive: bool,
}

/// Lines longer than this are hard to read, however wide the window is.
const WIDEST: usize = 110;
const USUAL: usize = 80;
const NARROWEST: usize = 30;
const USUAL_ROWS: usize = 24;

/// `NO_COLOR`, `CLICOLOR` and a dumb terminal are looked at where the choice is left open.
pub(crate) fn choose_colors(when: ColorWhen) {
    match when {
        ColorWhen::Auto => ColorChoice::Auto,
        ColorWhen::Always => ColorChoice::AlwaysAnsi,
        ColorWhen::Never => ColorChoice::Never,
    }
    .write_global();
}

/// The columns and rows of the window, as it is now.
pub(crate) fn window() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    size.map_or((USUAL, USUAL_ROWS), |(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// How many columns text may take, in the window as it is now.
pub(crate) fn width() -> usize {
    window().0.clamp(NARROWEST, WIDEST)
}

impl Screen {
    pub(crate) fn new(json: bool) -> Self {
        Self { width: width(), json, interactive: !json && io::stdin().is_terminal() && io::stdout().is_terminal() }
    }

    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }

    /// For programs. JSON text escapes control characters by itself.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::unexpected(format!("the answer cannot be written as JSON: {error}")))?;
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{text}")?;
        Ok(stdout.flush()?)
    }

    /// One object on a line of its own, for programs that read while more is to come.
    pub(crate) fn print_json_line(&self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value)
            .map_err(|error| Failure::unexpected(format!("the answer cannot be written as JSON: {error}")))?;
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{text}")?;
        Ok(stdout.flush()?)
    }

    /// `value` for programs, `text` for people.
    pub(crate) fn answer(
        &self,
        value: impl FnOnce() -> serde_json::Value,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.json { self.print_json(&value()) } else { self.print(&text()) }
    }

    /// One line from the person; `None` if there is no more input.
    pub(crate) fn ask(&self, question: &str) -> Result<Option<String>, Failure> {
        self.print(question)?;
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) => {
                self.print("\n")?;
                Ok(None)
            }
            Ok(_) => Ok(Some(line.trim().to_owned())),
            Err(error) => Err(Failure::usage(format!("the answer cannot be read: {error}"))),
        }
    }

    /// Anything but a clear yes is a no.
    pub(crate) fn confirm(&self, question: &str) -> Result<bool, Failure> {
        let answer = self.ask(&format!("{question} [y/N] "))?.unwrap_or_default();
        Ok(["y", "yes"].contains(&answer.to_lowercase().as_str()))
    }
}
