//! Single rows, read the same way by the writer and the readers.

use planwright_core::ids::PlanId;
use planwright_core::journal::{Damage, Entry, Head};
use planwright_core::plan::Plan;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{LedgerError, LedgerResult, StoredSession, text_for_row};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::TransactionError;
use super::executions::read_runs;
use super::sql::run;
use crate::encode::{self, SessionState};
use crate::plans::{plan_columns, read_plan};
use crate::sessions::read_entry;
use crate::sql::{Row, sql};
use crate::version_backfill::{EVENTS, VersionCounter};

/// A session's row, and the end of its journal.
#[derive(Debug)]
pub(super) struct SessionRow {
    pub(super) id: i64,
    pub(super) session: Session,
    pub(super) head: Head,
    /// The journal's last entry, as it is stored.
    pub(super) last_entry: String,
    /// The number of one of its last entries over all sessions. The list of recent sessions finds it there.
    pub(super) activity: i64,
}

/// The columns of a session. `$last` is the last entry that its row is said to come from.
macro_rules! session_columns {
    ($last:literal) => {
        concat!(
            "session.id, session.channel || ':' || session.conversation, session.state, ",
            $last,
            ", journal.seq, journal.hash, journal.body, session.activity"
        )
    };
}

macro_rules! listed_columns {
    () => {
        session_columns!(
            "max(session.seq, coalesce((SELECT max(p.seq, coalesce(e.seq, 0))
                FROM plan p LEFT JOIN execution e ON e.plan_id = p.id WHERE p.session_id = session.id AND p.id =
                CASE WHEN json_valid(session.state) THEN session.state ->> '$.plan_mode.active_plan' END), 0))"
        )
    };
}

/// Each session with the last entry that its row or its active plan is said to come from, which together tell of every
/// entry, and the last entry of its journal.
pub(super) const SESSION_COLUMNS: &str = listed_columns!();

macro_rules! session_tables {
    () => {
        "session LEFT JOIN journal
             ON journal.id = (SELECT id FROM journal WHERE session_id = session.id ORDER BY seq DESC LIMIT 1)"
    };
}

pub(super) const SESSION_TABLES: &str = session_tables!();

/// How far the last entry of a session may be ahead of the entry that its row names, in entries of all sessions.
pub(super) const ACTIVITY_LAG: i64 = 1_024;

/// The sessions that `$among` is true of, `$count` of them, the most recently active first.
macro_rules! recent {
    ($among:literal, $count:literal) => {
        concat!(
            "WITH named AS MATERIALIZED (
                 SELECT id, max(activity, coalesce((SELECT journal.id FROM journal
                     WHERE session_id = session.id ORDER BY seq DESC LIMIT 1), 0)) AS last
                 FROM session WHERE ",
            $among,
            " ORDER BY activity DESC LIMIT ",
            $count,
            ") SELECT ",
            listed_columns!(),
            ", recent.last
             FROM (SELECT id, last FROM named WHERE last < ?1 ORDER BY last DESC, id DESC LIMIT ?2) AS recent CROSS JOIN ",
            session_tables!(),
            " WHERE session.id = recent.id ORDER BY recent.last DESC, recent.id DESC"
        )
    };
}

/// Entries are numbered over all sessions in the order they were written, so at most [`ACTIVITY_LAG`] sessions have named an entry
/// within a range of that length. Among twice as many more than a page has are all that belong on it.
pub(super) const RECENT_SESSIONS: &str = recent!("activity < ?1", "?2 + 2048");

/// The same, of sessions that were found.
pub(super) const FOUND_SESSIONS: &str = recent!("id IN (SELECT value FROM json_each(?3))", "-1");

/// A session by its name, with the last entry that its own row is said to come from.
pub(super) const FIND_SESSION: &str = concat!(
    "SELECT ",
    session_columns!("session.seq"),
    " FROM ",
    session_tables!(),
    " WHERE session.conversation = ?1 AND session.channel = ?2"
);

