//! Messages to people. Only the writer thread takes them, so two processes never take the same one.

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::outbox::{Delivery, NewMessage, Outbox, OutboxMessage, TakeMessages, TakeOrder, Undelivered};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::writer::WriterState;
use super::{SqliteLedger, TransactionError};
use crate::outbox_rows::{self, IS_UNDELIVERED, MESSAGE, SettledColumns, UNDELIVERED};

#[async_trait]
impl Outbox for SqliteLedger {
    async fn put_messages(&self, messages: &[NewMessage], now: Timestamp) -> LedgerResult<u64> {
        let messages = messages.to_vec();
        self.writer.ask(move |state: &mut WriterState| put(&state.connection, &messages, now)).await
    }

    async fn take_messages(&self, take: &TakeMessages) -> LedgerResult<Vec<OutboxMessage>> {
        let (take, now) = (take.clone(), take.now.as_microsecond());
        let write = move |state: &mut WriterState| {
            let first = match take.order {
                TakeOrder::Any => "",
                TakeOrder::OneOfEachTarget => {
                    "AND NOT EXISTS (SELECT 1 FROM outbox before WHERE before.channel = outbox.channel
                         AND before.target = outbox.target AND before.settled_at IS NULL AND before.due <= ?2
                         AND before.seq < outbox.seq)"
                }
            };
            let sql = format!(
                "UPDATE outbox SET owner = ?3, taken_until = ?4, attempts = attempts + 1 WHERE seq IN (
                     SELECT seq FROM outbox WHERE channel = ?1 AND settled_at IS NULL AND due <= ?2 AND retry_at <= ?2
                         AND taken_until <= ?2 {first} ORDER BY seq LIMIT ?5) RETURNING {MESSAGE}"
            );
            let values = params![take.channel, now, take.owner, take.until.as_microsecond(), take.limit];
            let mut statement = state.connection.prepare_cached(&sql)?;
            let rows = statement.query_map(values, |row| {
                let texts = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                Ok((row.get::<_, i64>(6)?, texts, row.get(4)?, row.get(5)?))
            })?;
            let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
            rows.sort_by_key(|(seq, ..)| *seq);
            let messages = rows.into_iter().map(|(_, texts, at, attempts)| outbox_rows::message(texts, at, attempts));
            Ok(messages.collect::<LedgerResult<Vec<_>>>()?)
        };
        self.writer.ask(write).await
    }

    async fn settle_message(&self, id: &str, owner: &str, delivery: &Delivery, now: Timestamp) -> LedgerResult<bool> {
        let (id, owner, delivery) = (id.to_owned(), owner.to_owned(), delivery.clone());
        let write = move |state: &mut WriterState| {
            let columns = SettledColumns::new(&delivery, now);
            let sql = "UPDATE outbox SET settled_at = ?3, retry_at = ?4, outcome = ?5, why = ?6, taken_until = 0,
                           body = CASE WHEN ?7 THEN body ELSE '' END
                       WHERE id = ?1 AND owner = ?2 AND settled_at IS NULL";
            let SettledColumns { settled_at, retry_at, outcome, why, keeps_body } = columns;
            let values = params![id, owner, settled_at, retry_at, outcome, why, keeps_body];
            Ok(state.connection.prepare_cached(sql)?.execute(values)? == 1)
        };
        self.writer.ask(write).await
    }

    async fn undelivered(&self, limit: u32) -> LedgerResult<Vec<Undelivered>> {
        let query = move |connection: &Connection| {
            let sql = format!(
                "SELECT {UNDELIVERED} FROM outbox
                 WHERE {IS_UNDELIVERED}
                 ORDER BY seq DESC LIMIT ?1"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([limit], |row| {
                let texts = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                Ok((texts, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?))
            })?;
            let rows = rows.collect::<Result<Vec<_>, _>>()?;
            let read = rows
                .into_iter()
                .map(|(texts, at, attempts, why, outcome)| outbox_rows::undelivered(texts, at, attempts, why, outcome));
            Ok(read.collect::<LedgerResult<Vec<_>>>()?)
        };
        self.readers.read(query).await
    }

    async fn next_due(&self, channel: &str) -> LedgerResult<Option<Timestamp>> {
        let channel = channel.to_owned();
        let query = move |connection: &Connection| {
            let sql =
                "SELECT min(max(due, retry_at, taken_until)) FROM outbox WHERE channel = ?1 AND settled_at IS NULL";
            let due = connection.prepare_cached(sql)?.query_row([&channel], |row| row.get::<_, Option<i64>>(0));
            Ok(due.optional()?.flatten().and_then(|due| Timestamp::from_microsecond(due).ok()))
        };
        self.readers.read(query).await
    }

    async fn forget_messages(&self, before: Timestamp) -> LedgerResult<()> {
        let write = move |state: &mut WriterState| {
            let sql = "DELETE FROM outbox WHERE settled_at < ?1";
            state.connection.prepare_cached(sql)?.execute([before.as_microsecond()])?;
            Ok(())
        };
        self.writer.ask(write).await
    }
}

pub(super) fn count_undelivered(connection: &Connection) -> Result<u64, TransactionError> {
    let sql = format!("SELECT count(*) FROM outbox WHERE {IS_UNDELIVERED}");
    let count = connection.prepare_cached(&sql)?.query_row([], |row| row.get::<_, i64>(0))?;
    Ok(count.unsigned_abs())
}

/// Stores messages in the transaction of the caller.
pub(super) fn put(connection: &Connection, messages: &[NewMessage], now: Timestamp) -> Result<u64, TransactionError> {
    let sql = "INSERT INTO outbox (id, channel, target, body, created_at, due) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT (id) DO NOTHING";
    let mut statement = connection.prepare_cached(sql)?;
    let mut new = 0;
    for message in messages {
        let NewMessage { id, channel, target, body, due } = message;
        let (at, due) = (now.as_microsecond(), due.as_microsecond());
        new += statement.execute(params![id, channel, target, body, at, due])? as u64;
    }
    Ok(new)
}
