//! The rows of a session that follow from its journal.

use planwright_core::ids::MemoryId;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{DerivedRows, LedgerError, LedgerResult, RunsRow};
use tokio_postgres::{Error, Row};

use super::errors::describe;
use super::readers::Readers;
use crate::derived_rows::{ItemRead, RowsRead};

pub(super) async fn read(
    readers: &Readers,
    session: &SessionIdentity,
    promoted: &[MemoryId],
) -> LedgerResult<DerivedRows> {
    let sql = "SELECT id FROM session WHERE conversation = $1 AND channel = $2";
    let found = readers.query(sql, &[&session.conversation.as_str(), &session.channel.as_str()]).await?;
    let Some(row) = found.first() else { return Ok(DerivedRows::default()) };
    let id: i64 = row.try_get(0).map_err(unreadable)?;
    let runs = readers.query("SELECT due_at, running, waits FROM auto_session WHERE session_id = $1", &[&id]).await?;
    let scopes =
        readers.query("SELECT id, scope, items, words FROM memory_scope WHERE session_id = $1", &[&id]).await?;
    let sql = "SELECT memory_item.id, body, forgotten, scope_id, position
               FROM memory_item JOIN memory_scope ON memory_scope.id = scope_id WHERE session_id = $1";
    let items = readers.query(sql, &[&id]).await?;
    let sql = "SELECT scope_id, position, term, frequency
               FROM memory_posting JOIN memory_scope ON memory_scope.id = scope_id WHERE session_id = $1";
    let postings = readers.query(sql, &[&id]).await?;
    let sql = "SELECT id, body, forgotten, scope_id, position FROM memory_item WHERE id = ANY($1::text[])";
    let promoted: Vec<&str> = promoted.iter().map(MemoryId::as_str).collect();
    let copies = readers.query(sql, &[&promoted]).await?;
    let read = || -> Result<RowsRead, Error> {
        Ok(RowsRead {
            scopes: scopes.iter().map(four).collect::<Result<_, _>>()?,
            items: items.iter().map(item).collect::<Result<_, _>>()?,
            postings: postings.iter().map(posting).collect::<Result<_, _>>()?,
            copies: copies.iter().map(item).collect::<Result<_, _>>()?,
            runs: runs.first().map(runs_row).transpose()?.unwrap_or_default(),
        })
    };
    read().map_err(unreadable)?.put_together(session)
}

fn four(row: &Row) -> Result<(i64, String, i64, i64), Error> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?))
}

fn posting(row: &Row) -> Result<(i64, i64, String, i64), Error> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?))
}

fn item(row: &Row) -> Result<ItemRead, Error> {
    let place = (row.try_get(3)?, row.try_get(4)?);
    Ok(ItemRead { id: row.try_get(0)?, body: row.try_get(1)?, forgotten: row.try_get(2)?, place })
}

fn runs_row(row: &Row) -> Result<RunsRow, Error> {
    Ok(RunsRow { due_at: row.try_get(0)?, running: row.try_get(1)?, waits: row.try_get(2)? })
}

fn unreadable(error: Error) -> LedgerError {
    LedgerError::Internal(describe(&error))
}
