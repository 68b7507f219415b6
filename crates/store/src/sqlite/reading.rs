//! Reading, beside the writer and never in its way.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planwright_core::ids::PlanId;
use planwright_core::journal::{Entry, EntryHash, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::plan::reference::{Candidate, PlanReference};
use planwright_core::session::{ConversationKey, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{DamagedRow, LedgerError, LedgerResult, Page, PlanSummary, StoredSession};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use tokio::runtime::{Handle, RuntimeFlavor};

use super::errors::translate;
use super::rows::{
    SessionRow, find_session, load, number, read_plan, read_session, select_plans, select_sessions, text,
};
use super::runs::read_execution;
use super::{Fault, connection};
use crate::encode;

/// Connections that are not in use wait here for the next reader.
#[derive(Debug, Clone)]
pub(super) struct Readers {
    path: Arc<PathBuf>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

const MOST_IDLE: usize = 8;

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path: Arc::new(path), idle: Arc::default() }
    }

    pub(super) async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> LedgerResult<T> {
        let readers = self.clone();
        let work = move || {
            let connection = readers.take()?;
            readers.look(connection, look)
        };
        // Most reads are shorter than the way to another thread and back.
        if Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
            return tokio::task::block_in_place(work);
        }
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| LedgerError::Internal(format!("a reader failed: {error}")))?
    }

    /// Reads a few rows by their keys, which takes less time than making way for others would. A connection that is open
    /// already waits for nobody: with a write-ahead log, readers and the writer are not in each other's way.
    pub(super) async fn glance<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> LedgerResult<T> {
        let idle = self.idle().pop();
        match idle {
            Some(connection) => self.look(connection, look),
            None => self.read(look).await,
        }
    }

    fn look<T>(&self, connection: Connection, look: impl FnOnce(&Connection) -> Result<T, Fault>) -> LedgerResult<T> {
        let outcome = in_one_moment(&connection, look);
        self.put_back(connection);
        outcome.map_err(|fault| match fault {
            Fault::Ledger(error) => error,
            Fault::Sqlite(error) => translate(&self.path, &error),
        })
    }

    fn take(&self) -> LedgerResult<Connection> {
        let idle = self.idle().pop();
        idle.map_or_else(|| connection::open(&self.path), Ok)
    }

    fn put_back(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < MOST_IDLE {
            idle.push(connection);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything that is read belongs to the same commit.
fn in_one_moment<T>(connection: &Connection, look: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
    connection.prepare_cached("BEGIN DEFERRED")?.execute([])?;
    let outcome = look(connection);
    connection.prepare_cached("ROLLBACK")?.execute([])?;
    outcome
}

pub(super) fn session(connection: &Connection, session: &SessionIdentity) -> Result<Option<StoredSession>, Fault> {
    find_session(connection, session)?.map(|row| Ok(stored(row)?)).transpose()
}

fn stored(row: SessionRow) -> LedgerResult<StoredSession> {
    let what = || format!("the last entry of session {}", row.session.identity);
    let last_active = encode::entry_from_text(what, &row.last_entry)?.at;
    Ok(StoredSession { session: row.session, head: row.head, last_active })
}

pub(super) fn sessions(connection: &Connection, after: Option<u64>, limit: u32) -> Result<Page<StoredSession>, Fault> {
    let offset = after.unwrap_or(0);
    // Entries are numbered over all sessions in the order they were written.
    let mut statement = connection.prepare_cached(select_sessions!("ORDER BY j.id DESC LIMIT ?1 OFFSET ?2"))?;
    let mut rows = statement.query(params![limit, i64::try_from(offset).unwrap_or(i64::MAX)])?;
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        encode::note(&mut page, read_session(row).and_then(stored))?;
    }
    page.next = (count == limit).then_some(offset.saturating_add(u64::from(limit)));
    Ok(page)
}

pub(super) fn sessions_with_key(connection: &Connection, key: &ConversationKey) -> Result<Vec<SessionIdentity>, Fault> {
    let mut statement =
        connection.prepare_cached("SELECT channel FROM session WHERE conversation = ?1 ORDER BY channel")?;
    let channels = statement.query_map([key.as_str()], |row| row.get::<_, String>(0))?;
    let mut found = Vec::new();
    for channel in channels {
        found.push(SessionIdentity::new(channel?.parse().map_err(LedgerError::from)?, key.clone()));
    }
    Ok(found)
}

pub(super) fn snapshot(
    connection: &Connection,
    session: &SessionIdentity,
    plan: Option<&PlanId>,
) -> Result<Snapshot, Fault> {
    let mut snapshot = Snapshot::new(session.clone());
    if let Some(row) = find_session(connection, session)? {
        snapshot.session = Some(row.session);
        load(connection, &mut snapshot, row.id, plan, plan.is_none())?;
    }
    Ok(snapshot)
}

pub(super) fn candidates(
    connection: &Connection,
    session: &SessionIdentity,
    reference: &PlanReference,
) -> Result<Vec<Candidate>, Fault> {
    let sql = "SELECT id, number FROM plan WHERE session_id = ?1 AND (number = ?2 OR instr(id, ?3) > 0)
               ORDER BY number = ?2 DESC, id = ?3 DESC, number LIMIT 10";
    let Some(row) = find_session(connection, session)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![row.id, reference.number(), reference.piece()], |row| {
        Ok((row.get::<_, String>(0)?, row.get(1)?))
    })?;
    let mut found = Vec::new();
    for candidate in rows {
        let (id, number) = candidate?;
        found.push(Candidate { id: PlanId::new(id).map_err(LedgerError::from)?, number });
    }
    Ok(found)
}

