//! Errors: as text for people, as JSON for programs, and as an exit code for the shell.

use std::io::{self, Write as _};
use std::process::ExitCode;

use planwright_core::refusal::{Problem, Refusal, RefusalCode};
use planwright_engine::ledger::LedgerError;
use serde_json::{Value, json};

use crate::terminal::palette;
use crate::terminal::text::paint;

/// The exit codes. They are documented in `--help` and scripts rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Unexpected = 1,
    Usage = 2,
    Refused = 3,
    NotFound = 4,
    Stale = 5,
    Unavailable = 6,
    Damaged = 7,
}

impl Exit {
    fn of(code: RefusalCode) -> Self {
        match code {
            RefusalCode::Internal => Self::Unexpected,
            RefusalCode::InvalidArgument | RefusalCode::LimitExceeded | RefusalCode::UnknownAgent => Self::Usage,
            RefusalCode::WrongStatus | RefusalCode::PolicyDenied | RefusalCode::Unauthenticated => Self::Refused,
            RefusalCode::NotFound => Self::NotFound,
            RefusalCode::StaleApproval | RefusalCode::Conflict => Self::Stale,
            RefusalCode::Unavailable => Self::Unavailable,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    refusal: Refusal,
    /// What the person can do next.
    hint: Option<String>,
    /// Further fields of the JSON, beside `code` and `message`.
    more: Vec<(String, Value)>,
}

pub(crate) type ExitResult = Result<Exit, Failure>;

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Refusal::invalid(message).into()
    }

    pub(crate) fn unexpected(message: impl Into<String>) -> Self {
        Refusal::new(RefusalCode::Internal, message).into()
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Refusal::new(RefusalCode::Unavailable, message).into()
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Refusal::not_found(message).into()
    }

    /// Stored data is not as it was written.
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self { exit: Exit::Damaged, ..Self::unexpected(message) }
    }

    /// A person was asked and did not agree.
    pub(crate) fn declined(message: impl Into<String>) -> Self {
        Refusal::policy_denied(message).into()
    }

    pub(crate) fn message(&self) -> &str {
        &self.refusal.message
    }

    pub(crate) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn code(&self) -> RefusalCode {
        self.refusal.code
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint to failures with this code that have none.
    pub(crate) fn hint_on(mut self, code: RefusalCode, hint: impl FnOnce() -> String) -> Self {
        if self.refusal.code == code && self.hint.is_none() {
            self.hint = Some(hint());
        }
        self
    }

    /// Adds a hint to damage that has none.
    pub(crate) fn hint_on_damage(mut self, hint: impl FnOnce() -> String) -> Self {
        if self.exit == Exit::Damaged && self.hint.is_none() {
            self.hint = Some(hint());
        }
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn report(self, json: bool) -> ExitCode {
        // If stderr cannot be written, there is no other place to report to.
        let _ = if json { self.write_json() } else { self.write_text() };
        self.exit.into()
    }

    fn write_json(&self) -> io::Result<()> {
        if self.is_silent() {
            return Ok(());
        }
        let mut object = json!(self.refusal);
        if let Some(object) = object.as_object_mut() {
            object.extend(self.more.clone());
        }
        writeln!(io::stderr(), "{}", crate::terminal::json::line(&object).unwrap_or_default())
    }

    fn write_text(&self) -> io::Result<()> {
        write!(anstream::stderr().lock(), "{}", self.render())
    }

    /// The reader of the output has closed it, which is not an error.
    fn is_silent(&self) -> bool {
        self.refusal.message.is_empty()
    }

    /// `error: …`, every problem, and the hint.
    pub(crate) fn render(&self) -> String {
        let Refusal { message, problems, .. } = &self.refusal;
        if self.is_silent() {
            return String::new();
        }
        let mut text = format!("{} {}\n", paint("error:", palette::ERROR), plain(message));
        for Problem { path, message } in problems {
            text.push_str(&format!("  {} {}\n", plain(path), plain(message)));
        }
        if let Some(hint) = &self.hint {
            text.push_str(&format!("{} {}\n", paint("hint:", palette::DIM), plain(hint)));
        }
        text
    }
}

/// Messages may quote foreign text.
fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    planwright_core::visible::visible(text)
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self { exit: Exit::of(refusal.code), refusal, hint: None, more: Vec::new() }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        let (exit, hint) = match &error {
            LedgerError::Refused(refusal) => (Exit::of(refusal.code), None),
            LedgerError::Leased(_) | LedgerError::Fenced(_) => {
                (Exit::Unavailable, Some("nothing was changed; try again when the other process is done"))
            }
            LedgerError::Unavailable(_) => {
                (Exit::Unavailable, Some("nothing was changed; `--data` and `--database` say which store is used"))
            }
            LedgerError::TooNew { .. } => (Exit::Unavailable, Some("nothing was changed; install the newer version")),
            // The hint depends on the command that found the damage; see `hint_on_damage`.
            LedgerError::Damaged { what, reason } => {
                return Self::damaged(format!("{what} is damaged and was left as it is: {reason}"));
            }
            LedgerError::Internal(_) => (Exit::Unexpected, Some("`-v` shows more of what happened")),
        };
        Self { exit, hint: hint.map(str::to_owned), ..Self::from(error.into_refusal()) }
    }
}

/// stdin or stdout failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Done, ..Self::unexpected("") };
        }
        Self::unexpected(format!("the output could not be written: {error}"))
    }
}

/// Reports wrong arguments, as JSON if `--json` is among them. Help and version are reported here, too.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
    if json && error.use_stderr() {
        let text = error.to_string();
        return Failure::usage(first_paragraph(&text)).report(true);
    }
    let _ = error.print();
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}

/// The first paragraph of clap's message, on one line.
fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
}
