//! Updates of chat services, and small records about chats.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::session::SessionIdentity;
use planwright_engine::chat_updates::{ChatRecord, ChatUpdates, PendingUpdate, Poller, ReceivedUpdate};
use planwright_engine::ledger::LedgerResult;
use planwright_engine::outbox::NewMessage;
use tokio_postgres::Row;

use super::PostgresLedger;
use super::outbox::{MessageColumns, NEW_MESSAGES};
use super::readers::get;
use crate::encode;
use crate::outbox_rows::{after_prefix, pending};

#[async_trait]
impl ChatUpdates for PostgresLedger {
    async fn acquire_poller(
        &self,
        bot: &str,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
    ) -> LedgerResult<Option<Poller>> {
        let now = now.as_microsecond();
        let until = now.saturating_add(i64::try_from(ttl.as_micros()).unwrap_or(i64::MAX));
        let sql = "INSERT INTO chat_poller (bot, owner, fence, expires_at, next_update, received_at)
                   VALUES ($1, $2, 1, $4, 0, $3)
                   ON CONFLICT (bot) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at,
                       fence = chat_poller.fence + CASE WHEN chat_poller.owner = excluded.owner THEN 0 ELSE 1 END
                   WHERE chat_poller.owner = excluded.owner OR chat_poller.expires_at <= $3
                   RETURNING fence, next_update, received_at";
        let rows = self.readers.write(sql, &[&bot, &owner, &now, &until]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let received_at = encode::timestamp(|| format!("the poller of {bot}"), get(row, 2)?)?;
        let (fence, next_update) = (get::<i64>(row, 0)?.unsigned_abs(), get(row, 1)?);
        Ok(Some(Poller { bot: bot.to_owned(), owner: owner.to_owned(), fence, next_update, received_at }))
    }

    async fn release_poller(&self, poller: &Poller) -> LedgerResult<()> {
        let sql = "UPDATE chat_poller SET expires_at = 0 WHERE bot = $1 AND owner = $2 AND fence = $3";
        self.readers.write(sql, &[&poller.bot, &poller.owner, &poller.fence.cast_signed()]).await?;
        Ok(())
    }

    async fn receive_updates(
        &self,
        poller: &Poller,
        updates: &[ReceivedUpdate],
        next_update: i64,
        now: Timestamp,
    ) -> LedgerResult<bool> {
        let sql = "WITH poller AS (
                       UPDATE chat_poller SET next_update = $4, received_at = $5
                       WHERE bot = $1 AND owner = $2 AND fence = $3 RETURNING bot),
                   stored AS (
                       INSERT INTO chat_update (bot, id, body)
                       SELECT poller.bot, new.id, new.body
                       FROM poller, unnest($6::bigint[], $7::text[]) AS new (id, body)
                       ON CONFLICT (bot, id) DO NOTHING)
                   SELECT bot FROM poller";
        let (ids, bodies) = columns(updates);
        let (fence, now) = (poller.fence.cast_signed(), now.as_microsecond());
        let rows =
            self.readers.write(sql, &[&poller.bot, &poller.owner, &fence, &next_update, &now, &ids, &bodies]).await?;
        Ok(!rows.is_empty())
    }

