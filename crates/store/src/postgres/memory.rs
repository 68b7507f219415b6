//! Memories, read through a chain of scopes.

use planwright_core::memory::ranking::{MemoryMatches, Place, Posting};
use planwright_core::memory::{MemoryItem, ScopeChain};
use planwright_engine::ledger::{FoundMemories, LedgerError, LedgerResult};
use tokio_postgres::{Error, Row};

use super::errors::describe;
use super::readers::Readers;
use crate::memory_rows::{ScopeRow, VisibleScopes, item_from_text};

pub(super) async fn visible(readers: &Readers, chain: &ScopeChain) -> LedgerResult<VisibleScopes> {
    let sql = "SELECT memory_scope.id, memory_scope.scope, memory_scope.session_id, memory_scope.items,
                   memory_scope.words, session.channel || ':' || session.conversation AS session
               FROM memory_scope LEFT JOIN session ON session.id = memory_scope.session_id
               WHERE memory_scope.scope = ANY($1::text[])";
    let scopes: Vec<String> = chain.scopes().iter().map(ToString::to_string).collect();
    let rows = readers.query(sql, &[&scopes]).await?;
    let read = |row: &Row| -> Result<ScopeRow, Error> {
        Ok(ScopeRow {
            id: row.try_get("id")?,
            scope: row.try_get("scope")?,
            session_id: row.try_get("session_id")?,
            session: row.try_get("session")?,
            items: row.try_get("items")?,
            words: row.try_get("words")?,
        })
    };
    let rows = rows.iter().map(read).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    Ok(VisibleScopes::of(chain, rows))
}

fn unreadable(error: Error) -> LedgerError {
    LedgerError::Internal(describe(&error))
}

pub(super) async fn matches(readers: &Readers, chain: &ScopeChain, lookups: &[String]) -> LedgerResult<MemoryMatches> {
    let visible = visible(readers, chain).await?;
    let mut matches = visible.matches();
    if visible.rows.is_empty() {
        return Ok(matches);
    }
    let sql = "SELECT scope_id, term, position, frequency, length FROM memory_posting
               WHERE scope_id = ANY($1::bigint[]) AND term = ANY($2::text[])";
    let rows = readers.query(sql, &[&visible.ids(), &lookups.to_vec()]).await?;
    for row in &rows {
        if let Some(posting) = posting(row, &visible, lookups).map_err(unreadable)? {
            matches.postings.push(posting);
        }
    }
    Ok(matches)
}

fn posting(row: &Row, visible: &VisibleScopes, lookups: &[String]) -> Result<Option<Posting>, Error> {
    let text: &str = row.try_get("term")?;
    let term = lookups.iter().position(|lookup| lookup == text);
    let (Some(scope), Some(term)) = (visible.place(row.try_get("scope_id")?), term) else { return Ok(None) };
    let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    let place = Place { scope, position: row.try_get::<_, i64>("position")?.unsigned_abs() };
    let (frequency, length) = (small(row.try_get("frequency")?), small(row.try_get("length")?));
    Ok(Some(Posting { place, term, frequency, length }))
}

pub(super) async fn items(readers: &Readers, chain: &ScopeChain, places: &[Place]) -> LedgerResult<FoundMemories> {
    let visible = visible(readers, chain).await?;
    let wanted = places.iter().filter_map(|place| Some((*visible.rows.get(&place.scope)?, place.position as i64)));
    let (scopes, positions): (Vec<i64>, Vec<i64>) = wanted.unzip();
    let sql = "SELECT id, body, scope_id, position, number FROM memory_item
               WHERE (scope_id, position) IN (SELECT * FROM UNNEST($1::bigint[], $2::bigint[])) AND NOT forgotten";
    let rows = readers.query(sql, &[&scopes, &positions]).await?;
    let mut found = visible.items();
    for (_, place, item) in read(&rows, &visible)? {
        visible.add(&mut found, place, item)?;
    }
    Ok(found)
}

type NumberedItem = (i64, Place, LedgerResult<MemoryItem>);

fn read(rows: &[Row], visible: &VisibleScopes) -> LedgerResult<Vec<NumberedItem>> {
    let read = |row: &Row| -> Result<Option<NumberedItem>, Error> {
        let Some(scope) = visible.place(row.try_get("scope_id")?) else { return Ok(None) };
        let place = Place { scope, position: row.try_get::<_, i64>("position")?.unsigned_abs() };
        let item = item_from_text(row.try_get("id")?, row.try_get("body")?);
        Ok(Some((row.try_get("number")?, place, item)))
    };
    let read = rows.iter().filter_map(|row| read(row).transpose());
    read.collect::<Result<Vec<_>, _>>().map_err(unreadable)
}

/// The newest first. `before` is the `next` of the page before.
pub(super) async fn list(
    readers: &Readers,
    chain: &ScopeChain,
    before: Option<u64>,
    limit: u32,
) -> LedgerResult<FoundMemories> {
    let visible = visible(readers, chain).await?;
    let before = before.map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
    let sql = "SELECT id, body, scope_id, position, number FROM memory_item
               WHERE scope_id = ANY($1::bigint[]) AND number < $2 AND NOT forgotten ORDER BY number DESC LIMIT $3";
    let rows = readers.query(sql, &[&visible.ids(), &before, &i64::from(limit)]).await?;
    visible.newest_first(read(&rows, &visible)?, limit)
}

/// The memories whose id has this piece; two are enough to know that it is not unique.
pub(super) async fn named(readers: &Readers, chain: &ScopeChain, piece: &str) -> LedgerResult<FoundMemories> {
    let visible = visible(readers, chain).await?;
    let sql = "SELECT id, body, scope_id, position, number FROM memory_item
               WHERE scope_id = ANY($1::bigint[]) AND strpos(id, $2) > 0 AND NOT forgotten LIMIT 2";
    let rows = readers.query(sql, &[&visible.ids(), &piece]).await?;
    let mut found = visible.items();
    for (_, place, item) in read(&rows, &visible)? {
        visible.add(&mut found, place, item)?;
    }
    Ok(found)
}
