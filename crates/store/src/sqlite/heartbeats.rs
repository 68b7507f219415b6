//! Heartbeats of processes.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::TransactionError;
use crate::heartbeats::{KEYS, body, key, oldest, read};

pub(super) fn note(connection: &Connection, owner: &str, now: Timestamp) -> Result<(), TransactionError> {
    let sql = "INSERT INTO chat_record (key, revision, body) VALUES (?1, 1, ?2)
               ON CONFLICT (key) DO UPDATE SET revision = revision + 1, body = excluded.body";
    connection.prepare_cached(sql)?.execute(params![key(owner), body(now)])?;
    let sql = "DELETE FROM chat_record WHERE key >= ?1 AND key < ?2 AND body < ?3";
    connection.prepare_cached(sql)?.execute(params![KEYS[0], KEYS[1], oldest(now)])?;
    Ok(())
}

pub(super) fn last(connection: &Connection, owner: &str) -> Result<Option<Timestamp>, TransactionError> {
    let sql = "SELECT body FROM chat_record WHERE key = ?1";
    let found = connection.prepare_cached(sql)?.query_row([key(owner)], |row| row.get::<_, String>(0)).optional()?;
    Ok(found.and_then(|found| read(&found)))
}
