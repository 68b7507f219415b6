//! State as it is stored: JSON text, which keeps every character there is and can be read without this program.

use jiff::Timestamp;
use planwright_core::journal::{Entry, EntryHash, Head};
use planwright_core::plan::Plan;
use planwright_core::session::Session;
use planwright_engine::ledger::{DamagedRow, LedgerError, LedgerResult, Page};

pub(crate) fn plan_to_text(plan: &Plan) -> LedgerResult<String> {
    serde_json::to_string(plan)
        .map_err(|error| LedgerError::Internal(format!("plan {} cannot be written: {error}", plan.id)))
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

pub(crate) fn timestamp(what: impl FnOnce() -> String, micros: i64) -> LedgerResult<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|error| LedgerError::damaged(what(), error))
}

/// Puts a row on the page, or its damage beside it.
pub(crate) fn note<T>(page: &mut Page<T>, read: LedgerResult<T>) -> LedgerResult<()> {
    match set_damage_aside(read)? {
        Ok(item) => page.items.push(item),
        Err(damaged) => page.damaged.push(damaged),
    }
    Ok(())
}

/// Tells a damaged row, which costs nothing but itself, from every other error.
pub(crate) fn set_damage_aside<T>(read: LedgerResult<T>) -> LedgerResult<Result<T, DamagedRow>> {
    match read {
        Ok(item) => Ok(Ok(item)),
        Err(LedgerError::Damaged { what, reason }) => Ok(Err(DamagedRow { what, reason })),
        Err(error) => Err(error),
    }
}
