//! Everything that is read of one session, and the lists of sessions.

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::ids::{PlanId, RequestId};
use planwright_core::journal::{Entry, EntryHash, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::session::{ConversationKey, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{DamagedRow, LedgerError, LedgerResult, Page, PlanSummary, StoredSession};
use planwright_engine::version_index::VersionIndexEntry;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::TransactionError;
use super::executions::read_execution;
use super::paged::read_page;
use super::rows::{
    SessionRow, check_not_cut_off, find_session, find_session_without_plan, load, number, read_plan, read_session,
    select_plans, select_sessions, session_id, text,
};
use crate::derived_rows::{ORPHANED, orphaned};
use crate::encode;
use crate::paging;
use crate::version_lookup;

pub(super) fn session(
    connection: &Connection,
    session: &SessionIdentity,
) -> Result<Option<StoredSession>, TransactionError> {
    find_session(connection, session)?.map(|row| Ok(stored(row)?)).transpose()
}

pub(super) fn stored(row: SessionRow) -> LedgerResult<StoredSession> {
    let what = || format!("the last entry of session {}", row.session.identity);
    let last_active = encode::entry_from_text(what, &row.last_entry)?.at;
    Ok(StoredSession { session: row.session, head: row.head, last_active })
}

/// The most recently active first.
pub(super) fn sessions(
    connection: &Connection,
    after: Option<u64>,
    limit: u32,
) -> Result<Page<StoredSession>, TransactionError> {
    // Entries are numbered over all sessions in the order they were written. Sessions without any are last.
    let sql = select_sessions!(
        "WHERE coalesce(j.id, 0) < ?1 ORDER BY coalesce(j.id, 0) DESC, s.id DESC LIMIT ?2",
        ", coalesce(j.id, 0)"
    );
    read_page(connection, sql, paging::below(after)?, limit, |row| {
        Ok((row.get::<_, i64>(7)?.unsigned_abs(), read_session(row).and_then(stored)))
    })
}

/// In the order of their row ids, which never change.
pub(super) fn walk_sessions(
    connection: &Connection,
    after: Option<u64>,
    limit: u32,
) -> Result<Page<StoredSession>, TransactionError> {
    let mut statement = connection.prepare_cached(select_sessions!("WHERE s.id > ?1 ORDER BY s.id LIMIT ?2"))?;
    let mut rows = statement.query(params![after.map_or(i64::MIN, u64::cast_signed), limit])?;
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    let (mut count, mut last) = (0, None);
    while let Some(row) = rows.next()? {
        count += 1;
        last = Some(row.get::<_, i64>(0)?.cast_unsigned());
        encode::note(&mut page, read_session(row).and_then(stored))?;
    }
    page.next = last.filter(|_| count == limit);
    Ok(page)
}

pub(super) fn count_sessions(connection: &Connection) -> Result<u64, TransactionError> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM session")?;
    Ok(statement.query_row([], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)?)
}

pub(super) fn sessions_with_key(
    connection: &Connection,
    key: &ConversationKey,
) -> Result<Vec<SessionIdentity>, TransactionError> {
    let mut statement =
        connection.prepare_cached("SELECT channel FROM session WHERE conversation = ?1 ORDER BY channel")?;
    let mut rows = statement.query([key.as_str()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        // A row whose channel cannot be read does not hide the others; lists of sessions name it.
        let channel = text(row, 0, String::new).ok().and_then(|channel| channel.parse().ok());
        found.extend(channel.map(|channel| SessionIdentity::new(channel, key.clone())));
    }
    Ok(found)
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

pub(super) fn candidates(
    connection: &Connection,
    session: &SessionIdentity,
    reference: &PlanReference,
) -> Result<Vec<PlanCandidate>, TransactionError> {
    let sql = "SELECT id, number FROM plan WHERE session_id = ?1 AND (number = ?2 OR instr(id, ?3) > 0)
               ORDER BY number = ?2 DESC, id = ?3 DESC, number LIMIT 10";
    let Some(row) = find_session(connection, session)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![row.id, reference.number(), reference.piece()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        // A plan whose id or number cannot be read does not hide the others; the list of plans names it.
        let id = text(row, 0, String::new).ok().and_then(|id| PlanId::new(id).ok());
        let number = number(row, 1, String::new).ok().and_then(|number| u32::try_from(number).ok());
        found.extend(id.zip(number).map(|(id, number)| PlanCandidate { id, number }));
    }
    Ok(found)
}

pub(super) fn session_of(connection: &Connection, plan: &PlanId) -> Result<Option<SessionIdentity>, TransactionError> {
    let sql =
        "SELECT s.channel || ':' || s.conversation FROM plan p JOIN session s ON s.id = p.session_id WHERE p.id = ?1";
    let found: Option<String> =
        connection.prepare_cached(sql)?.query_row([plan.as_str()], |row| row.get(0)).optional()?;
    Ok(found.map(|text| text.parse()).transpose().map_err(LedgerError::from)?)
}

pub(super) fn is_request_known(connection: &Connection, request: &RequestId) -> Result<bool, TransactionError> {
    Ok(connection.prepare_cached("SELECT 1 FROM journal WHERE request = ?1")?.exists([request.as_str()])?)
}

pub(super) fn plans(
    connection: &Connection,
    session: &SessionIdentity,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<PlanSummary>, TransactionError> {
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    let Some(session_id) = session_id(connection, session)? else { return Ok(page) };
    let sql = "SELECT p.number, p.id, p.status, p.style, p.title, p.updated_at, e.steps, e.seq, e.updated_at, e.pause
               FROM plan p LEFT JOIN execution e ON e.plan_id = p.id
               WHERE p.session_id = ?1 AND p.number < ?2 ORDER BY p.number DESC LIMIT ?3";
    let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![session_id, before, limit])?;
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
) -> Result<Vec<SealedEntry>, TransactionError> {
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
) -> Result<Vec<Entry>, TransactionError> {
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
) -> Result<Vec<Result<Entry, DamagedRow>>, TransactionError> {
    let Some(row) = find_session(connection, session)? else { return Ok(Vec::new()) };
    let sql = "SELECT seq, body FROM journal WHERE session_id = ?1 AND plan_id = ?2 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![row.id, plan.as_str()])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(encode::set_damage_aside(read_entry(row))?);
    }
    Ok(entries)
}

/// The plus sign keeps SQLite from reading the whole journal of the session.
pub(super) const VERSION_ENTRY: &str = "SELECT seq, body FROM journal
    WHERE session_id = (SELECT id FROM session WHERE conversation = ?3 AND channel = ?4)
        AND seq >= (SELECT seq FROM journal
            WHERE plan_id = ?1 AND version = ?5 AND (version <= 32 OR version % 32 = 0)
                AND +session_id = (SELECT id FROM session WHERE conversation = ?3 AND channel = ?4) LIMIT 1)
        AND plan_id = ?1 AND version = ?2
    ORDER BY seq LIMIT 1";

pub(super) fn version_entry(
    connection: &Connection,
    session: &SessionIdentity,
    plan: &PlanId,
    version: u32,
) -> Result<Option<Entry>, TransactionError> {
    let mut statement = connection.prepare_cached(VERSION_ENTRY)?;
    let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
    let start = version_lookup::indexed(version);
    let mut rows = statement.query(params![plan.as_str(), version, conversation, channel, start])?;
    Ok(rows.next()?.map(read_entry).transpose()?)
}

pub(super) fn version_index(
    connection: &Connection,
    session: &SessionIdentity,
) -> Result<BTreeSet<VersionIndexEntry>, TransactionError> {
    let Some(row) = find_session(connection, session)? else { return Ok(BTreeSet::new()) };
    let sql = "SELECT plan_id, version, seq FROM journal WHERE session_id = ?1 AND version IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([row.id])?;
    let mut index = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let what = || format!("the index of versions of {session}");
        let plan = text(row, 0, what)?;
        let plan = PlanId::new(plan).map_err(|refusal| LedgerError::damaged(what(), refusal))?;
        let (version, seq) = (number(row, 1, what)?, number(row, 2, what)?.unsigned_abs());
        let version = u32::try_from(version).map_err(|error| LedgerError::damaged(what(), error))?;
        index.insert(VersionIndexEntry { plan, version, seq });
    }
    Ok(index)
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
    let mut statement = connection.prepare_cached(sql)?;
    read_entries(statement.query(params![session_id, first])?)
}

fn read_entries(mut rows: rusqlite::Rows<'_>) -> Result<Vec<Entry>, TransactionError> {
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        entries.push(read_entry(row)?);
    }
    Ok(entries)
}

