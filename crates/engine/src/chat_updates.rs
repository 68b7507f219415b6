//! The port to what a chat service delivers: its updates, the place up to which they were received, and small records that
//! are found by their keys, such as buttons and cards.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::session::SessionIdentity;

use crate::ledger::LedgerResult;
use crate::outbox::NewMessage;

/// The right of one process to receive the updates of a bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poller {
    pub bot: String,
    pub owner: String,
    /// Grows with every new owner, so that an owner that lost the right stores nothing.
    pub fence: u64,
    /// The first update that was not received.
    pub next_update: i64,
    /// When the last update was received.
    pub received_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedUpdate {
    pub id: i64,
    /// JSON, as the service sent it.
    pub body: String,
}

/// An update that was received and is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingUpdate {
    pub id: i64,
    pub body: String,
    /// The session that it belongs to, once that is decided.
    pub session: Option<SessionIdentity>,
}

/// A small record, with a number that grows with every change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedRecord {
    pub revision: u64,
    /// JSON.
    pub body: String,
}

#[async_trait]
pub trait ChatUpdates: fmt::Debug + Send + Sync {
    /// Takes the right to receive the updates of a bot, or extends it. `None` while another process has it.
    async fn acquire_poller(
        &self,
        bot: &str,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
    ) -> LedgerResult<Option<Poller>>;

    /// Gives the right back; harmless if it is lost already.
    async fn release_poller(&self, poller: &Poller) -> LedgerResult<()>;

    /// Stores updates together with the place up to which they were received. An update that is known is not stored
    /// again. Returns false if the right is lost; nothing is stored then.
    async fn receive_updates(
        &self,
        poller: &Poller,
        updates: &[ReceivedUpdate],
        next_update: i64,
        now: Timestamp,
    ) -> LedgerResult<bool>;

    /// Stores updates that the service pushes, in any order. Returns those that are new.
    async fn receive_pushed(&self, bot: &str, updates: &[ReceivedUpdate]) -> LedgerResult<Vec<i64>>;

    /// Updates that are not finished, after this one, in their order.
    async fn pending_updates(&self, bot: &str, after: i64, limit: u32) -> LedgerResult<Vec<PendingUpdate>>;

    /// Records the session that an update belongs to, so that it is the same one after a restart.
    async fn assign_update(&self, bot: &str, id: i64, session: &SessionIdentity) -> LedgerResult<()>;

    /// Finishes an update, together with the messages that answer it. Finishing it again stores nothing new.
    async fn finish_update(&self, bot: &str, id: i64, messages: &[NewMessage], now: Timestamp) -> LedgerResult<()>;

    /// Forgets finished updates from before this time.
    async fn forget_updates(&self, before: Timestamp) -> LedgerResult<()>;

    async fn keyed_record(&self, key: &str) -> LedgerResult<Option<KeyedRecord>>;

    /// Writes a record if its revision is still `expected`; 0 is a record that does not exist. Returns whether it is
    /// written.
    async fn put_keyed_record(&self, key: &str, expected: u64, body: &str) -> LedgerResult<bool>;

    /// The records whose keys begin with `prefix`, in the order of their keys.
    async fn keyed_records(&self, prefix: &str, limit: u32) -> LedgerResult<Vec<(String, KeyedRecord)>>;

    async fn remove_keyed_record(&self, key: &str) -> LedgerResult<()>;
}
