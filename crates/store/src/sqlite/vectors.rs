//! Vectors of memories, for the search by meaning.

use planwright_core::ids::MemoryId;
use planwright_core::memory::ScopeChain;
use planwright_core::memory::ranking::Place;
use planwright_engine::ledger::{LedgerError, MemoryVector};
use rusqlite::{Connection, params};

use super::{TransactionError, memory};
use crate::vectors::{from_bytes, to_bytes};

/// The newest items of every scope, each with its vector if it has one.
pub(super) fn read(
    connection: &Connection,
    chain: &ScopeChain,
    model: &str,
    limit: u32,
) -> Result<Vec<MemoryVector>, TransactionError> {
    let sql = "SELECT i.id, i.position, v.vector FROM memory_item i
               LEFT JOIN memory_vector v ON v.memory = i.id AND v.model = ?2
               WHERE i.scope_id = ?1 AND NOT i.forgotten ORDER BY i.position DESC LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = Vec::new();
    for (scope, row_id) in &memory::visible(connection, chain)?.rows {
        let mut rows = statement.query(params![row_id, model, limit])?;
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            let memory =
                MemoryId::new(id.clone()).map_err(|error| LedgerError::damaged(format!("memory {id}"), error))?;
            let place = Place { scope: *scope, position: row.get::<_, i64>(1)?.unsigned_abs() };
            let vector = row.get::<_, Option<Vec<u8>>>(2)?.and_then(|bytes| from_bytes(&bytes));
            found.push(MemoryVector { place, memory, vector });
        }
    }
    Ok(found)
}

/// A memory that was deleted meanwhile gets none.
pub(super) fn write(
    connection: &Connection,
    model: &str,
    vectors: &[(MemoryId, Vec<f32>)],
) -> Result<(), TransactionError> {
    let sql = "INSERT OR REPLACE INTO memory_vector (memory, model, vector)
               SELECT id, ?2, ?3 FROM memory_item WHERE id = ?1";
    let mut insert = connection.prepare_cached(sql)?;
    for (memory, vector) in vectors {
        insert.execute(params![memory.as_str(), model, to_bytes(vector)])?;
    }
    Ok(())
}
