//! Heartbeats of processes.

use jiff::Timestamp;
use planwright_engine::ledger::LedgerResult;

use super::readers::{Readers, get};
use crate::heartbeats::{KEYS, body, key, oldest, read};

pub(super) async fn note(readers: &Readers, owner: &str, now: Timestamp) -> LedgerResult<()> {
    let sql = "INSERT INTO chat_record AS known (key, revision, body) VALUES ($1, 1, $2)
               ON CONFLICT (key) DO UPDATE SET revision = known.revision + 1, body = excluded.body";
    readers.write(sql, &[&key(owner), &body(now)]).await?;
    // Keys and bodies are compared byte by byte, whatever the database's language is.
    let sql = "DELETE FROM chat_record
               WHERE key COLLATE \"C\" >= $1 AND key COLLATE \"C\" < $2 AND body COLLATE \"C\" < $3";
    readers.write(sql, &[&KEYS[0], &KEYS[1], &oldest(now)]).await?;
    Ok(())
}

pub(super) async fn last(readers: &Readers, owner: &str) -> LedgerResult<Option<Timestamp>> {
    let found = readers.query("SELECT body FROM chat_record WHERE key = $1", &[&key(owner)]).await?;
    let body = found.first().map(|row| get::<String>(row, 0)).transpose()?;
    Ok(body.and_then(|body| read(&body)))
}
