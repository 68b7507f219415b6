//! State as it is stored: JSON text, which keeps every character there is and can be read without this program.

use planwright_core::journal::{Entry, EntryHash, Head};
use planwright_core::plan::Plan;
use planwright_core::session::Session;
use planwright_engine::ledger::{LedgerError, LedgerResult};

pub(crate) fn plan_to_text(plan: &Plan) -> LedgerResult<String> {
    serde_json::to_string(plan).map_err(|error| LedgerError::Internal(format!("plan {} cannot be written: {error}", plan.id)))
}

pub(crate) fn plan_from_text(what: impl FnOnce() -> String, text: &str) -> LedgerResult<Plan> {
    serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(), error))
}

pub(crate) fn session_to_text(session: &Session) -> LedgerResult<String> {
    serde_json::to_string(session)
        .map_err(|error| LedgerError::Internal(format!("session {} cannot be written: {error}", session.identity)))
}

pub(crate) fn session_from_text(what: impl FnOnce() -> String, text: &str) -> LedgerResult<Session> {
    serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(), error))
}

pub(crate) fn entry_from_text(what: impl FnOnce() -> String, text: &str) -> LedgerResult<Entry> {
    serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(), error))
}

/// The end of a chain as its row says it.
pub(crate) fn head(what: impl FnOnce() -> String, seq: i64, hash: &[u8]) -> LedgerResult<Head> {
    match (u64::try_from(seq), <[u8; 32]>::try_from(hash)) {
        (Ok(seq), Ok(hash)) => Ok(Head { seq, hash: EntryHash(hash) }),
        _ => Err(LedgerError::damaged(what(), "the end of its journal is not recorded properly")),
    }
}
