//! stdout and stdin of a command: what it prints, and the questions it asks a person.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anstream::ColorChoice;
use serde::Serialize;

use super::json;
use crate::cli::ColorWhen;
use crate::failure::{Exit, ExitResult, Failure};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    /// How many columns text may take.
    pub(crate) width: usize,
    pub(crate) json: bool,
    /// A person can be asked: stdin and stdout are a terminal.
    pub(crate) interactive: bool,
}

/// Longer lines are hard to read, also in a wider window.
const WIDEST: usize = 110;
const DEFAULT: usize = 80;
const NARROWEST: usize = 30;
const DEFAULT_ROWS: usize = 24;

/// `Auto` respects `NO_COLOR`, `CLICOLOR` and `TERM=dumb`.
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
    size.map_or((DEFAULT, DEFAULT_ROWS), |(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// How many columns text may take, in the window as it is now.
pub(crate) fn width() -> usize {
    window().0.clamp(NARROWEST, WIDEST)
}

/// Forgets what was typed so far and not read. A pipe has nothing that was typed.
fn discard_typed() {
    #[cfg(unix)]
    if io::stdin().is_terminal() {
        let _ = rustix::termios::tcflush(rustix::stdio::stdin(), rustix::termios::QueueSelector::IFlush);
    }
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

    /// For programs.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<(), Failure> {
        self.print_line(&json::pretty(value)?)
    }

    /// One object on a line of its own, for programs that read the output as it comes.
    pub(crate) fn print_json_line(&self, value: &impl Serialize) -> Result<(), Failure> {
        self.print_line(&json::line(value)?)
    }

    /// Without colors.
    fn print_line(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{text}")?;
        Ok(stdout.flush()?)
    }

    /// Prints `value` for programs or `text` for people.
    pub(crate) fn answer(
        &self,
        value: impl FnOnce() -> serde_json::Value,
        text: impl FnOnce() -> String,
    ) -> ExitResult {
        if self.json {
            self.print_json(&value())?
        } else {
            self.print(&text())?
        }
        Ok(Exit::Done)
    }

    /// Asks a question and reads a line; `None` at the end of the input. What was typed before the question is no answer.
    pub(crate) fn ask(&self, question: &str) -> Result<Option<String>, Failure> {
        discard_typed();
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

    /// Asks for a number from 1 to `most` until it is one. `None` for an empty line and at the end of the input.
    pub(crate) fn number(&self, question: &str, most: usize) -> Result<Option<usize>, Failure> {
        loop {
            let answer = self.ask(question)?.unwrap_or_default();
            match answer.parse::<usize>() {
                _ if answer.is_empty() => return Ok(None),
                Ok(number) if (1..=most).contains(&number) => return Ok(Some(number)),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Asks a question until it is answered with yes or no; Enter alone is a yes. `None` at the end of the input.
    pub(crate) fn yes_or_no(&self, question: &str) -> Result<Option<bool>, Failure> {
        loop {
            let Some(answer) = self.ask(&format!("{question} [Y/n] "))? else { return Ok(None) };
            match answer.to_lowercase().as_str() {
                "" | "y" | "yes" => return Ok(Some(true)),
                "n" | "no" => return Ok(Some(false)),
                _ => {}
            }
        }
    }

    /// Asks a question; only `y` and `yes` count as yes.
    pub(crate) fn confirm(&self, question: &str) -> Result<bool, Failure> {
        let answer = self.ask(&format!("{question} [y/N] "))?.unwrap_or_default();
        Ok(["y", "yes"].contains(&answer.to_lowercase().as_str()))
    }
}