    async fn receive_pushed(&self, bot: &str, updates: &[ReceivedUpdate]) -> LedgerResult<Vec<i64>> {
        let sql = "INSERT INTO chat_update (bot, id, body)
                   SELECT $1::text, new.id, new.body FROM unnest($2::bigint[], $3::text[]) AS new (id, body)
                   ON CONFLICT (bot, id) DO NOTHING RETURNING id";
        let (ids, bodies) = columns(updates);
        let rows = self.readers.write(sql, &[&bot, &ids, &bodies]).await?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    async fn pending_updates(&self, bot: &str, after: i64, limit: u32) -> LedgerResult<Vec<PendingUpdate>> {
        let sql = "SELECT id, body, session FROM chat_update
                   WHERE bot = $1 AND id > $2 AND done_at IS NULL ORDER BY id LIMIT $3";
        let rows = self.readers.query(sql, &[&bot, &after, &i64::from(limit)]).await?;
        rows.iter().map(|row| Ok(pending(get(row, 0)?, get(row, 1)?, get(row, 2)?))).collect()
    }

    async fn assign_update(&self, bot: &str, id: i64, session: &SessionIdentity) -> LedgerResult<()> {
        let sql = "UPDATE chat_update SET session = $3 WHERE bot = $1 AND id = $2 AND done_at IS NULL";
        self.readers.write(sql, &[&bot, &id, &session.to_string()]).await?;
        Ok(())
    }

    async fn finish_update(&self, bot: &str, id: i64, messages: &[NewMessage], now: Timestamp) -> LedgerResult<()> {
        let sql = format!(
            "WITH done AS (
                 UPDATE chat_update SET done_at = $6, body = '' WHERE bot = $7 AND id = $8 AND done_at IS NULL
                 RETURNING id AS finished)
             INSERT INTO outbox (id, channel, target, body, due, created_at)
             SELECT new.id, new.channel, new.target, new.body, new.due, $6 FROM done, {NEW_MESSAGES}
             ON CONFLICT (id) DO NOTHING"
        );
        let MessageColumns { ids, channels, targets, bodies, due } = MessageColumns::of(messages);
        let now = now.as_microsecond();
        self.readers.write(&sql, &[&ids, &channels, &targets, &bodies, &due, &now, &bot, &id]).await?;
        Ok(())
    }

    async fn forget_updates(&self, before: Timestamp) -> LedgerResult<()> {
        self.readers.write("DELETE FROM chat_update WHERE done_at < $1", &[&before.as_microsecond()]).await?;
        Ok(())
    }

    async fn chat_record(&self, key: &str) -> LedgerResult<Option<ChatRecord>> {
        let rows = self.readers.query("SELECT revision, body FROM chat_record WHERE key = $1", &[&key]).await?;
        rows.first().map(|row| record(row, 0)).transpose()
    }

    async fn put_chat_record(&self, key: &str, expected: u64, body: &str) -> LedgerResult<bool> {
        let sql = match expected {
            0 => {
                "INSERT INTO chat_record (key, revision, body) VALUES ($1, $2::bigint + 1, $3) ON CONFLICT (key) DO NOTHING
                 RETURNING key"
            }
            _ => {
                "UPDATE chat_record SET revision = revision + 1, body = $3 WHERE key = $1 AND revision = $2
                 RETURNING key"
            }
        };
        Ok(!self.readers.write(sql, &[&key, &expected.cast_signed(), &body]).await?.is_empty())
    }

    async fn chat_records(&self, prefix: &str, limit: u32) -> LedgerResult<Vec<(String, ChatRecord)>> {
        // Keys are compared byte by byte, whatever the database's language is.
        let sql = "SELECT key, revision, body FROM chat_record
                   WHERE key COLLATE \"C\" >= $1 AND key COLLATE \"C\" < $2 ORDER BY key COLLATE \"C\" LIMIT $3";
        let rows = self.readers.query(sql, &[&prefix, &after_prefix(prefix), &i64::from(limit)]).await?;
        rows.iter().map(|row| Ok((get(row, 0)?, record(row, 1)?))).collect()
    }

    async fn remove_chat_record(&self, key: &str) -> LedgerResult<()> {
        self.readers.write("DELETE FROM chat_record WHERE key = $1", &[&key]).await?;
        Ok(())
    }
}

fn columns(updates: &[ReceivedUpdate]) -> (Vec<i64>, Vec<&str>) {
    updates.iter().map(|update| (update.id, update.body.as_str())).unzip()
}

fn record(row: &Row, first: usize) -> LedgerResult<ChatRecord> {
    Ok(ChatRecord { revision: get::<i64>(row, first)?.unsigned_abs(), body: get(row, first + 1)? })
}
