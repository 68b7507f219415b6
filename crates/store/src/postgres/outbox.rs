//! Messages to people. Of several processes that take messages at once, each gets others.

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::outbox::{Delivery, NewMessage, Outbox, OutboxMessage, TakeMessages, TakeOrder, Undelivered};

use super::PostgresLedger;
use super::readers::get;
use crate::outbox_rows::{self, IS_UNDELIVERED, MESSAGE, SettledColumns, UNDELIVERED};

/// The rows of new messages, as arrays from the parameter `$1` on.
pub(super) const NEW_MESSAGES: &str = "unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
    AS new (id, channel, target, body, due)";

/// The columns of new messages.
#[derive(Debug, Default)]
pub(super) struct MessageColumns<'a> {
    pub(super) ids: Vec<&'a str>,
    pub(super) channels: Vec<&'a str>,
    pub(super) targets: Vec<&'a str>,
    pub(super) bodies: Vec<&'a str>,
    pub(super) due: Vec<i64>,
}

impl<'a> MessageColumns<'a> {
    pub(super) fn of(messages: &'a [NewMessage]) -> Self {
        let mut columns = Self::default();
        for message in messages {
            columns.ids.push(&message.id);
            columns.channels.push(&message.channel);
            columns.targets.push(&message.target);
            columns.bodies.push(&message.body);
            columns.due.push(message.due.as_microsecond());
        }
        columns
    }
}

#[async_trait]
impl Outbox for PostgresLedger {
    async fn put_messages(&self, messages: &[NewMessage], now: Timestamp) -> LedgerResult<u64> {
        if messages.is_empty() {
            return Ok(0);
        }
        let sql = format!(
            "INSERT INTO outbox (id, channel, target, body, due, created_at)
             SELECT id, channel, target, body, due, $6 FROM {NEW_MESSAGES} ON CONFLICT (id) DO NOTHING RETURNING id"
        );
        let MessageColumns { ids, channels, targets, bodies, due } = MessageColumns::of(messages);
        let now = now.as_microsecond();
        let rows = self.readers.write(&sql, &[&ids, &channels, &targets, &bodies, &due, &now]).await?;
        Ok(rows.len() as u64)
    }

    async fn take_messages(&self, take: &TakeMessages) -> LedgerResult<Vec<OutboxMessage>> {
        let first = match take.order {
            TakeOrder::Any => "",
            TakeOrder::OneOfEachTarget => {
                "AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.channel = outbox.channel
                     AND earlier.target = outbox.target AND earlier.settled_at IS NULL AND earlier.due <= $2
                     AND earlier.seq < outbox.seq)"
            }
        };
        let sql = format!(
            "WITH due AS (
                 SELECT seq AS taken FROM outbox WHERE channel = $1 AND settled_at IS NULL AND due <= $2
                     AND retry_at <= $2 AND taken_until <= $2 {first} ORDER BY seq LIMIT $5 FOR UPDATE SKIP LOCKED)
             UPDATE outbox SET owner = $3, taken_until = $4, attempts = attempts + 1
             FROM due WHERE outbox.seq = due.taken RETURNING {MESSAGE}"
        );
        let (now, until, limit) = (take.now.as_microsecond(), take.until.as_microsecond(), i64::from(take.limit));
        let rows = self.readers.write(&sql, &[&take.channel, &now, &take.owner, &until, &limit]).await?;
        let mut messages = Vec::new();
        for row in &rows {
            let texts = [get(row, 0)?, get(row, 1)?, get(row, 2)?, get(row, 3)?];
            messages.push((get::<i64>(row, 6)?, outbox_rows::message(texts, get(row, 4)?, get(row, 5)?)?));
        }
        messages.sort_by_key(|(seq, _)| *seq);
        Ok(messages.into_iter().map(|(_, message)| message).collect())
    }

    async fn settle_message(&self, id: &str, owner: &str, delivery: &Delivery, now: Timestamp) -> LedgerResult<bool> {
        let SettledColumns { settled_at, retry_at, outcome, why, keeps_body } = SettledColumns::new(delivery, now);
        let sql =
            "UPDATE outbox SET settled_at = nullif($3::bigint, 0), retry_at = $4, outcome = $5, why = $6, taken_until = 0,
                       body = CASE WHEN $7 THEN body ELSE '' END
                   WHERE id = $1 AND owner = $2 AND settled_at IS NULL RETURNING id";
        let settled_at = settled_at.unwrap_or(0);
        let rows = self.readers.write(sql, &[&id, &owner, &settled_at, &retry_at, &outcome, &why, &keeps_body]).await?;
        Ok(!rows.is_empty())
    }

    async fn undelivered(&self, limit: u32) -> LedgerResult<Vec<Undelivered>> {
        let sql = format!("SELECT {UNDELIVERED} FROM outbox WHERE {IS_UNDELIVERED} ORDER BY seq DESC LIMIT $1");
        let rows = self.readers.query(&sql, &[&i64::from(limit)]).await?;
        let mut messages = Vec::new();
        for row in &rows {
            let texts = [get(row, 0)?, get(row, 1)?, get(row, 2)?, get(row, 3)?];
            let (at, attempts) = (get(row, 4)?, get(row, 5)?);
            messages.push(outbox_rows::undelivered(texts, at, attempts, get(row, 6)?, get(row, 7)?)?);
        }
        Ok(messages)
    }

    async fn next_due(&self, channel: &str) -> LedgerResult<Option<Timestamp>> {
        let sql = "SELECT min(greatest(due, retry_at, taken_until)) FROM outbox
                   WHERE channel = $1 AND settled_at IS NULL";
        let rows = self.readers.query(sql, &[&channel]).await?;
        let due: Option<i64> = rows.first().map_or(Ok(None), |row| get(row, 0))?;
        Ok(due.and_then(|due| Timestamp::from_microsecond(due).ok()))
    }

    async fn forget_messages(&self, before: Timestamp) -> LedgerResult<()> {
        self.readers.write("DELETE FROM outbox WHERE settled_at < $1", &[&before.as_microsecond()]).await?;
        Ok(())
    }
}