fn read_entry(row: &Row<'_>) -> LedgerResult<Entry> {
    let seq = number(row, 0, || "a journal entry".to_owned())?;
    let what = || format!("journal entry {seq}");
    encode::entry_from_text(what, &text(row, 1, what)?)
}

pub(super) fn stored_plans(
    connection: &Connection,
    session: &SessionIdentity,
) -> Result<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>), TransactionError> {
    let mut plans = BTreeMap::new();
    let mut damaged = Vec::new();
    let Some(row) = find_session(connection, session)? else { return Ok((plans, damaged)) };
    let mut statement = connection.prepare_cached(select_plans!("WHERE p.session_id = ?1 ORDER BY p.number"))?;
    let mut rows = statement.query([row.id])?;
    while let Some(row) = rows.next()? {
        match read_plan(connection, row, session) {
            Ok((plan, _)) => drop(plans.insert(plan.id.clone(), plan)),
            Err(TransactionError::Ledger(error)) => damaged.extend(encode::set_damage_aside::<()>(Err(error))?.err()),
            Err(error) => return Err(error),
        }
    }
    Ok((plans, damaged))
}

/// Rows that no session owns up to.
pub(super) fn orphans(connection: &Connection) -> Result<Vec<DamagedRow>, TransactionError> {
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
    for (sql, what) in ORPHANED {
        let count = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        found.extend(orphaned(count, what));
    }
    Ok(found)
}
