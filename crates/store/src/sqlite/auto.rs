//! Sessions with schedules and runs. Only the writer thread takes due ones, so exactly one caller gets each.

use std::time::Duration;

use jiff::Timestamp;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerError, LedgerResult, Page, RunsRow, StoredSession};
use planwright_engine::server_ledger::RunsFilter;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::TransactionError;
use super::queries::stored;
use super::rows::{read_session, select_sessions};
use crate::auto_rows::column;
use crate::encode;

pub(super) fn write(connection: &Connection, session_id: i64, row: RunsRow) -> Result<(), TransactionError> {
    if row.is_empty() {
        connection.prepare_cached("DELETE FROM auto_session WHERE session_id = ?1")?.execute([session_id])?;
        return Ok(());
    }
    // A session whose schedules changed can be taken again.
    let sql = "INSERT INTO auto_session (session_id, due_at, running, waits, taken_until) VALUES (?1, ?2, ?3, ?4, 0)
               ON CONFLICT (session_id) DO UPDATE SET
                   taken_until = CASE WHEN due_at IS excluded.due_at THEN taken_until ELSE 0 END,
                   due_at = excluded.due_at, running = excluded.running, waits = excluded.waits";
    connection.prepare_cached(sql)?.execute(params![session_id, row.due_at, row.running, row.waits])?;
    Ok(())
}

pub(super) fn read(connection: &Connection, session_id: i64) -> Result<RunsRow, TransactionError> {
    let sql = "SELECT due_at, running, waits FROM auto_session WHERE session_id = ?1";
    let read = |row: &Row<'_>| Ok(RunsRow { due_at: row.get(0)?, running: row.get(1)?, waits: row.get(2)? });
    Ok(connection.prepare_cached(sql)?.query_row([session_id], read).optional()?.unwrap_or_default())
}

pub(super) fn take_due(
    connection: &Connection,
    now: Timestamp,
    keep: Duration,
    limit: u32,
) -> Result<Vec<SessionIdentity>, TransactionError> {
    let now = now.as_microsecond();
    let until = now.saturating_add(i64::try_from(keep.as_micros()).unwrap_or(i64::MAX));
    let sql = "SELECT auto.session_id, session.channel || ':' || session.conversation
               FROM auto_session AS auto JOIN session ON session.id = auto.session_id
               WHERE auto.due_at IS NOT NULL AND auto.due_at <= ?1 AND auto.taken_until <= ?1
               ORDER BY auto.due_at, auto.session_id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![now, limit], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let due = rows.collect::<Result<Vec<_>, _>>()?;
    let mut take = connection.prepare_cached("UPDATE auto_session SET taken_until = ?2 WHERE session_id = ?1")?;
    let mut taken = Vec::with_capacity(due.len());
    for (id, name) in due {
        take.execute(params![id, until])?;
        // A session whose name cannot be read is taken, so that it does not stand in the way of the others.
        let identity: LedgerResult<SessionIdentity> =
            name.parse().map_err(|error| LedgerError::damaged(format!("session {name}"), error));
        taken.extend(encode::set_damage_aside(identity)?);
    }
    Ok(taken)
}

/// In the order of their row ids, which never change.
pub(super) fn sessions_with_runs(
    connection: &Connection,
    which: RunsFilter,
    after: Option<u64>,
    limit: u32,
) -> Result<Page<StoredSession>, TransactionError> {
    let select = select_sessions!("JOIN auto_session AS auto ON auto.session_id = s.id");
    let sql = format!("{select} WHERE auto.{} AND s.id > ?1 ORDER BY s.id LIMIT ?2", column(which));
    let after = after.map_or(i64::MIN, |id| i64::try_from(id).unwrap_or(i64::MAX));
    let mut page = Page { items: Vec::new(), damaged: Vec::new(), next: None };
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![after, limit])?;
    let (mut count, mut last) = (0, None);
    while let Some(row) = rows.next()? {
        (count, last) = (count + 1, Some(row.get::<_, i64>(0)?.unsigned_abs()));
        encode::note(&mut page, read_session(row).and_then(stored))?;
    }
    page.next = last.filter(|_| count == limit);
    Ok(page)
}
