//! Vectors of memories, for the search by meaning.

use planwright_core::ids::MemoryId;
use planwright_core::memory::ScopeChain;
use planwright_core::memory::ranking::Place;
use planwright_engine::ledger::{LedgerError, LedgerResult, MemoryVector};
use tokio_postgres::{Error, Row};

use super::errors::describe;
use super::memory;
use super::readers::Readers;
use crate::memory_rows::VisibleScopes;
use crate::vectors::{from_bytes, to_bytes};

/// The newest items of every scope, each with its vector if it has one.
pub(super) async fn read(
    readers: &Readers,
    chain: &ScopeChain,
    model: &str,
    limit: u32,
) -> LedgerResult<Vec<MemoryVector>> {
    let visible = memory::visible(readers, chain).await?;
    let sql = "SELECT memory_item.id, scope_id, position, vector FROM memory_item
               LEFT JOIN memory_vector ON memory_vector.memory = memory_item.id AND memory_vector.model = $2
               WHERE scope_id = ANY($1::bigint[]) AND NOT forgotten ORDER BY number DESC LIMIT $3";
    let rows = readers.query(sql, &[&visible.ids(), &model, &i64::from(limit)]).await?;
    let mut found = Vec::new();
    for row in &rows {
        let VectorRow { id, place, bytes } =
            parts(row, &visible).map_err(|error| LedgerError::Internal(describe(&error)))?;
        let memory = MemoryId::new(id.clone()).map_err(|error| LedgerError::damaged(format!("memory {id}"), error))?;
        found.extend(place.map(|place| MemoryVector { place, memory, vector: bytes.and_then(|it| from_bytes(&it)) }));
    }
    Ok(found)
}

struct VectorRow {
    id: String,
    place: Option<Place>,
    bytes: Option<Vec<u8>>,
}

fn parts(row: &Row, visible: &VisibleScopes) -> Result<VectorRow, Error> {
    let scope = visible.place(row.try_get("scope_id")?);
    let position = row.try_get::<_, i64>("position")?.unsigned_abs();
    let place = scope.map(|scope| Place { scope, position });
    Ok(VectorRow { id: row.try_get("id")?, place, bytes: row.try_get("vector")? })
}

/// A memory that was deleted meanwhile gets none.
pub(super) async fn write(readers: &Readers, model: &str, vectors: &[(MemoryId, Vec<f32>)]) -> LedgerResult<()> {
    let sql = "INSERT INTO memory_vector (memory, model, vector)
               SELECT memory_item.id, $3, given.vector
               FROM UNNEST($1::text[], $2::bytea[]) AS given (memory, vector)
               JOIN memory_item ON memory_item.id = given.memory
               ON CONFLICT (memory, model) DO UPDATE SET vector = excluded.vector";
    let memories: Vec<&str> = vectors.iter().map(|(memory, _)| memory.as_str()).collect();
    let bytes: Vec<Vec<u8>> = vectors.iter().map(|(_, vector)| to_bytes(vector)).collect();
    let bytes: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    readers.write(sql, &[&memories, &bytes, &model]).await.map(drop)
}
