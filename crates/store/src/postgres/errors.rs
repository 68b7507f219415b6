//! Errors of the database: whether trying again helps, and messages that say what to do.

use std::error::Error as _;
use std::fmt::Write as _;

use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::LedgerError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::encode;

/// Why a piece of work failed.
#[derive(Debug)]
pub(super) enum DatabaseError {
    Database(Error),
    /// The answer did not come in time; it may have been done all the same.
    TimedOut,
    /// Another server takes the writes now. What this one was asked for may have been done all the same.
    Moved,
    /// No connection could be made; the message says why.
    Unreachable(String),
    /// A session was deleted while others were about to write to it.
    Overtaken,
    /// Another transaction holds the session.
    SessionBusy,
    /// The database did what it was asked; the outcome is an error.
    Ledger(LedgerError),
}

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryPolicy {
    /// Others were in the way; at once again.
    Again,
    /// The connection is of no use any more. Whether the work was done is not known.
    Reconnect,
    /// Another transaction holds a row that is needed; again, later and apart from other work.
    Busy,
    /// The store takes no writes now.
    Wait,
    /// This piece of work failed, not the database.
    None,
}

impl From<Error> for DatabaseError {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<LedgerError> for DatabaseError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl DatabaseError {
    pub(super) fn retry_policy(&self) -> RetryPolicy {
        match self {
            Self::Database(error) => retry_policy(error),
            Self::TimedOut | Self::Moved | Self::Unreachable(_) => RetryPolicy::Reconnect,
            Self::Overtaken => RetryPolicy::Again,
            Self::SessionBusy => RetryPolicy::Busy,
            Self::Ledger(LedgerError::TooNew { .. }) => RetryPolicy::Wait,
            Self::Ledger(_) => RetryPolicy::None,
        }
    }

    /// The error for a caller that writes to `session`. A journal or a numbering that continues past what the
    /// session's row says has been tampered with; an id that is taken is simply taken.
    pub(super) fn to_error_in(&self, session: &SessionIdentity) -> LedgerError {
        let constraint = match self {
            Self::Database(error) => error.as_db_error().and_then(|error| error.constraint()),
            Self::TimedOut
            | Self::Moved
            | Self::Unreachable(_)
            | Self::Overtaken
            | Self::SessionBusy
            | Self::Ledger(_) => None,
        };
        let damaged = |reason| LedgerError::damaged(format!("session {session}"), reason);
        match constraint {
            Some("journal_pkey") => damaged("its journal continues past the end that its row names"),
            Some("plan_number") => damaged("it has more plans than its row says"),
            Some("plan_pkey") => Refusal::conflict("A plan with this id is here already.").into(),
            Some("journal_request") => Refusal::conflict("This request was made in another session.").into(),
            Some(_) | None => self.to_error(),
        }
    }

    pub(super) fn to_error(&self) -> LedgerError {
        match self {
            Self::Database(error) => translate(error),
            Self::TimedOut => LedgerError::Unavailable("the database did not answer in time".to_owned()),
            Self::Moved => LedgerError::Unavailable("another server of the database takes the writes now".to_owned()),
            Self::Unreachable(message) => LedgerError::Unavailable(message.clone()),
            Self::Overtaken => {
                LedgerError::Unavailable("the session is being deleted right now; nothing was stored".to_owned())
            }
            Self::SessionBusy => LedgerError::Unavailable(
                "another program holds the session for too long; nothing was stored".to_owned(),
            ),
            Self::Ledger(error) => encode::copy_error(error),
        }
    }
}

fn retry_policy(error: &Error) -> RetryPolicy {
    let Some(code) = error.code() else {
        // What the driver itself cannot encode or decode says nothing about the connection.
        return if error.is_closed() || is_io(error) { RetryPolicy::Reconnect } else { RetryPolicy::None };
    };
    match code.code() {
        "40001" | "40P01" => RetryPolicy::Again,
        "55P03" => RetryPolicy::Busy,
        // The server is going down, coming up, or has ended this connection.
        "57P01" | "57P02" | "57P03" | "57P05" | "25P03" => RetryPolicy::Reconnect,
        code if code.starts_with("08") => RetryPolicy::Reconnect,
        // Out of disk, memory or connections; read-only; damaged.
        code if code.starts_with("53") || code.starts_with("58") || code == "25006" => RetryPolicy::Wait,
        _ => RetryPolicy::None,
    }
}

fn is_io(error: &Error) -> bool {
    error.source().is_some_and(|source| source.is::<std::io::Error>())
}

/// Whether a statement names something that the database does not have, as after an upgrade of the schema.
pub(super) fn is_undefined(error: &DatabaseError) -> bool {
    let undefined = [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN, SqlState::UNDEFINED_FUNCTION];
    matches!(error, DatabaseError::Database(error) if error.code().is_some_and(|code| undefined.contains(code)))
}

pub(super) fn is_undefined_table(error: &Error) -> bool {
    error.code() == Some(&SqlState::UNDEFINED_TABLE)
}

/// Two programs that make the same table at once can both be told that it exists.
pub(super) fn is_already_made(error: &Error) -> bool {
    let made = [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT];
    error.code().is_some_and(|code| made.contains(code))
}

pub(super) fn translate(error: &Error) -> LedgerError {
    let message = describe(error);
    let Some(code) = error.code() else {
        return match retry_policy(error) {
            RetryPolicy::Reconnect => {
                LedgerError::Unavailable(format!("the connection to the database broke: {message}"))
            }
            RetryPolicy::Again | RetryPolicy::Busy | RetryPolicy::Wait | RetryPolicy::None => {
                LedgerError::Internal(message)
            }
        };
    };
    match code.code() {
        "53100" => LedgerError::Unavailable(format!("the database's disk is full; nothing was stored ({message})")),
        "53300" => LedgerError::Unavailable(format!("the database has no connection left for us ({message})")),
        "25006" => LedgerError::Unavailable(format!("the database is read-only; nothing was stored ({message})")),
        "57014" => LedgerError::Unavailable(format!("the database did not answer in time ({message})")),
        "55P03" => LedgerError::Unavailable(format!(
            "another program holds the session for too long; nothing was stored ({message})"
        )),
        "42501" => LedgerError::Unavailable(format!("the database user lacks a permission ({message})")),
        "40001" | "40P01" => LedgerError::Unavailable(format!("too many others write at the same time ({message})")),
        "23505" => LedgerError::Refused(Refusal::conflict("The store already holds something with this id.")),
        _ => match retry_policy(error) {
            RetryPolicy::Reconnect => LedgerError::Unavailable(format!("the database ended the connection: {message}")),
            RetryPolicy::Wait => LedgerError::Unavailable(message),
            RetryPolicy::Again | RetryPolicy::Busy | RetryPolicy::None => LedgerError::Internal(message),
        },
    }
}

/// The whole story in one line; the driver's own words alone are often just "db error".
pub(super) fn describe(error: &Error) -> String {
    if let Some(database) = error.as_db_error() {
        let mut message = format!("{}, code {}", database.message(), database.code().code());
        if let Some(hint) = database.hint() {
            let _ = write!(message, "; {hint}");
        }
        return message;
    }
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(message, ": {cause}");
        source = cause.source();
    }
    message
}
