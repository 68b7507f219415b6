//! Updates of chat services, and small records about chats.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::session::SessionIdentity;
use planwright_engine::chat_updates::{ChatRecord, ChatUpdates, PendingUpdate, Poller, ReceivedUpdate};
use planwright_engine::ledger::LedgerResult;
use planwright_engine::outbox::NewMessage;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::writer::WriterState;
use super::{SqliteLedger, TransactionError, outbox};
use crate::encode;
use crate::outbox_rows::{after_prefix, pending};

#[async_trait]
impl ChatUpdates for SqliteLedger {
    async fn acquire_poller(
        &self,
        bot: &str,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
    ) -> LedgerResult<Option<Poller>> {
        let (bot, owner, now) = (bot.to_owned(), owner.to_owned(), now.as_microsecond());
        let until = now.saturating_add(i64::try_from(ttl.as_micros()).unwrap_or(i64::MAX));
        let write = move |state: &mut WriterState| {
            let sql = "INSERT INTO chat_poller (bot, owner, fence, expires_at, next_update, received_at)
                       VALUES (?1, ?2, 1, ?4, 0, ?3)
                       ON CONFLICT (bot) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at,
                           fence = fence + (owner <> excluded.owner)
                       WHERE owner = excluded.owner OR expires_at <= ?3
                       RETURNING fence, next_update, received_at";
            let mut statement = state.connection.prepare_cached(sql)?;
            let row = statement.query_row(params![bot, owner, now, until], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            });
            let Some((fence, next_update, received_at)) = row.optional()? else { return Ok(None) };
            let received_at = encode::timestamp(|| format!("the poller of {bot}"), received_at)?;
            let (bot, owner) = (bot.clone(), owner.clone());
            Ok(Some(Poller { bot, owner, fence: fence.unsigned_abs(), next_update, received_at }))
        };
        self.writer.ask(write).await
    }

    async fn release_poller(&self, poller: &Poller) -> LedgerResult<()> {
        let poller = poller.clone();
        let write = move |state: &mut WriterState| {
            let sql = "UPDATE chat_poller SET expires_at = 0 WHERE bot = ?1 AND owner = ?2 AND fence = ?3";
            let values = params![poller.bot, poller.owner, poller.fence.cast_signed()];
            state.connection.prepare_cached(sql)?.execute(values)?;
            Ok(())
        };
        self.writer.ask(write).await
    }

    async fn receive_updates(
        &self,
        poller: &Poller,
        updates: &[ReceivedUpdate],
        next_update: i64,
        now: Timestamp,
    ) -> LedgerResult<bool> {
        let (poller, updates) = (poller.clone(), updates.to_vec());
        let write = move |state: &mut WriterState| {
            let sql = "UPDATE chat_poller SET next_update = ?4, received_at = ?5
                       WHERE bot = ?1 AND owner = ?2 AND fence = ?3";
            let (fence, now) = (poller.fence.cast_signed(), now.as_microsecond());
            let values = params![poller.bot, poller.owner, fence, next_update, now];
            if state.connection.prepare_cached(sql)?.execute(values)? == 0 {
                return Ok(false);
            }
            store(&state.connection, &poller.bot, &updates)?;
            Ok(true)
        };
        self.writer.ask(write).await
    }

    async fn receive_pushed(&self, bot: &str, updates: &[ReceivedUpdate]) -> LedgerResult<Vec<i64>> {
        let (bot, updates) = (bot.to_owned(), updates.to_vec());
        self.writer.ask(move |state: &mut WriterState| store(&state.connection, &bot, &updates)).await
    }

    async fn pending_updates(&self, bot: &str, after: i64, limit: u32) -> LedgerResult<Vec<PendingUpdate>> {
        let bot = bot.to_owned();
        let query = move |connection: &Connection| {
            let sql = "SELECT id, body, session FROM chat_update
                       WHERE bot = ?1 AND id > ?2 AND done_at IS NULL ORDER BY id LIMIT ?3";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement
                .query_map(params![bot, after, limit], |row| Ok(pending(row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        };
        self.readers.read(query).await
    }

    async fn assign_update(&self, bot: &str, id: i64, session: &SessionIdentity) -> LedgerResult<()> {
        let (bot, session) = (bot.to_owned(), session.to_string());
        let write = move |state: &mut WriterState| {
            let sql = "UPDATE chat_update SET session = ?3 WHERE bot = ?1 AND id = ?2 AND done_at IS NULL";
            state.connection.prepare_cached(sql)?.execute(params![bot, id, session])?;
            Ok(())
        };
        self.writer.ask(write).await
    }

    async fn finish_update(&self, bot: &str, id: i64, messages: &[NewMessage], now: Timestamp) -> LedgerResult<()> {
        let (bot, messages) = (bot.to_owned(), messages.to_vec());
        let write = move |state: &mut WriterState| {
            let sql = "UPDATE chat_update SET done_at = ?3, body = '' WHERE bot = ?1 AND id = ?2 AND done_at IS NULL";
            let done = state.connection.prepare_cached(sql)?.execute(params![bot, id, now.as_microsecond()])?;
            if done == 1 {
                outbox::put(&state.connection, &messages, now)?;
            }
            Ok(())
        };
        self.writer.ask(write).await
    }

    async fn forget_updates(&self, before: Timestamp) -> LedgerResult<()> {
        let write = move |state: &mut WriterState| {
            let sql = "DELETE FROM chat_update WHERE done_at < ?1";
            state.connection.prepare_cached(sql)?.execute([before.as_microsecond()])?;
            Ok(())
        };
        self.writer.ask(write).await
    }

    async fn chat_record(&self, key: &str) -> LedgerResult<Option<ChatRecord>> {
        let key = key.to_owned();
        let query = move |connection: &Connection| {
            let sql = "SELECT revision, body FROM chat_record WHERE key = ?1";
            Ok(connection.prepare_cached(sql)?.query_row([&key], |row| record(row, 0)).optional()?)
        };
        self.readers.read_inline(query).await
    }

    async fn put_chat_record(&self, key: &str, expected: u64, body: &str) -> LedgerResult<bool> {
        let (key, body, expected) = (key.to_owned(), body.to_owned(), expected.cast_signed());
        let write = move |state: &mut WriterState| {
            let sql = match expected {
                0 => {
                    "INSERT INTO chat_record (key, revision, body) VALUES (?1, ?2 + 1, ?3) ON CONFLICT (key) DO NOTHING"
                }
                _ => "UPDATE chat_record SET revision = revision + 1, body = ?3 WHERE key = ?1 AND revision = ?2",
            };
            Ok(state.connection.prepare_cached(sql)?.execute(params![key, expected, body])? == 1)
        };
        self.writer.ask(write).await
    }

    async fn chat_records(&self, prefix: &str, limit: u32) -> LedgerResult<Vec<(String, ChatRecord)>> {
        let (first, end) = (prefix.to_owned(), after_prefix(prefix));
        let query = move |connection: &Connection| {
            let sql = "SELECT key, revision, body FROM chat_record WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![first, end, limit], |row| Ok((row.get(0)?, record(row, 1)?)))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        };
        self.readers.read(query).await
    }

    async fn remove_chat_record(&self, key: &str) -> LedgerResult<()> {
        let key = key.to_owned();
        let write = move |state: &mut WriterState| {
            state.connection.prepare_cached("DELETE FROM chat_record WHERE key = ?1")?.execute([&key])?;
            Ok(())
        };
        self.writer.ask(write).await
    }
}

/// Stores updates that are not known. Returns their ids.
fn store(connection: &Connection, bot: &str, updates: &[ReceivedUpdate]) -> Result<Vec<i64>, TransactionError> {
    let sql = "INSERT INTO chat_update (bot, id, body) VALUES (?1, ?2, ?3) ON CONFLICT (bot, id) DO NOTHING";
    let mut statement = connection.prepare_cached(sql)?;
    let mut new = Vec::new();
    for update in updates {
        if statement.execute(params![bot, update.id, update.body])? == 1 {
            new.push(update.id);
        }
    }
    Ok(new)
}

fn record(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<ChatRecord> {
    Ok(ChatRecord { revision: row.get::<_, i64>(first)?.unsigned_abs(), body: row.get(first + 1)? })
}
