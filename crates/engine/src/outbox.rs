//! The port to the outbox: messages to people that are stored before they are sent, so that a process that dies loses
//! none of them, and several servers do not send the same one twice.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::ledger::LedgerResult;

/// A message on its way into the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Names what is told to whom. A message whose id is known is not stored again.
    pub id: String,
    /// Such as `telegram` or `webhook`.
    pub channel: String,
    /// The address within the channel.
    pub target: String,
    /// JSON, which the channel reads.
    pub body: String,
    /// It is not sent before this time.
    pub due: Timestamp,
}

/// A message that one process sends now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxMessage {
    pub id: String,
    pub channel: String,
    pub target: String,
    pub body: String,
    pub created_at: Timestamp,
    /// How often it was tried, this time included.
    pub attempts: u32,
}

/// Which messages a process takes to send them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeMessages {
    pub channel: String,
    /// The process; unique to it.
    pub owner: String,
    pub now: Timestamp,
    /// Another process takes them after this time.
    pub until: Timestamp,
    pub limit: u32,
    pub order: TakeOrder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeOrder {
    /// At most one message of each target: the oldest that is due.
    OneOfEachTarget,
    /// Any that are due.
    Any,
}

/// The end of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    Sent,
    /// There is no need to send it any more.
    Dropped {
        why: String,
    },
    Retry {
        at: Timestamp,
        why: String,
    },
    /// It is not tried again.
    Failed {
        why: String,
    },
}

/// A message that has not reached its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    pub id: String,
    pub channel: String,
    pub target: String,
    pub body: String,
    pub created_at: Timestamp,
    pub attempts: u32,
    pub why: Option<String>,
    /// Whether it is not tried again.
    pub failed: bool,
}

#[async_trait]
pub trait Outbox: fmt::Debug + Send + Sync {
    /// Stores messages. Returns how many of them are new.
    async fn put_messages(&self, messages: &[NewMessage], now: Timestamp) -> LedgerResult<u64>;

    /// Takes messages that are due. No other process takes them before `until`.
    async fn take_messages(&self, take: &TakeMessages) -> LedgerResult<Vec<OutboxMessage>>;

    /// Ends the attempt of `owner`. Returns false if another process has taken the message since.
    async fn settle_message(&self, id: &str, owner: &str, delivery: &Delivery, now: Timestamp) -> LedgerResult<bool>;

    /// Messages that were tried and did not reach their target, the newest first.
    async fn undelivered(&self, limit: u32) -> LedgerResult<Vec<Undelivered>>;

    /// When the next message of a channel is due. `None` if none waits.
    async fn next_due(&self, channel: &str) -> LedgerResult<Option<Timestamp>>;

    /// Forgets messages that were settled before this time.
    async fn forget_messages(&self, before: Timestamp) -> LedgerResult<()>;
}
