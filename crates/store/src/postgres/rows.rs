//! Single rows, read the same way by writers and readers. The outer result is the database's, the inner one says
//! whether the row makes sense.

use planwright_core::ids::PlanId;
use planwright_core::journal::{Entry, EntryHash, Head, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::session::{Session, SessionIdentity};
use planwright_engine::ledger::{LedgerError, LedgerResult, PlanSummary, StoredSession};
use serde_json::Value;
use tokio_postgres::{Error, Row};

use crate::encode::{self, PlanRow};
use crate::plan_rows::{ExecutionRow, assemble_plan};

pub(super) type Read<T> = Result<LedgerResult<T>, Error>;

/// What a session is called, whether or not it may be called so.
pub(super) fn name(row: &Row) -> Result<String, Error> {
    Ok(format!("{}:{}", row.try_get::<_, &str>("channel")?, row.try_get::<_, &str>("conversation")?))
}

pub(super) fn identity(row: &Row) -> Read<SessionIdentity> {
    let name = name(row)?;
    Ok(name.parse().map_err(|error| LedgerError::damaged(format!("session {name}"), error)))
}

/// Where a journal really ends; a session without a single entry has none of this.
pub(super) struct JournalEnd {
    seq: Option<i64>,
    hash: Option<Vec<u8>>,
}

impl JournalEnd {
    pub(super) const NOWHERE: Self = Self { seq: None, hash: None };

    pub(super) fn of(row: &Row, seq: &str, hash: &str) -> Result<Self, Error> {
        Ok(Self { seq: row.try_get(seq)?, hash: row.try_get(hash)? })
    }
}

pub(super) fn session(row: &Row, end: &JournalEnd, identity: &SessionIdentity) -> Read<(Session, Head)> {
    let what = || format!("session {identity}");
    let (seq, hash, state): (i64, &[u8], &str) =
        (row.try_get("head_seq")?, row.try_get("head_hash")?, row.try_get("state")?);
    Ok(encode::head(what, seq, hash).and_then(|head| {
        let found = match (end.seq, &end.hash) {
            (Some(seq), Some(hash)) => encode::head(what, seq, hash)?,
            (None, _) | (_, None) => Head::START,
        };
        found.check_end(&head).map_err(|damage| LedgerError::damaged(what(), damage))?;
        let session = encode::session_from_text(what, state)?;
        if session.identity != *identity {
            return Err(LedgerError::damaged(what(), format!("it says that it is session {}", session.identity)));
        }
        Ok((session, head))
    }))
}

pub(super) fn stored_session(row: &Row) -> Read<StoredSession> {
    let identity = match identity(row)? {
        Ok(identity) => identity,
        Err(damaged) => return Ok(Err(damaged)),
    };
    let last_active: i64 = row.try_get("last_active")?;
    let read = session(row, &JournalEnd::of(row, "end_seq", "end_hash")?, &identity)?;
    Ok(read.and_then(|(session, head)| {
        let last_active = encode::timestamp(|| format!("session {identity}"), last_active)?;
        Ok(StoredSession { session, head, last_active })
    }))
}

/// A plan whose rows and content say the same.
pub(super) fn plan(row: &Row, session: &SessionIdentity) -> Read<Plan> {
    let (id, number, body): (&str, i64, &str) = (row.try_get("id")?, row.try_get("number")?, row.try_get("body")?);
    let (status, style, title) = (row.try_get("status")?, row.try_get("style")?, row.try_get("title")?);
    let what = || format!("plan {number} of {session}");
    let execution = execution(row)?;
    let (positions, runs): (Vec<i64>, Vec<&str>) = (row.try_get("positions")?, row.try_get("runs")?);
    Ok(encode::plan_from_text(what, body).and_then(|plan| {
        encode::check_plan_row(what, &plan, &PlanRow { id, session, number, status, style, title })?;
        assemble_plan(what, plan, execution.as_ref(), positions.into_iter().zip(runs))
    }))
}

/// What the row of a plan's execution says, if there is one.
fn execution(row: &Row) -> Result<Option<ExecutionRow>, Error> {
    let (steps, updated_at): (Option<i64>, Option<String>) = (row.try_get("steps")?, row.try_get("changed_at")?);
    let pause: Option<String> = row.try_get("pause")?;
    Ok(steps.zip(updated_at).map(|(steps, updated_at)| ExecutionRow { steps, updated_at, pause }))
}

pub(super) fn plan_summary(row: &Row, session: &SessionIdentity) -> Read<PlanSummary> {
    let (id, number): (&str, i64) = (row.try_get("id")?, row.try_get("number")?);
    let (status, style): (String, String) = (row.try_get("status")?, row.try_get("style")?);
    let (title, updated_at): (String, i64) = (row.try_get("title")?, row.try_get("updated_at")?);
    let execution = execution(row)?;
    let what = || format!("plan {number} of {session}");
    let damaged = |reason: String| LedgerError::damaged(what(), reason);
    let read = || {
        Ok(PlanSummary {
            id: PlanId::new(id).map_err(|refusal| damaged(refusal.message))?,
            number: u32::try_from(number).map_err(|error| damaged(error.to_string()))?,
            status: serde_json::from_value(Value::String(status)).map_err(|error| damaged(error.to_string()))?,
            style: serde_json::from_value(Value::String(style)).map_err(|error| damaged(error.to_string()))?,
            title,
            updated_at: match execution {
                Some(execution) => execution.updated_at(what)?,
                None => encode::timestamp(what, updated_at)?,
            },
        })
    };
    Ok(read())
}

pub(super) fn entry(row: &Row) -> Read<Entry> {
    let (seq, body): (i64, &str) = (row.try_get("seq")?, row.try_get("body")?);
    Ok(encode::entry_from_text(|| format!("journal entry {seq}"), body))
}

/// As it is stored. A hash of the wrong length cannot match, and the check of the chain says so in its own words.
pub(super) fn sealed_entry(row: &Row) -> Result<SealedEntry, Error> {
    let (seq, hash): (i64, &[u8]) = (row.try_get("seq")?, row.try_get("hash")?);
    let hash = EntryHash(hash.try_into().unwrap_or([0; 32]));
    Ok(SealedEntry { seq: seq.unsigned_abs(), body: row.try_get("body")?, hash })
}
