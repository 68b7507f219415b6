//! Memories, read through a chain of scopes, and their vectors for the search by meaning.

use async_trait::async_trait;
use planwright_core::ids::MemoryId;
use planwright_core::memory::ranking::{MemoryMatches, Place, Posting};
use planwright_core::memory::{MemoryItem, ScopeChain};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{FoundMemories, LedgerError, LedgerResult, MemoryStore, MemoryVector};

use crate::backend::{Backend, SqlLedger};
use crate::memory_rows::{GLOBAL, ScopeRow, VisibleScopes, item_from_text};
use crate::sql::{Row, Sql, Statement, Value, sql};
use crate::vectors::{from_bytes, to_bytes};

#[async_trait]
impl<B: Backend> MemoryStore for SqlLedger<B> {
    async fn memory_matches(&self, chain: &ScopeChain, lookups: &[String]) -> LedgerResult<MemoryMatches> {
        let visible = visible(&self.0, chain).await?;
        let mut matches = visible.matches();
        if visible.rows.is_empty() {
            return Ok(matches);
        }
        for row in self.0.query(sql!(postings::<B>(), visible.ids(), lookups.to_vec())).await? {
            let text: &str = row.get(1)?;
            let term = lookups.iter().position(|lookup| lookup == text);
            let (Some(scope), Some(term)) = (visible.place(row.get(0)?), term) else { continue };
            let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
            let place = Place { scope, position: row.get(2)? };
            let (frequency, length) = (small(row.get(3)?), small(row.get(4)?));
            matches.postings.push(Posting { place, term, frequency, length });
        }
        Ok(matches)
    }

    async fn memory_items(&self, chain: &ScopeChain, places: &[Place]) -> LedgerResult<FoundMemories> {
        let visible = visible(&self.0, chain).await?;
        let mut found = visible.items();
        let positions: Vec<i64> = places.iter().map(|place| place.position.cast_signed()).collect();
        for row in self.0.query(sql!(items::<B>(), visible.ids(), positions)).await? {
            let Some(place) = place(&row, &visible)?.filter(|place| places.contains(place)) else { continue };
            visible.add(&mut found, place, read_item(&row))?;
        }
        Ok(found)
    }

    async fn memories(&self, chain: &ScopeChain, before: Option<u64>, limit: u32) -> LedgerResult<FoundMemories> {
        let visible = visible(&self.0, chain).await?;
        let before = before.unwrap_or(u64::MAX);
        let statement = "SELECT scope_id, position, id, body, number FROM memory_item
                         WHERE scope_id = ?1 AND number < ?2 AND NOT forgotten ORDER BY position DESC LIMIT ?3";
        let rows = of_each_scope(&self.0, &visible, |scope| sql!(statement, scope, before, limit)).await?;
        let mut read = Vec::with_capacity(rows.len());
        for row in &rows {
            let Some(place) = place(row, &visible)? else { continue };
            read.push((row.get(4)?, place, read_item(row)));
        }
        visible.newest_first(read, limit)
    }

    async fn memories_named(&self, chain: &ScopeChain, piece: &str) -> LedgerResult<FoundMemories> {
        let visible = visible(&self.0, chain).await?;
        let mut found = visible.items();
        let statement = format!(
            "SELECT scope_id, position, id, body FROM memory_item WHERE scope_id = ?1 AND {} AND NOT forgotten LIMIT 2",
            B::contains("id", "?2")
        );
        for row in of_each_scope(&self.0, &visible, |scope| sql!(statement.clone(), scope, piece)).await? {
            let Some(place) = place(&row, &visible)? else { continue };
            visible.add(&mut found, place, read_item(&row))?;
        }
        Ok(found)
    }

    async fn memory_of(&self, session: &SessionIdentity, memory: &MemoryId) -> LedgerResult<Option<MemoryItem>> {
        let statement = "SELECT i.scope_id, i.position, i.id, i.body
                         FROM memory_item i JOIN memory_scope c ON c.id = i.scope_id LEFT JOIN session s ON s.id = c.session_id
                         WHERE i.id = ?1 AND NOT i.forgotten
                             AND (c.session_id = ?2 OR (s.channel = ?3 AND s.conversation = ?4))";
        let (channel, conversation) = (session.channel.as_str(), session.conversation.as_str());
        let rows = self.0.query(sql!(statement, memory.as_str(), GLOBAL, channel, conversation)).await?;
        rows.first().map(read_item).transpose()
    }

