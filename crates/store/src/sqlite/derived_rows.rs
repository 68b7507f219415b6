//! The rows of a session that follow from its journal.

use planwright_core::ids::MemoryId;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::DerivedRows;
use rusqlite::{Connection, Row};

use super::rows::session_id;
use super::{TransactionError, auto};
use crate::derived_rows::{ItemRead, RowsRead};

pub(super) fn read(
    connection: &Connection,
    session: &SessionIdentity,
    promoted: &[MemoryId],
) -> Result<DerivedRows, TransactionError> {
    let Some(id) = session_id(connection, session)? else { return Ok(DerivedRows::default()) };
    let mut read = RowsRead { runs: auto::read(connection, id)?, ..RowsRead::default() };
    let sql = "SELECT id, scope, items, words FROM memory_scope WHERE session_id = ?1";
    let scope = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    read.scopes = connection.prepare_cached(sql)?.query_map([id], scope)?.collect::<Result<_, _>>()?;
    let sql = "SELECT i.id, i.body, i.forgotten, i.scope_id, i.position
               FROM memory_item i JOIN memory_scope c ON c.id = i.scope_id WHERE c.session_id = ?1";
    read.items = connection.prepare_cached(sql)?.query_map([id], item)?.collect::<Result<_, _>>()?;
    let sql = "SELECT p.scope_id, p.position, p.term, p.frequency
               FROM memory_posting p JOIN memory_scope c ON c.id = p.scope_id WHERE c.session_id = ?1";
    let posting = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    read.postings = connection.prepare_cached(sql)?.query_map([id], posting)?.collect::<Result<_, _>>()?;
    let sql = "SELECT id, body, forgotten, scope_id, position FROM memory_item WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    for copy in promoted {
        let found = statement.query_map([copy.as_str()], item)?.collect::<Result<Vec<_>, _>>()?;
        read.copies.extend(found);
    }
    Ok(read.put_together(session)?)
}

fn item(row: &Row<'_>) -> rusqlite::Result<ItemRead> {
    Ok(ItemRead { id: row.get(0)?, body: row.get(1)?, forgotten: row.get(2)?, place: (row.get(3)?, row.get(4)?) })
}