/// A plan of a session, and the last entries that its rows are said to come from.
pub(super) const FIND_PLAN: &str = concat!(
    "SELECT ",
    plan_columns!(),
    ", plan.seq, execution.seq FROM plan LEFT JOIN execution ON execution.plan_id = plan.id
     WHERE plan.id = ?1 AND plan.session_id = ?2"
);

pub(super) fn read_session(row: &Row) -> LedgerResult<SessionRow> {
    let id: i64 = row.read(0, || "a session".to_owned())?;
    let name: &str = row.read(1, || format!("the session with row {id}"))?;
    let what = || format!("session {name}");
    let session = encode::session_from_text(what, row.read(2, what)?)?;
    if session.identity.to_string() != name {
        return Err(LedgerError::damaged(what(), format!("its row speaks of session {}", session.identity)));
    }
    let Some(seq) = row.read(4, what)? else {
        return Err(LedgerError::damaged(what(), "its journal is gone"));
    };
    let head = encode::head(what, seq, row.read(5, what)?)?;
    check_not_cut_off(&session.identity, row.read(3, what)?, &head)?;
    Ok(SessionRow { id, session, head, last_entry: row.read(6, what)?, activity: row.read(7, what)? })
}

pub(super) fn stored(row: SessionRow) -> LedgerResult<StoredSession> {
    let what = || format!("the last entry of session {}", row.session.identity);
    let last_active = encode::entry_from_text(what, &row.last_entry)?.at;
    Ok(StoredSession { session: row.session, head: row.head, last_active })
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
        if let Some(plan) = run(connection, &sql!(sql, active.as_str(), row.id))?.first() {
            check_not_cut_off(session, plan.read(0, || format!("session {session}"))?, &row.head)?;
        }
    }
    Ok(Some(row))
}

/// A session without its active plan, for a caller that loads the plan and compares the entry that changed it with the end
/// of the journal.
fn find_session_without_plan(
    connection: &Connection,
    session: &SessionIdentity,
) -> Result<Option<SessionRow>, TransactionError> {
    let find = sql!(FIND_SESSION, session.conversation.as_str(), session.channel.as_str());
    Ok(run(connection, &find)?.first().map(read_session).transpose()?)
}

/// The number of a session's row, whatever else the row says.
pub(super) fn session_id(connection: &Connection, session: &SessionIdentity) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM session WHERE conversation = ?1 AND channel = ?2")?;
    let names = params![session.conversation.as_str(), session.channel.as_str()];
    statement.query_row(names, |row| row.get(0)).optional()
}

/// A plan from all of its rows, if it exists in this session, and the entry that changed it last.
fn find_plan(
    connection: &Connection,
    session_id: i64,
    snapshot: &Snapshot,
    id: &PlanId,
) -> Result<Option<(Plan, u64)>, TransactionError> {
    let rows = run(connection, &sql!(FIND_PLAN, id.as_str(), session_id))?;
    let Some(row) = rows.first() else { return Ok(None) };
    let number: i64 = row.read(0, || format!("a plan of {}", snapshot.identity))?;
    let what = || format!("plan {number} of {}", snapshot.identity);
    let runs = read_runs(connection, id.as_str(), what)?;
    let plan = read_plan(row, &snapshot.identity, runs)?;
    let (own, execution): (u64, Option<u64>) = (row.read(9, what)?, row.read(10, what)?);
    Ok(Some((plan, own.max(execution.unwrap_or(0)))))
}

