//! Messages to people. Of several processes that take messages at once, each gets others.

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::outbox::{Delivery, NewMessage, Outbox, OutboxMessage, TakeMessages, TakeOrder, Undelivered};

use crate::backend::{Backend, SqlLedger};
use crate::encode;
use crate::sql::{Row, Statement, sql};

/// The condition of a message that was tried and did not reach its target.
pub(crate) const IS_UNDELIVERED: &str =
    "((settled_at IS NULL AND attempts > 0 AND coalesce(why, '') <> '') OR outcome = 'failed')";

const FAILED: &str = "failed";

#[async_trait]
impl<B: Backend> Outbox for SqlLedger<B> {
    async fn put_messages(&self, messages: &[NewMessage], now: Timestamp) -> LedgerResult<u64> {
        if messages.is_empty() {
            return Ok(0);
        }
        Ok(self.0.write_all(insert(messages, now)).await?.iter().map(|new| new.len() as u64).sum())
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
}

/// The statements that store messages, each of which returns a row if its message is new.
pub(crate) fn insert(messages: &[NewMessage], now: Timestamp) -> Vec<Statement> {
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