pub(super) fn session_of(connection: &Connection, plan: &PlanId) -> Result<Option<SessionIdentity>, Fault> {
    let sql =
        "SELECT s.channel || ':' || s.conversation FROM plan p JOIN session s ON s.id = p.session_id WHERE p.id = ?1";
    let found: Option<String> =
        connection.prepare_cached(sql)?.query_row([plan.as_str()], |row| row.get(0)).optional()?;
    Ok(found.map(|text| text.parse()).transpose().map_err(LedgerError::from)?)
}

pub(super) fn plans(
    connection: &Connection,
    session: &SessionIdentity,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<PlanSummary>, Fault> {
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    let Some(row) = find_session(connection, session)? else { return Ok(page) };
    let sql = "SELECT p.number, p.id, p.status, p.style, p.title, p.updated_at, e.steps, e.seq, e.updated_at, e.pause
               FROM plan p LEFT JOIN execution e ON e.plan_id = p.id
               WHERE p.session_id = ?1 AND p.number < ?2 ORDER BY p.number DESC LIMIT ?3";
    let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![row.id, before, limit])?;
    let mut last = None;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let position = row.get::<_, i64>(0)?;
        encode::note(&mut page, summary(row, position, session))?;
        last = Some(position.unsigned_abs());
        count += 1;
    }
    page.next = if count == limit { last.filter(|number| *number > 1) } else { None };
    Ok(page)
}

pub(super) fn summary(row: &Row<'_>, position: i64, session: &SessionIdentity) -> LedgerResult<PlanSummary> {
    let what = || format!("plan {position} of {session}");
    let word = |index| text(row, index, what).map(serde_json::Value::String);
    Ok(PlanSummary {
        id: PlanId::new(text(row, 1, what)?).map_err(|refusal| LedgerError::damaged(what(), refusal))?,
        number: u32::try_from(position).map_err(|error| LedgerError::damaged(what(), error))?,
        status: serde_json::from_value(word(2)?).map_err(|error| LedgerError::damaged(what(), error))?,
        style: serde_json::from_value(word(3)?).map_err(|error| LedgerError::damaged(what(), error))?,
        title: text(row, 4, what)?,
        updated_at: match read_execution(row, 6, what)? {
            Some((execution, _)) => execution.updated_at(what)?,
            None => encode::timestamp(what, number(row, 5, what)?)?,
        },
    })
}

