//! Single rows, read the same way by the writer and the readers.

use planwright_core::desk::Desk;
use planwright_core::ids::PlanId;
use planwright_core::journal::Head;
use planwright_core::plan::Plan;
use planwright_core::session::{Session, SessionIdentity};
use planwright_engine::ledger::{LedgerError, LedgerResult};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::Fault;
use crate::encode;

/// A session's row, and the end of its journal.
#[derive(Debug)]
pub(super) struct SessionRow {
    pub(super) id: i64,
    pub(super) session: Session,
    pub(super) head: Head,
    /// The journal's last entry, as it is stored.
    pub(super) last_entry: String,
}

/// Sessions, each with the last entry of its journal.
macro_rules! select_sessions {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.channel || ':' || s.conversation, s.state, j.seq, j.hash, j.body
             FROM session s JOIN journal j ON j.session_id = s.id
                AND j.seq = (SELECT max(seq) FROM journal WHERE session_id = s.id) ",
            $rest
        )
    };
}
pub(super) use select_sessions;

pub(super) struct RawSession {
    id: i64,
    name: String,
    state: String,
    seq: i64,
    hash: Vec<u8>,
    last_entry: String,
}

pub(super) fn raw_session(row: &rusqlite::Row<'_>) -> rusqlite::Result<RawSession> {
    Ok(RawSession {
        id: row.get(0)?,
        name: row.get(1)?,
        state: row.get(2)?,
        seq: row.get(3)?,
        hash: row.get(4)?,
        last_entry: row.get(5)?,
    })
}

pub(super) fn read_session(raw: RawSession) -> LedgerResult<SessionRow> {
    let what = || format!("session {}", raw.name);
    let head = encode::head(what, raw.seq, &raw.hash)?;
    let session = encode::session_from_text(what, &raw.state)?;
    if session.identity.to_string() != raw.name {
        return Err(LedgerError::damaged(what(), format!("its row speaks of session {}", session.identity)));
    }
    Ok(SessionRow { id: raw.id, session, head, last_entry: raw.last_entry })
}

pub(super) fn find_session(connection: &Connection, session: &SessionIdentity) -> Result<Option<SessionRow>, Fault> {
    let mut statement = connection.prepare_cached(select_sessions!("WHERE s.conversation = ?1 AND s.channel = ?2"))?;
    let found = statement
        .query_row(params![session.conversation.as_str(), session.channel.as_str()], raw_session)
        .optional()?;
    Ok(found.map(read_session).transpose()?)
}

/// A plan, if it is there and belongs to this session.
pub(super) fn find_plan(connection: &Connection, session_id: i64, id: &PlanId) -> Result<Option<Plan>, Fault> {
    let mut statement = connection.prepare_cached("SELECT body FROM plan WHERE id = ?1 AND session_id = ?2")?;
    let found: Option<String> = statement.query_row(params![id.as_str(), session_id], |row| row.get(0)).optional()?;
    Ok(found.map(|body| encode::plan_from_text(|| format!("plan {id}"), &body)).transpose()?)
}

/// Lays out the active plan and the one that is named. A damaged active plan is left off unless it is needed.
pub(super) fn lay_out(
    connection: &Connection,
    desk: &mut Desk,
    session_id: i64,
    subject: Option<&PlanId>,
    needs_active: bool,
) -> Result<(), Fault> {
    let active = desk.session.as_ref().and_then(|session| session.plan_mode.active_plan.clone());
    for (id, needed) in active.iter().map(|id| (id, needs_active)).chain(subject.map(|id| (id, true))) {
        if desk.plans.contains_key(id) {
            continue;
        }
        match find_plan(connection, session_id, id) {
            Ok(Some(plan)) => {
                desk.plans.insert(id.clone(), plan.into());
            }
            Ok(None) => {}
            Err(Fault::Ledger(LedgerError::Damaged { .. })) if !needed => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}
