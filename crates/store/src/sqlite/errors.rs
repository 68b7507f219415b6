//! SQLite's errors in words that say what to do.

use std::path::Path;

use planwright_core::refusal::Refusal;
use planwright_engine::ledger::LedgerError;
use rusqlite::ErrorCode;

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

pub(super) fn translate(path: &Path, error: &rusqlite::Error) -> LedgerError {
    let file = path.display();
    let Some(code) = error.sqlite_error_code() else { return LedgerError::Internal(error.to_string()) };
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            LedgerError::Unavailable(format!("{file} is locked by another process"))
        }
        ErrorCode::DiskFull => {
            LedgerError::Unavailable(format!("the disk that holds {file} is full; nothing was stored"))
        }
        ErrorCode::ReadOnly => LedgerError::Unavailable(format!("{file} is read-only; nothing was stored")),
        ErrorCode::PermissionDenied => LedgerError::Unavailable(format!("{file} may not be opened by this user")),
        ErrorCode::CannotOpen => LedgerError::Unavailable(format!("{file} cannot be opened: {error}")),
        ErrorCode::SystemIoFailure => LedgerError::Unavailable(format!("{file} cannot be read or written: {error}")),
        ErrorCode::NotADatabase => LedgerError::damaged(file.to_string(), "it is not a SQLite database"),
        ErrorCode::DatabaseCorrupt => LedgerError::damaged(file.to_string(), error),
        ErrorCode::TooBig => LedgerError::Refused(Refusal::limit("this is more than the store takes in one piece")),
        ErrorCode::ConstraintViolation => LedgerError::Refused(Refusal::conflict(format!(
            "the store already holds something with this id or number ({error})"
        ))),
        _ => LedgerError::Internal(error.to_string()),
    }
}
