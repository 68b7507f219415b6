//! What goes wrong, once in words for people, once as JSON for programs, and as a number for the shell.

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
    /// What to type next.
    hint: Option<String>,
    /// What else programs are told, beside `code` and `message`.
    more: Vec<(String, Value)>,
}

pub(crate) type Outcome = Result<Exit, Failure>;

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

    /// Something is not as it was written.
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self { exit: Exit::Damaged, ..Self::unexpected(message) }
    }

    /// A person was asked and did not say yes.
    pub(crate) fn declined(message: impl Into<String>) -> Self {
        Refusal::policy_denied(message).into()
    }

    pub(crate) fn message(&self) -> &str {
        &self.refusal.message
    }

    pub(crate) fn what_to_type(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn code(&self) -> RefusalCode {
        self.refusal.code
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A hint for failures of one kind; one that is there already is kept.
    pub(crate) fn hint_on(mut self, code: RefusalCode, hint: impl FnOnce() -> String) -> Self {
        if self.refusal.code == code && self.hint.is_none() {
            self.hint = Some(hint());
        }
        self
    }

    /// A hint for damage of any kind; one that is there already is kept.
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
        // Nobody is left to read what could not be written here.
        let _ = if json { self.write_json() } else { self.write_words() };
        self.exit.into()
    }

    fn write_json(&self) -> io::Result<()> {
        if self.is_nothing_to_talk_about() {
            return Ok(());
        }
        let mut object = json!(self.refusal);
        if let Some(object) = object.as_object_mut() {
            object.extend(self.more.clone());
        }
        writeln!(io::stderr(), "{object}")
    }

    fn write_words(&self) -> io::Result<()> {
        write!(anstream::stderr().lock(), "{}", self.words())
    }

    /// Whoever reads the output has stopped; that is no error.
    fn is_nothing_to_talk_about(&self) -> bool {
        self.refusal.message.is_empty()
    }

    /// `error: …`, every single problem, and what to type next.
    pub(crate) fn words(&self) -> String {
        let Refusal { message, problems, .. } = &self.refusal;
        if self.is_nothing_to_talk_about() {
            return String::new();
        }
        let mut words = format!("{} {}\n", paint("error:", palette::ERROR), plain(message));
        for Problem { path, message } in problems {
            words.push_str(&format!("  {} {}\n", plain(path), plain(message)));
        }
        if let Some(hint) = &self.hint {
            words.push_str(&format!("{} {}\n", paint("hint:", palette::DIM), plain(hint)));
        }
        words
    }
}

/// Messages quote what others wrote.
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
                (Exit::Unavailable, Some("nothing was changed; try again when they are done"))
            }
            LedgerError::Unavailable(_) => {
                (Exit::Unavailable, Some("nothing was changed; `--data` and `--database` say which store is used"))
            }
            LedgerError::TooNew { .. } => (Exit::Unavailable, Some("nothing was changed; install the newer version")),
            // Which command tells more depends on the one that found the damage; see `hint_on_damage`.
            LedgerError::Damaged { what, reason } => {
                return Self::damaged(format!("{what} is damaged and was left as it is: {reason}"));
            }
            LedgerError::Internal(_) => (Exit::Unexpected, Some("`-v` shows more of what happened")),
        };
        Self { exit, hint: hint.map(str::to_owned), ..Self::from(error.into_refusal()) }
    }
}

/// What could not be read from or written to the terminal.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Done, ..Self::unexpected("") };
        }
        Self::unexpected(format!("the output could not be written: {error}"))
    }
}

/// Wrong arguments, in the form the rest of the arguments asks for. Help and version come this way too.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json");
    if json && error.use_stderr() {
        let text = error.to_string();
        return Failure::usage(first_paragraph(&text)).report(true);
    }
    let _ = error.print();
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}

/// What is wrong, with the values or arguments that would be right, on one line.
fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
}
