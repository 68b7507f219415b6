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

/// A session's row.
#[derive(Debug)]
pub(super) struct SessionRow {
    pub(super) id: i64,
    pub(super) session: Session,
    pub(super) head: Head,
    pub(super) last_active: i64,
}

pub(super) const SESSION_COLUMNS: &str = "id, head_seq, head_hash, state, last_active, channel, conversation";

pub(super) type RawSession = (i64, i64, Vec<u8>, String, i64, String, String);

pub(super) fn raw_session(row: &rusqlite::Row<'_>) -> rusqlite::Result<RawSession> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
}

pub(super) fn read_session(raw: RawSession) -> LedgerResult<SessionRow> {
    let (id, seq, hash, state, last_active, channel, conversation) = raw;
    let what = || format!("session {channel}:{conversation}");
    let head = encode::head(what, seq, &hash)?;
    Ok(SessionRow { id, session: encode::session_from_text(what, &state)?, head, last_active })
}

pub(super) fn find_session(connection: &Connection, session: &SessionIdentity) -> Result<Option<SessionRow>, Fault> {
    let sql = "SELECT id, head_seq, head_hash, state, last_active, channel, conversation FROM session
               WHERE conversation = ?1 AND channel = ?2";
    let mut statement = connection.prepare_cached(sql)?;
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
