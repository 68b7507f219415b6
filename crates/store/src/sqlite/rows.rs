//! Single rows, read the same way by the writer and the readers.

use planwright_core::ids::PlanId;
use planwright_core::journal::{Damage, Head};
use planwright_core::plan::Plan;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::TransactionError;
use super::executions::{read_execution, read_runs};
use crate::encode::{self, PlanRow, SessionState};
use crate::plan_rows::assemble_plan;
use crate::version_backfill::{EVENTS, VersionCounter};

/// A session's row, and the end of its journal.
#[derive(Debug)]
pub(super) struct SessionRow {
    pub(super) id: i64,
    pub(super) session: Session,
    pub(super) head: Head,
    /// The journal's last entry, as it is stored.
    pub(super) last_entry: String,
}

/// Sessions, each with the last entry that its row or its active plan is said to come from, which together tell of every
/// entry, and the last entry of its journal.
macro_rules! select_sessions {
    ($rest:literal) => {
        select_sessions!($rest, "")
    };
    // With more columns behind those.
    ($rest:literal, $more:literal) => {
        select_sessions!(
            $rest,
            $more,
            "max(s.seq, coalesce((SELECT max(p.seq, coalesce(e.seq, 0))
                FROM plan p LEFT JOIN execution e ON e.plan_id = p.id WHERE p.session_id = s.id AND p.id =
                CASE WHEN json_valid(s.state) THEN s.state ->> '$.plan_mode.active_plan' END), 0))"
        )
    };
    // With another way to tell the last entry.
    ($rest:literal, $more:literal, $last:literal) => {
        concat!(
            "SELECT s.id, s.channel || ':' || s.conversation, s.state, ",
            $last,
            ", j.seq, j.hash, j.body",
            $more,
            " FROM session s LEFT JOIN journal j
                ON j.id = (SELECT id FROM journal WHERE session_id = s.id ORDER BY seq DESC LIMIT 1) ",
            $rest
        )
    };
}
pub(super) use select_sessions;

pub(super) fn read_session(row: &Row<'_>) -> LedgerResult<SessionRow> {
    let id: i64 = number(row, 0, || "a session".to_owned())?;
    let name = text(row, 1, || format!("the session with row {id}"))?;
    let what = || format!("session {name}");
    let session = encode::session_from_text(what, &text(row, 2, what)?)?;
    if session.identity.to_string() != name {
        return Err(LedgerError::damaged(what(), format!("its row speaks of session {}", session.identity)));
    }
    if matches!(row.get_ref(4), Ok(ValueRef::Null)) {
        return Err(LedgerError::damaged(what(), "its journal is gone"));
    }
    let hash: Vec<u8> = row.get(5).map_err(|error| LedgerError::damaged(what(), error))?;
    let head = encode::head(what, number(row, 4, what)?, &hash)?;
    check_not_cut_off(&session.identity, number(row, 3, what)?.unsigned_abs(), &head)?;
    Ok(SessionRow { id, session, head, last_entry: text(row, 6, what)? })
}

/// What is stored beside the journal tells that entries are missing at its end. Nothing is written over them.
pub(super) fn check_not_cut_off(session: &SessionIdentity, recorded: u64, head: &Head) -> LedgerResult<()> {
    if recorded <= head.seq {
        return Ok(());
    }
    let damage = Damage::CutOff { found: head.seq, recorded };
    Err(LedgerError::damaged(format!("session {session}"), damage))
}

pub(super) fn find_session(
    connection: &Connection,
    session: &SessionIdentity,
) -> Result<Option<SessionRow>, TransactionError> {
    let Some(row) = find_session_without_plan(connection, session)? else { return Ok(None) };
    if let Some(active) = &row.session.plan_mode.active_plan {
        let sql = "SELECT max(p.seq, coalesce(e.seq, 0)) FROM plan p LEFT JOIN execution e ON e.plan_id = p.id
                   WHERE p.id = ?1 AND p.session_id = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let mut plans = statement.query(params![active.as_str(), row.id])?;
        if let Some(plan) = plans.next()? {
            let last = number(plan, 0, || format!("session {session}"))?;
            check_not_cut_off(session, last.unsigned_abs(), &row.head)?;
        }
    }
    Ok(Some(row))
}

/// A session without its active plan, for a caller that loads the plan and compares the entry that changed it with the end
/// of the journal.
pub(super) fn find_session_without_plan(
    connection: &Connection,
    session: &SessionIdentity,
) -> Result<Option<SessionRow>, TransactionError> {
    let sql = select_sessions!("WHERE s.conversation = ?1 AND s.channel = ?2", "", "s.seq");
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![session.conversation.as_str(), session.channel.as_str()])?;
    Ok(rows.next()?.map(read_session).transpose()?)
}

/// The number of a session's row, whatever else the row says.
pub(super) fn session_id(connection: &Connection, session: &SessionIdentity) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM session WHERE conversation = ?1 AND channel = ?2")?;
    let names = params![session.conversation.as_str(), session.channel.as_str()];
    statement.query_row(names, |row| row.get(0)).optional()
}

/// Plans, each with the row of its execution.
macro_rules! select_plans {
    ($rest:literal) => {
        concat!(
            "SELECT p.number, p.id, p.status, p.style, p.title, p.seq, p.body, e.steps, e.seq, e.updated_at, e.pause
             FROM plan p LEFT JOIN execution e ON e.plan_id = p.id ",
            $rest
        )
    };
}
pub(super) use select_plans;

