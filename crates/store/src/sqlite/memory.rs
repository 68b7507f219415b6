//! Memories: written with the entry that says so.

use planwright_core::ids::MemoryId;
use planwright_core::snapshot::Snapshot;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::TransactionError;
use super::sql::run;
use crate::memory_rows::{MemoryRowChange, RowChange, item_to_text, may_name, record};
use crate::sql::sql;

/// Adds, forgets or restores one memory, with its terms.
pub(super) fn write(connection: &Connection, session_id: i64, row: &MemoryRowChange) -> Result<(), TransactionError> {
    let terms = row.text();
    let length = i64::from(terms.length);
    let (scope_id, position) = match row.change {
        RowChange::Add => {
            if is_kept(connection, row)? {
                return Ok(());
            }
            let sql =
                "INSERT INTO memory_scope (session_id, scope, items, words, last_position) VALUES (?1, ?2, 1, ?3, 1)
                       ON CONFLICT (scope, session_id) DO UPDATE
                       SET items = items + 1, words = words + ?3, last_position = last_position + 1
                       RETURNING id, last_position";
            let values = params![row.owner(session_id), row.item.scope.to_string(), length];
            let place: (i64, i64) =
                connection.prepare_cached(sql)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
            let sql = "INSERT INTO memory_item (id, scope_id, position, forgotten, body) VALUES (?1, ?2, ?3, 0, ?4)";
            let values = params![row.item.id.as_str(), place.0, place.1, item_to_text(&row.item)?];
            connection.prepare_cached(sql)?.execute(values)?;
            place
        }
        RowChange::Forget | RowChange::Restore => {
            let forgotten = row.change == RowChange::Forget;
            let sql = "UPDATE memory_item SET forgotten = ?2 WHERE id = ?1 AND forgotten <> ?2
                       RETURNING scope_id, position";
            let changed = connection
                .prepare_cached(sql)?
                .query_row(params![row.item.id.as_str(), forgotten], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some(place) = changed else { return Ok(()) };
            let by = if forgotten { -1 } else { 1 };
            let sql = "UPDATE memory_scope SET items = items + ?2, words = words + ?3 WHERE id = ?1";
            connection.prepare_cached(sql)?.execute(params![place.0, by, by * length])?;
            place
        }
    };
    match row.change {
        RowChange::Add | RowChange::Restore => {
            let sql = "INSERT OR REPLACE INTO memory_posting (scope_id, term, position, frequency, length)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            let mut insert = connection.prepare_cached(sql)?;
            for (term, frequency) in &terms.terms {
                insert.execute(params![scope_id, term, position, frequency, length])?;
            }
        }
        RowChange::Forget => {
            let sql = "DELETE FROM memory_posting WHERE scope_id = ?1 AND term = ?2 AND position = ?3";
            let mut delete = connection.prepare_cached(sql)?;
            for term in terms.terms.keys() {
                delete.execute(params![scope_id, term, position])?;
            }
        }
    }
    Ok(())
}

/// A global memory outlives its session. When the session comes back from a backup, the memory exists already.
fn is_kept(connection: &Connection, row: &MemoryRowChange) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM memory_item WHERE id = ?1")?.exists([row.item.id.as_str()])
}

/// Loads the memory that a command names into the snapshot, if the session may name it.
pub(super) fn load(
    connection: &Connection,
    snapshot: &mut Snapshot,
    session_id: i64,
    memory: &MemoryId,
) -> Result<(), TransactionError> {
    let sql = "SELECT i.body, i.forgotten, c.session_id FROM memory_item i JOIN memory_scope c ON c.id = i.scope_id
               WHERE i.id = ?1";
    let rows = run(connection, &sql!(sql, memory.as_str()))?;
    let Some(row) = rows.first() else { return Ok(()) };
    if !may_name(session_id, row.get(2)?) {
        return Ok(());
    }
    let (id, record) = record(memory.as_str(), row.read(0, || format!("memory {memory}"))?, row.get(1)?)?;
    snapshot.memories.insert(id, record);
    Ok(())
}