/// Loads the active plan, its round and the named plan into the snapshot, and returns the last entry that changed one of
/// them. A damaged active plan is left out unless it is needed.
pub(super) fn load(
    connection: &Connection,
    snapshot: &mut Snapshot,
    session_id: i64,
    subject: Option<&PlanId>,
    needs_active: bool,
) -> Result<u64, TransactionError> {
    let active = snapshot.session.as_ref().and_then(|session| session.plan_mode.active_plan.clone());
    let round = snapshot.session.as_ref().and_then(|session| session.round.clone());
    let worked_on = snapshot.session.as_ref().and_then(|session| session.worked_on().cloned());
    let mut last = 0;
    let at_hand = active.iter().chain(&round).map(|id| (id, needs_active));
    let worked_on = worked_on.iter().map(|id| (id, false));
    for (id, needed) in at_hand.chain(subject.map(|id| (id, true))).chain(worked_on) {
        if snapshot.plans.contains_key(id) {
            continue;
        }
        match find_plan(connection, session_id, snapshot, id) {
            Ok(Some((plan, seq))) => {
                last = last.max(seq);
                snapshot.plans.insert(id.clone(), plan.into());
            }
            Ok(None) if needed && (Some(id) == active.as_ref() || Some(id) == round.as_ref()) => {
                let what = format!("plan {id} of {}", snapshot.identity);
                return Err(LedgerError::damaged(what, "the session works on it, and its row is missing").into());
            }
            Ok(None) => {}
            Err(TransactionError::Ledger(LedgerError::Damaged { .. })) if !needed => {}
            Err(error) => return Err(error),
        }
    }
    Ok(last)
}

pub(super) fn snapshot(
    connection: &Connection,
    session: &SessionIdentity,
    plan: Option<&PlanId>,
) -> Result<Snapshot, TransactionError> {
    let mut snapshot = Snapshot::new(session.clone());
    if let Some(row) = find_session_without_plan(connection, session)? {
        snapshot.session = Some(row.session.into());
        let last = load(connection, &mut snapshot, row.id, plan, plan.is_none())?;
        check_not_cut_off(session, last, &row.head)?;
    }
    Ok(snapshot)
}

/// All entries that one request led to: from its first one up to the first one of the next request.
pub(super) fn entries_of_request(
    connection: &Connection,
    session_id: i64,
    first: i64,
) -> Result<Vec<Entry>, TransactionError> {
    let sql = "SELECT seq, body FROM journal WHERE session_id = ?1 AND seq >= ?2 AND seq < coalesce(
                   (SELECT seq FROM journal WHERE session_id = ?1 AND seq > ?2 AND request IS NOT NULL
                    ORDER BY seq LIMIT 1), 9223372036854775807)
               ORDER BY seq";
    Ok(run(connection, &sql!(sql, session_id, first))?.iter().map(read_entry).collect::<LedgerResult<_>>()?)
}

/// Earlier versions had no text that a search looks through, and did not mark the sessions of agents. What cannot be read has neither.
pub(super) fn fill_from_states(connection: &Connection) -> rusqlite::Result<()> {
    let ids = connection
        .prepare("SELECT id FROM session ORDER BY id")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let mut find = connection.prepare("SELECT state FROM session WHERE id = ?1")?;
    let mut mark = connection.prepare("UPDATE session SET has_agents = 1 WHERE id = ?1")?;
    for id in ids {
        let text = find.query_row([id], |row| Ok(text(row, 0)))?;
        if let Ok(session) = encode::session_from_text(String::new, &text) {
            write_search_text(connection, id, &session.search_text())?;
            if !session.clients.is_empty() {
                mark.execute([id])?;
            }
        }
    }
    Ok(())
}

pub(super) fn write_search_text(connection: &Connection, session_id: i64, text: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO session_text (session_id, text) VALUES (?1, ?2)
               ON CONFLICT (session_id) DO UPDATE SET text = excluded.text";
    connection.prepare_cached(sql)?.execute(params![session_id, text_for_row(text)]).map(drop)
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
        let text = find.query_row([id], |row| Ok(text(row, 0)))?;
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
        let Ok(plan) = row.get::<_, String>(1) else { continue };
        // The counter takes a body that is no text as an entry that cannot be read.
        let body = text(row, 2);
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

/// A text of a row that a migration reads, empty if it is none.
pub(super) fn text(row: &rusqlite::Row<'_>, index: usize) -> String {
    row.get(index).unwrap_or_default()
}