/// A plan, if it exists in this session, and the entry that changed it last.
fn find_plan(
    connection: &Connection,
    session_id: i64,
    snapshot: &Snapshot,
    id: &PlanId,
) -> Result<Option<(Plan, u64)>, TransactionError> {
    let mut statement = connection.prepare_cached(select_plans!("WHERE p.id = ?1 AND p.session_id = ?2"))?;
    let mut rows = statement.query(params![id.as_str(), session_id])?;
    rows.next()?.map(|row| read_plan(connection, row, &snapshot.identity)).transpose()
}

/// A plan from all of its rows, and the entry that changed it last.
pub(super) fn read_plan(
    connection: &Connection,
    row: &Row<'_>,
    session: &SessionIdentity,
) -> Result<(Plan, u64), TransactionError> {
    let position = number(row, 0, || format!("a plan of {session}"))?;
    let what = || format!("plan {position} of {session}");
    let plan = encode::plan_from_text(what, &text(row, 6, what)?)?;
    let [id, status, style, title] =
        [text(row, 1, what)?, text(row, 2, what)?, text(row, 3, what)?, text(row, 4, what)?];
    let columns = PlanRow { id: &id, session, number: position, status: &status, style: &style, title: &title };
    encode::check_plan_row(what, &plan, &columns)?;
    let (execution, changed) = read_execution(row, 7, what)?.unzip();
    let plan = assemble_plan(what, plan, execution.as_ref(), read_runs(connection, &id, what)?)?;
    Ok((plan, number(row, 5, what)?.unsigned_abs().max(changed.unwrap_or(0))))
}

/// Loads the active plan and the named one into the snapshot, and returns the last entry that changed one of them. A
/// damaged active plan is left out unless it is needed.
pub(super) fn load(
    connection: &Connection,
    snapshot: &mut Snapshot,
    session_id: i64,
    subject: Option<&PlanId>,
    needs_active: bool,
) -> Result<u64, TransactionError> {
    let active = snapshot.session.as_ref().and_then(|session| session.plan_mode.active_plan.clone());
    let worked_on = snapshot.session.as_ref().and_then(|session| session.worked_on().cloned());
    let mut last = 0;
    let worked_on = worked_on.iter().map(|id| (id, false));
    for (id, needed) in active.iter().map(|id| (id, needs_active)).chain(subject.map(|id| (id, true))).chain(worked_on)
    {
        if snapshot.plans.contains_key(id) {
            continue;
        }
        match find_plan(connection, session_id, snapshot, id) {
            Ok(Some((plan, seq))) => {
                last = last.max(seq);
                snapshot.plans.insert(id.clone(), plan.into());
            }
            Ok(None) if needed && Some(id) == active.as_ref() => {
                let what = format!("plan {id} of {}", snapshot.identity);
                return Err(LedgerError::damaged(what, "it is the active plan, and its row is missing").into());
            }
            Ok(None) => {}
            Err(TransactionError::Ledger(LedgerError::Damaged { .. })) if !needed => {}
            Err(error) => return Err(error),
        }
    }
    Ok(last)
}

/// Earlier versions kept a session's state in one text only. What cannot be read is left as it is.
pub(super) fn fill_session_columns(connection: &Connection) -> rusqlite::Result<()> {
    let ids = connection
        .prepare("SELECT id FROM session ORDER BY id")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let mut find = connection.prepare("SELECT state FROM session WHERE id = ?1")?;
    let mut update = connection.prepare("UPDATE session SET turn_open = ?2, planning = ?3 WHERE id = ?1")?;
    for id in ids {
        let text = find.query_row([id], |row| Ok(text(row, 0, String::new).unwrap_or_default()))?;
        if let Some(state) = SessionState::earlier(&text) {
            update.execute(params![id, state.turn_open, state.planning])?;
        }
    }
    Ok(())
}

/// Earlier versions did not note which entry made which version. A plan with an entry that cannot be read is numbered up to
/// that entry.
pub(super) fn fill_versions(connection: &Connection) -> rusqlite::Result<()> {
    let [first, second, third] = EVENTS;
    let sql = "SELECT id, plan_id, body FROM journal
               WHERE plan_id IS NOT NULL AND (instr(body, ?1) > 0 OR instr(body, ?2) > 0 OR instr(body, ?3) > 0
                   OR instr(body, '{\"session\":') <> 1)
               ORDER BY session_id, seq";
    let (mut counter, mut made) = (VersionCounter::default(), Vec::new());
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([first, second, third])?;
    while let Some(row) = rows.next()? {
        let Ok(plan) = text(row, 1, String::new) else { continue };
        // The counter takes a body that is no text as an entry that cannot be read.
        let body = text(row, 2, String::new).unwrap_or_default();
        if let Some(version) = counter.note(&plan, &body) {
            made.push((row.get::<_, i64>(0)?, version));
        }
    }
    let mut update = connection.prepare("UPDATE journal SET version = ?2 WHERE id = ?1")?;
    for (id, version) in made {
        update.execute(params![id, version])?;
    }
    Ok(())
}

/// A text as it is stored, or the damage that keeps it from being one.
pub(super) fn text(row: &Row<'_>, index: usize, what: impl FnOnce() -> String) -> LedgerResult<String> {
    match row.get_ref(index) {
        Ok(ValueRef::Text(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(LedgerError::damaged(what(), error)),
        },
        Ok(other) => Err(LedgerError::damaged(what(), format!("{:?} where a text should be", other.data_type()))),
        Err(error) => Err(LedgerError::damaged(what(), error)),
    }
}

pub(super) fn number(row: &Row<'_>, index: usize, what: impl FnOnce() -> String) -> LedgerResult<i64> {
    row.get(index).map_err(|error| LedgerError::damaged(what(), error))
}