    async fn memory_vectors(&self, chain: &ScopeChain, model: &str, limit: u32) -> LedgerResult<Vec<MemoryVector>> {
        let visible = visible(&self.0, chain).await?;
        let statement = "SELECT scope_id, position, id, vector FROM memory_item
                         LEFT JOIN memory_vector ON memory_vector.memory = memory_item.id AND memory_vector.model = ?2
                         WHERE scope_id = ?1 AND NOT forgotten ORDER BY position DESC LIMIT ?3";
        let rows = of_each_scope(&self.0, &visible, |scope| sql!(statement, scope, model, limit)).await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let (place, id) = (place(row, &visible)?, row.get::<&str>(2)?);
            let memory = MemoryId::new(id).map_err(|error| LedgerError::damaged(format!("memory {id}"), error))?;
            let vector = row.get::<Option<&[u8]>>(3)?.and_then(from_bytes);
            found.extend(place.map(|place| MemoryVector { place, memory, vector }));
        }
        Ok(found)
    }

    async fn keep_vectors(&self, model: &str, vectors: &[(MemoryId, Vec<f32>)]) -> LedgerResult<()> {
        // A memory that was deleted meanwhile gets none.
        let statement = "INSERT INTO memory_vector (memory, model, vector)
                         SELECT id, CAST(?2 AS text), ?3 FROM memory_item WHERE id = ?1
                         ON CONFLICT (memory, model) DO UPDATE SET vector = excluded.vector";
        let keep = |(memory, vector): &(MemoryId, Vec<f32>)| {
            sql!(statement, memory.as_str(), model, Value::Bytes(to_bytes(vector)))
        };
        self.0.write_all(vectors.iter().map(keep).collect()).await.map(drop)
    }
}

/// The scopes of a chain, each with its session.
fn scopes<B: Sql>() -> String {
    format!(
        "SELECT memory_scope.id, memory_scope.scope, memory_scope.session_id, memory_scope.items, memory_scope.words,
             session.channel || ':' || session.conversation
         FROM memory_scope LEFT JOIN session ON session.id = memory_scope.session_id WHERE memory_scope.scope {}",
        B::any("?1")
    )
}

/// What the index says about terms in scopes.
fn postings<B: Sql>() -> String {
    let (scopes, terms) = (B::any("?1"), B::any("?2"));
    format!(
        "SELECT scope_id, term, position, frequency, length FROM memory_posting WHERE scope_id {scopes} AND term {terms}"
    )
}

/// The items at positions of scopes.
fn items<B: Sql>() -> String {
    let (scopes, positions) = (B::any("?1"), B::any("?2"));
    format!(
        "SELECT scope_id, position, id, body FROM memory_item
         WHERE scope_id {scopes} AND position {positions} AND NOT forgotten"
    )
}

async fn visible<B: Sql>(sql: &B, chain: &ScopeChain) -> LedgerResult<VisibleScopes> {
    let names: Vec<String> = chain.scopes().iter().map(ToString::to_string).collect();
    let rows = sql.lookup(sql!(scopes::<B>(), names)).await?;
    let scope = |row: &Row| {
        Ok(ScopeRow {
            id: row.get(0)?,
            scope: row.get(1)?,
            session_id: row.get(2)?,
            items: row.get(3)?,
            words: row.get(4)?,
            session: row.get(5)?,
        })
    };
    Ok(VisibleScopes::of(chain, rows.iter().map(scope).collect::<LedgerResult<_>>()?))
}

/// The rows that a statement finds in each of the scopes.
async fn of_each_scope<B: Sql>(
    sql: &B,
    visible: &VisibleScopes,
    statement: impl Fn(i64) -> Statement + Send,
) -> LedgerResult<Vec<Row>> {
    let statements: Vec<_> = visible.ids().into_iter().map(statement).collect();
    if statements.is_empty() {
        return Ok(Vec::new());
    }
    Ok(sql.query_all(statements).await?.into_iter().flatten().collect())
}

/// Where in the chain an item is, by the first two columns of its row.
fn place(row: &Row, visible: &VisibleScopes) -> LedgerResult<Option<Place>> {
    let position = row.get(1)?;
    Ok(visible.place(row.get(0)?).map(|scope| Place { scope, position }))
}

/// An item, by the two columns behind its place.
fn read_item(row: &Row) -> LedgerResult<MemoryItem> {
    let id: &str = row.read(2, || "a memory".to_owned())?;
    item_from_text(id, row.read(3, || format!("memory {id}"))?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]
mod tests {
    use super::*;
    use crate::sqlite::{Sqlite, connection};

    /// A search reads rows of its own scopes by their keys, so what other sessions remember does not make it slower.
    #[test]
    fn a_search_reads_only_rows_of_its_own_scopes() {
        let folder = tempfile::tempdir().unwrap();
        let connection = connection::open(&folder.path().join("planwright.db")).unwrap();
        for (sql, values, search) in [
            (scopes::<Sqlite>(), 1, "SEARCH memory_scope USING INDEX sqlite_autoindex_memory_scope_1 (scope=?)"),
            (postings::<Sqlite>(), 2, "SEARCH memory_posting USING PRIMARY KEY (scope_id=? AND term=?)"),
            (
                items::<Sqlite>(),
                2,
                "SEARCH memory_item USING INDEX sqlite_autoindex_memory_item_2 (scope_id=? AND position=?)",
            ),
        ] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps =
                statement.query_map(rusqlite::params_from_iter(vec!["[1]"; values]), |row| row.get::<_, String>(3));
            let steps: Vec<_> = steps.unwrap().map(Result::unwrap).collect();
            assert_eq!(steps[0], search, "{steps:#?}");
            // The lists of keys are no tables.
            let mut steps = steps.iter().filter(|step| !step.starts_with("SCAN json_each "));
            assert!(steps.all(|step| !step.starts_with("SCAN")), "{sql}");
        }
    }
}