pub(super) fn journal(
    connection: &Connection,
    session: &SessionIdentity,
    after: u64,
    limit: u32,
) -> Result<Vec<SealedEntry>, Fault> {
    let Some(row) = find_session(connection, session)? else { return Ok(Vec::new()) };
    let sql = "SELECT seq, body, hash FROM journal WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![row.id, i64::try_from(after).unwrap_or(i64::MAX), limit])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, i64>(0)?.unsigned_abs();
        let hash: Vec<u8> = row.get(2)?;
        // A hash of the wrong length cannot match; the check of the chain says so in its own words.
        let hash = EntryHash(hash.try_into().unwrap_or([0; 32]));
        // So it is with a body that is no text.
        let body = text(row, 1, String::new).unwrap_or_default();
        entries.push(SealedEntry { seq, body, hash });
    }
    Ok(entries)
}

pub(super) fn conversation(
    connection: &Connection,
    session: &SessionIdentity,
    from: u64,
    limit: u32,
) -> Result<Vec<Entry>, Fault> {
    let Some(row) = find_session(connection, session)? else { return Ok(Vec::new()) };
    let sql = "SELECT seq, body FROM journal WHERE session_id = ?1 AND seq >= ?2 AND plan_id IS NULL
               ORDER BY seq LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    read_entries(statement.query(params![row.id, i64::try_from(from).unwrap_or(i64::MAX), limit])?)
}

pub(super) fn plan_journal(
    connection: &Connection,
    session: &SessionIdentity,
    plan: &PlanId,
) -> Result<Vec<Entry>, Fault> {
    let Some(row) = find_session(connection, session)? else { return Ok(Vec::new()) };
    let sql = "SELECT seq, body FROM journal WHERE session_id = ?1 AND plan_id = ?2 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    read_entries(statement.query(params![row.id, plan.as_str()])?)
}

/// All entries that one request led to: from its first one up to the first one of the next request.
pub(super) fn entries_of_request(connection: &Connection, session_id: i64, first: i64) -> Result<Vec<Entry>, Fault> {
    let sql = "SELECT seq, body FROM journal WHERE session_id = ?1 AND seq >= ?2 AND seq < coalesce(
                   (SELECT seq FROM journal WHERE session_id = ?1 AND seq > ?2 AND request IS NOT NULL
                    ORDER BY seq LIMIT 1), 9223372036854775807)
               ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    read_entries(statement.query(params![session_id, first])?)
}

fn read_entries(mut rows: rusqlite::Rows<'_>) -> Result<Vec<Entry>, Fault> {
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let what = || format!("journal entry {seq}");
        entries.push(encode::entry_from_text(what, &text(row, 1, what)?)?);
    }
    Ok(entries)
}

pub(super) fn stored_plans(
    connection: &Connection,
    session: &SessionIdentity,
) -> Result<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>), Fault> {
    let mut plans = BTreeMap::new();
    let mut damaged = Vec::new();
    let Some(row) = find_session(connection, session)? else { return Ok((plans, damaged)) };
    let mut statement = connection.prepare_cached(select_plans!("WHERE p.session_id = ?1 ORDER BY p.number"))?;
    let mut rows = statement.query([row.id])?;
    while let Some(row) = rows.next()? {
        match read_plan(connection, row, session) {
            Ok((plan, _)) => drop(plans.insert(plan.id.clone(), plan)),
            Err(Fault::Ledger(error)) => damaged.extend(encode::set_damage_aside::<()>(Err(error))?.err()),
            Err(fault) => return Err(fault),
        }
    }
    Ok((plans, damaged))
}

/// Rows that no session owns up to.
pub(super) fn orphans(connection: &Connection) -> Result<Vec<DamagedRow>, Fault> {
    let sql = "SELECT count(*) || ' journal entries' FROM journal WHERE session_id NOT IN (SELECT id FROM session)
               GROUP BY session_id
               UNION ALL SELECT 'plan ' || id FROM plan WHERE session_id NOT IN (SELECT id FROM session) LIMIT 20";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let what = text(row, 0, || "a plan".to_owned()).unwrap_or_else(|error| error.to_string());
        let reason = "the session they belong to has no row".to_owned();
        found.push(DamagedRow { what: format!("{what} of a session that has no row"), reason });
    }
    let sql = "SELECT plan_id FROM step_run WHERE plan_id NOT IN (SELECT id FROM plan)
               UNION SELECT plan_id FROM execution WHERE plan_id NOT IN (SELECT id FROM plan) LIMIT 20";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.push(encode::orphaned_runs(&text(row, 0, || "outcomes of steps".to_owned())?));
    }
    Ok(found)
}
