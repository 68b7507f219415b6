//! Memories: written with the entry that says so, and read through a chain of scopes.

use planwright_core::ids::MemoryId;
use planwright_core::memory::ScopeChain;
use planwright_core::memory::ranking::{MemoryMatches, Place, Posting};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{FoundMemories, LedgerResult};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::TransactionError;
use super::rows::text;
use crate::memory_rows::{
    MemoryRowChange, RowChange, ScopeRow, VisibleScopes, item_from_text, item_to_text, may_name, record,
};

/// The scopes of one name, each with its session.
const SCOPES: &str = "SELECT c.id, c.scope, c.session_id, s.channel || ':' || s.conversation, c.items, c.words
    FROM memory_scope c LEFT JOIN session s ON s.id = c.session_id WHERE c.scope = ?1";
const POSTINGS: &str = "SELECT position, frequency, length FROM memory_posting WHERE scope_id = ?1 AND term = ?2";
const ITEM: &str = "SELECT id, body FROM memory_item WHERE scope_id = ?1 AND position = ?2 AND NOT forgotten";

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
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([memory.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(()) };
    if !may_name(session_id, row.get(2)?) {
        return Ok(());
    }
    let (id, record) = record(memory.as_str(), &text(row, 0, || format!("memory {memory}"))?, row.get(1)?)?;
    snapshot.memories.insert(id, record);
    Ok(())
}

pub(super) fn visible(connection: &Connection, chain: &ScopeChain) -> Result<VisibleScopes, TransactionError> {
    let mut statement = connection.prepare_cached(SCOPES)?;
    let mut found = Vec::new();
    for scope in chain.scopes() {
        let read = |row: &Row<'_>| {
            Ok(ScopeRow {
                id: row.get(0)?,
                scope: row.get(1)?,
                session_id: row.get(2)?,
                session: row.get(3)?,
                items: row.get(4)?,
                words: row.get(5)?,
            })
        };
        let rows = statement.query_map([scope.to_string()], read)?;
        found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(VisibleScopes::of(chain, found))
}

pub(super) fn matches(
    connection: &Connection,
    chain: &ScopeChain,
    lookups: &[String],
) -> Result<MemoryMatches, TransactionError> {
    let visible = visible(connection, chain)?;
    let mut matches = visible.matches();
    let mut statement = connection.prepare_cached(POSTINGS)?;
    for (scope, row_id) in &visible.rows {
        for (term, text) in lookups.iter().enumerate() {
            let mut rows = statement.query(params![row_id, text])?;
            while let Some(row) = rows.next()? {
                let place = Place { scope: *scope, position: row.get::<_, i64>(0)?.unsigned_abs() };
                matches.postings.push(Posting { place, term, frequency: row.get(1)?, length: row.get(2)? });
            }
        }
    }
    Ok(matches)
}

pub(super) fn items(
    connection: &Connection,
    chain: &ScopeChain,
    places: &[Place],
) -> Result<FoundMemories, TransactionError> {
    let visible = visible(connection, chain)?;
    let mut found = visible.items();
    let mut statement = connection.prepare_cached(ITEM)?;
    for place in places {
        let Some(row_id) = visible.rows.get(&place.scope) else { continue };
        let mut rows = statement.query(params![row_id, place.position as i64])?;
        if let Some(row) = rows.next()? {
            visible.add(&mut found, *place, read_item(row, 0))?;
        }
    }
    Ok(found)
}

fn read_item(row: &Row<'_>, index: usize) -> LedgerResult<planwright_core::memory::MemoryItem> {
    let id = text(row, index, || "a memory".to_owned())?;
    let body = text(row, index + 1, || format!("memory {id}"))?;
    item_from_text(&id, &body)
}

/// The newest first. `before` is the number of the last one of the page before.
pub(super) fn list(
    connection: &Connection,
    chain: &ScopeChain,
    before: Option<u64>,
    limit: u32,
) -> Result<FoundMemories, TransactionError> {
    let sql = "SELECT id, body, position, number FROM memory_item
               WHERE scope_id = ?1 AND number < ?2 AND NOT forgotten ORDER BY position DESC LIMIT ?3";
    let visible = visible(connection, chain)?;
    let before = before.map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
    let mut statement = connection.prepare_cached(sql)?;
    let mut read = Vec::new();
    for (scope, row_id) in &visible.rows {
        let mut rows = statement.query(params![row_id, before, limit])?;
        while let Some(row) = rows.next()? {
            let place = Place { scope: *scope, position: row.get::<_, i64>(2)?.unsigned_abs() };
            read.push((row.get::<_, i64>(3)?, place, read_item(row, 0)));
        }
    }
    visible.newest_first(read, limit).map_err(TransactionError::from)
}

/// The memories whose id has this piece; two are enough to know that it is not unique.
pub(super) fn named(
    connection: &Connection,
    chain: &ScopeChain,
    piece: &str,
) -> Result<FoundMemories, TransactionError> {
    let visible = visible(connection, chain)?;
    let mut found = visible.items();
    let sql = "SELECT id, body, position FROM memory_item WHERE scope_id = ?1 AND instr(id, ?2) > 0 AND NOT forgotten LIMIT 2";
    let mut statement = connection.prepare_cached(sql)?;
    for (scope, row_id) in &visible.rows {
        let mut rows = statement.query(params![row_id, piece])?;
        while let Some(row) = rows.next()? {
            let place = Place { scope: *scope, position: row.get::<_, i64>(2)?.unsigned_abs() };
            visible.add(&mut found, place, read_item(row, 0))?;
        }
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]
mod tests {
    use super::*;
    use crate::sqlite::connection;

    /// A search reads rows of its own scopes by their keys, so what other sessions remember does not make it slower.
    #[test]
    fn a_search_reads_only_rows_of_its_own_scopes() {
        let folder = tempfile::tempdir().unwrap();
        let connection = connection::open(&folder.path().join("planwright.db")).unwrap();
        for (sql, values, search) in [
            (SCOPES, 1, "SEARCH c USING INDEX sqlite_autoindex_memory_scope_1 (scope=?)"),
            (POSTINGS, 2, "SEARCH memory_posting USING PRIMARY KEY (scope_id=? AND term=?)"),
            (ITEM, 2, "SEARCH memory_item USING INDEX sqlite_autoindex_memory_item_2 (scope_id=? AND position=?)"),
        ] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps =
                statement.query_map(rusqlite::params_from_iter(vec!["1"; values]), |row| row.get::<_, String>(3));
            let steps: Vec<_> = steps.unwrap().map(Result::unwrap).collect();
            assert_eq!(steps[0], search, "{steps:#?}");
            assert!(steps.iter().all(|step| !step.starts_with("SCAN")), "{steps:#?}");
        }
    }
}
