//! Updates of chat services, and small records that are found by their keys.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::session::SessionIdentity;
use planwright_engine::chat_updates::{ChatUpdates, KeyedRecord, PendingUpdate, Poller, ReceivedUpdate};
use planwright_engine::ledger::LedgerResult;
use planwright_engine::outbox::NewMessage;

use crate::backend::{Backend, SqlLedger};
use crate::server::micros;
use crate::sql::{Row, Statement, sql};
use crate::{encode, outbox};

#[async_trait]
impl<B: Backend> ChatUpdates for SqlLedger<B> {
    async fn acquire_poller(
        &self,
        bot: &str,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
    ) -> LedgerResult<Option<Poller>> {
        let now = now.as_microsecond();
        let statement = "INSERT INTO chat_poller (bot, owner, fence, expires_at, next_update, received_at)
                         VALUES (?1, ?2, 1, ?4, 0, ?3)
                         ON CONFLICT (bot) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at,
                             fence = chat_poller.fence + CASE WHEN chat_poller.owner = excluded.owner THEN 0 ELSE 1 END
                         WHERE chat_poller.owner = excluded.owner OR chat_poller.expires_at <= ?3
                         RETURNING fence, next_update, received_at";
        let rows = self.0.write(sql!(statement, bot, owner, now, now.saturating_add(micros(ttl)))).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let received_at = encode::timestamp(|| format!("the poller of {bot}"), row.get(2)?)?;
        let (bot, owner) = (bot.to_owned(), owner.to_owned());
        Ok(Some(Poller { bot, owner, fence: row.get(0)?, next_update: row.get(1)?, received_at }))
    }

    async fn release_poller(&self, poller: &Poller) -> LedgerResult<()> {
        let statement = "UPDATE chat_poller SET expires_at = 0 WHERE bot = ?1 AND owner = ?2 AND fence = ?3";
        self.0.write(sql!(statement, &poller.bot, &poller.owner, poller.fence)).await.map(drop)
    }

    async fn receive_updates(
        &self,
        poller: &Poller,
        updates: &[ReceivedUpdate],
        next_update: i64,
        now: Timestamp,
    ) -> LedgerResult<bool> {
        let statement = "UPDATE chat_poller SET next_update = ?4, received_at = ?5
                         WHERE bot = ?1 AND owner = ?2 AND fence = ?3 RETURNING bot";
        let Poller { bot, owner, fence, .. } = poller;
        let holds = sql!(statement, bot, owner, *fence, next_update, now.as_microsecond());
        Ok(self.0.write_if(Some(holds), insert(bot, updates)).await?.is_some())
    }

    async fn receive_pushed(&self, bot: &str, updates: &[ReceivedUpdate]) -> LedgerResult<Vec<i64>> {
        let new = self.0.write_all(insert(bot, updates)).await?;
        new.iter().flatten().map(|row| row.get(0)).collect()
    }

    async fn pending_updates(&self, bot: &str, after: i64, limit: u32) -> LedgerResult<Vec<PendingUpdate>> {
        let statement = "SELECT id, body, session FROM chat_update
                         WHERE bot = ?1 AND id > ?2 AND done_at IS NULL ORDER BY id LIMIT ?3";
        let rows = self.0.query(sql!(statement, bot, after, limit)).await?;
        let pending = |row: &Row| {
            // A session name that cannot be read is decided again.
            let session = row.get::<Option<&str>>(2)?.and_then(|name| name.parse().ok());
            Ok(PendingUpdate { id: row.get(0)?, body: row.get(1)?, session })
        };
        rows.iter().map(pending).collect()
    }

    async fn assign_update(&self, bot: &str, id: i64, session: &SessionIdentity) -> LedgerResult<()> {
        let statement = "UPDATE chat_update SET session = ?3 WHERE bot = ?1 AND id = ?2 AND done_at IS NULL";
        self.0.write(sql!(statement, bot, id, session.to_string())).await.map(drop)
    }

    async fn finish_update(&self, bot: &str, id: i64, messages: &[NewMessage], now: Timestamp) -> LedgerResult<()> {
        let statement = "UPDATE chat_update SET done_at = ?3, body = '' WHERE bot = ?1 AND id = ?2 AND done_at IS NULL
                         RETURNING id";
        let finished = sql!(statement, bot, id, now.as_microsecond());
        self.0.write_if(Some(finished), outbox::insert(messages, now)).await.map(drop)
    }

    async fn forget_updates(&self, before: Timestamp) -> LedgerResult<()> {
        let statement = "DELETE FROM chat_update WHERE done_at < ?1";
        self.0.write(sql!(statement, before.as_microsecond())).await.map(drop)
    }

    async fn keyed_record(&self, key: &str) -> LedgerResult<Option<KeyedRecord>> {
        let rows = self.0.lookup(sql!("SELECT key, revision, body FROM keyed_record WHERE key = ?1", key)).await?;
        rows.first().map(record).transpose()
    }

    async fn put_keyed_record(&self, key: &str, expected: u64, body: &str) -> LedgerResult<bool> {
        let statement = match expected {
            0 => {
                "INSERT INTO keyed_record (key, revision, body) VALUES (?1, CAST(?2 AS bigint) + 1, ?3)
                 ON CONFLICT (key) DO NOTHING RETURNING key"
            }
            _ => {
                "UPDATE keyed_record SET revision = revision + 1, body = ?3 WHERE key = ?1 AND revision = ?2
                 RETURNING key"
            }
        };
        Ok(!self.0.write(sql!(statement, key, expected, body)).await?.is_empty())
    }

    async fn keyed_records(&self, prefix: &str, limit: u32) -> LedgerResult<Vec<(String, KeyedRecord)>> {
        let statement =
            "SELECT key, revision, body FROM keyed_record WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3";
        // Keys are ASCII, and both databases compare them byte by byte.
        let rows = self.0.query(sql!(statement, prefix, format!("{prefix}\u{7f}"), limit)).await?;
        rows.iter().map(|row| Ok((row.get(0)?, record(row)?))).collect()
    }

    async fn remove_keyed_record(&self, key: &str) -> LedgerResult<()> {
        self.0.write(sql!("DELETE FROM keyed_record WHERE key = ?1", key)).await.map(drop)
    }
}

/// The statements that store updates, each of which returns the id of its update if that is new.
fn insert(bot: &str, updates: &[ReceivedUpdate]) -> Vec<Statement> {
    let statement = "INSERT INTO chat_update (bot, id, body) VALUES (?1, ?2, ?3)
                     ON CONFLICT (bot, id) DO NOTHING RETURNING id";
    updates.iter().map(|update| sql!(statement, bot, update.id, &update.body)).collect()
}

fn record(row: &Row) -> LedgerResult<KeyedRecord> {
    Ok(KeyedRecord { revision: row.get(1)?, body: row.get(2)? })
}
