//! Which session is meant in a chat, messages to people, and the updates of chat services. Of several processes that take
//! messages at once, each gets others.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::refusal::Refusal;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::{
    ChatStore, Delivery, KeyedRecord, LedgerResult, NewMessage, OutboxMessage, PendingUpdate, Poller, ReceivedUpdate,
    TakeMessages, TakeOrder, Undelivered,
};

use crate::backend::{Backend, SqlLedger};
use crate::encode::{self, micros};
use crate::sessions::{count, identity};
use crate::sql::{Row, Statement, sql};
use crate::transport;

/// The condition of a message that was tried and did not reach its target.
const IS_UNDELIVERED: &str =
    "((settled_at IS NULL AND attempts > 0 AND coalesce(why, '') <> '') OR outcome = 'failed')";

const FAILED: &str = "failed";

#[async_trait]
impl<B: Backend> ChatStore for SqlLedger<B> {
    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        // Nothing was ever chosen on a transport that cannot be stored.
        if transport::check(transport).is_err() {
            return Ok(None);
        }
        // Two that were chosen at the very same moment have the same number.
        let statement = "SELECT session.channel || ':' || session.conversation
                         FROM pointer JOIN session ON session.id = pointer.session_id
                         WHERE pointer.transport = ?1 ORDER BY pointer.used DESC, pointer.session_id DESC LIMIT 1";
        let rows = self.0.lookup(sql!(statement, &transport.0)).await?;
        rows.first().map(|row| identity(row, 0)).transpose()
    }

    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        transport::check(transport)?;
        // The session's row is locked, so that it is not deleted meanwhile.
        let statement = format!(
            "WITH held AS (SELECT id FROM session WHERE conversation = ?2 AND channel = ?3 {})
             INSERT INTO pointer (transport, session_id, used)
             SELECT ?1, id, 1 + coalesce((SELECT max(used) FROM pointer WHERE transport = ?1), 0) FROM held WHERE true
             ON CONFLICT (transport, session_id) DO UPDATE SET used = excluded.used
             RETURNING used",
            B::LOCK_ROW
        );
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        if self.0.write(sql!(statement, &transport.0, conversation, channel)).await?.is_empty() {
            return Err(Refusal::not_found(format!("There is no session {session}.")).into());
        }
        Ok(())
    }

    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
        // Each transport counts for itself, so what was chosen on one of them stays in its order.
        let statement = "SELECT pointer.transport, session.channel || ':' || session.conversation
                         FROM pointer JOIN session ON session.id = pointer.session_id
                         ORDER BY pointer.used, pointer.transport, pointer.session_id";
        let mut pointers = Vec::new();
        for row in self.0.query(sql!(statement)).await? {
            // A session whose name cannot be read does not hide the others; lists of sessions name it.
            if let Ok(session) = encode::set_damage_aside(identity(&row, 1))? {
                pointers.push((TransportChat(row.get(0)?), session));
            }
        }
        Ok(pointers)
    }

    async fn put_messages(&self, messages: &[NewMessage], now: Timestamp) -> LedgerResult<u64> {
        if messages.is_empty() {
            return Ok(0);
        }
        Ok(self.0.write_all(insert_messages(messages, now)).await?.iter().map(|new| new.len() as u64).sum())
    }

    async fn take_messages(&self, take: &TakeMessages) -> LedgerResult<Vec<OutboxMessage>> {
        let first = match take.order {
            TakeOrder::Any => "",
            TakeOrder::OneOfEachTarget => {
                "AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.channel = outbox.channel
                     AND earlier.target = outbox.target AND earlier.settled_at IS NULL AND earlier.due <= ?2
                     AND earlier.seq < outbox.seq)"
            }
        };
        let statement = format!(
            "WITH due AS (
                 SELECT seq AS taken FROM outbox WHERE channel = ?1 AND settled_at IS NULL AND due <= ?2
                     AND retry_at <= ?2 AND taken_until <= ?2 {first} ORDER BY seq LIMIT ?5 {})
             UPDATE outbox SET owner = ?3, taken_until = ?4, attempts = attempts + 1
             FROM due WHERE outbox.seq = due.taken RETURNING id, channel, target, body, created_at, attempts, seq",
            B::SKIP_LOCKED
        );
        let TakeMessages { channel, owner, now, until, limit, order: _ } = take;
        let (now, until) = (now.as_microsecond(), until.as_microsecond());
        let rows = self.0.write(sql!(statement, channel, now, owner, until, *limit)).await?;
        let mut messages = Vec::with_capacity(rows.len());
        for row in &rows {
            messages.push((row.get::<i64>(6)?, message(row)?));
        }
        messages.sort_by_key(|(seq, _)| *seq);
        Ok(messages.into_iter().map(|(_, message)| message).collect())
    }

    async fn settle_message(&self, id: &str, owner: &str, delivery: &Delivery, now: Timestamp) -> LedgerResult<bool> {
        let now = Some(now.as_microsecond());
        // The text of a message that is not sent again is not needed any more, unless a person has to see it.
        let (settled_at, retry_at, outcome, why, keeps_body) = match delivery {
            Delivery::Sent => (now, 0, "sent", "", false),
            Delivery::Dropped { why } => (now, 0, "dropped", why.as_str(), false),
            Delivery::Retry { at, why } => (None, at.as_microsecond(), "", why.as_str(), true),
            Delivery::Failed { why } => (now, 0, FAILED, why.as_str(), true),
        };
        let statement = "UPDATE outbox SET settled_at = ?3, retry_at = ?4, outcome = ?5, why = ?6, taken_until = 0,
                             body = CASE WHEN ?7 THEN body ELSE '' END
                         WHERE id = ?1 AND owner = ?2 AND settled_at IS NULL RETURNING id";
        let statement = sql!(statement, id, owner, settled_at, retry_at, outcome, why, keeps_body);
        Ok(!self.0.write(statement).await?.is_empty())
    }

    async fn undelivered(&self, limit: u32) -> LedgerResult<Vec<Undelivered>> {
        let statement = format!(
            "SELECT id, channel, target, body, created_at, attempts, why, outcome FROM outbox
             WHERE {IS_UNDELIVERED} ORDER BY seq DESC LIMIT ?1"
        );
        let rows = self.0.query(sql!(statement, limit)).await?;
        let undelivered = |row: &Row| {
            let OutboxMessage { id, channel, target, body, created_at, attempts } = message(row)?;
            let why = row.get::<Option<String>>(6)?.filter(|why| !why.is_empty());
            let failed = row.get::<Option<&str>>(7)? == Some(FAILED);
            Ok(Undelivered { id, channel, target, body, created_at, attempts, why, failed })
        };
        rows.iter().map(undelivered).collect()
    }

    async fn next_due(&self, channel: &str) -> LedgerResult<Option<Timestamp>> {
        let statement = "SELECT min(CASE WHEN due >= retry_at AND due >= taken_until THEN due
                             WHEN retry_at >= taken_until THEN retry_at ELSE taken_until END)
                         FROM outbox WHERE channel = ?1 AND settled_at IS NULL";
        let rows = self.0.query(sql!(statement, channel)).await?;
        let due: Option<i64> = rows.first().map_or(Ok(None), |row| row.get(0))?;
        Ok(due.and_then(|due| Timestamp::from_microsecond(due).ok()))
    }

    async fn forget_messages(&self, before: Timestamp) -> LedgerResult<()> {
        let statement = "DELETE FROM outbox WHERE settled_at < ?1";
        self.0.write(sql!(statement, before.as_microsecond())).await.map(drop)
    }

    async fn count_undelivered(&self) -> LedgerResult<u64> {
        count(&self.0, sql!(format!("SELECT count(*) FROM outbox WHERE {IS_UNDELIVERED}"))).await
    }

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
        Ok(self.0.write_if(Some(holds), insert_updates(bot, updates)).await?.is_some())
    }

    async fn receive_pushed(&self, bot: &str, updates: &[ReceivedUpdate]) -> LedgerResult<Vec<i64>> {
        let new = self.0.write_all(insert_updates(bot, updates)).await?;
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
        self.0.write_if(Some(finished), insert_messages(messages, now)).await.map(drop)
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

/// The statements that store messages, each of which returns a row if its message is new.
fn insert_messages(messages: &[NewMessage], now: Timestamp) -> Vec<Statement> {
    let statement = "INSERT INTO outbox (id, channel, target, body, due, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT (id) DO NOTHING RETURNING id";
    let insert = |message: &NewMessage| {
        let NewMessage { id, channel, target, body, due } = message;
        sql!(statement, id, channel, target, body, due.as_microsecond(), now.as_microsecond())
    };
    messages.iter().map(insert).collect()
}

fn message(row: &Row) -> LedgerResult<OutboxMessage> {
    let id: String = row.get(0)?;
    let created_at = encode::timestamp(|| format!("the message {id}"), row.get(4)?)?;
    let attempts = u32::try_from(row.get::<i64>(5)?).unwrap_or(u32::MAX);
    Ok(OutboxMessage { id, channel: row.get(1)?, target: row.get(2)?, body: row.get(3)?, created_at, attempts })
}

/// The statements that store updates, each of which returns the id of its update if that is new.
fn insert_updates(bot: &str, updates: &[ReceivedUpdate]) -> Vec<Statement> {
    let statement = "INSERT INTO chat_update (bot, id, body) VALUES (?1, ?2, ?3)
                     ON CONFLICT (bot, id) DO NOTHING RETURNING id";
    updates.iter().map(|update| sql!(statement, bot, update.id, &update.body)).collect()
}

fn record(row: &Row) -> LedgerResult<KeyedRecord> {
    Ok(KeyedRecord { revision: row.get(1)?, body: row.get(2)? })
}
