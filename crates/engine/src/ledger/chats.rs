//! The port for chats and for messages to people.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::session::{SessionIdentity, TransportChat};

use super::LedgerResult;

/// What is said in chats, and where:
/// - which session is meant in a chat;
/// - the outbox: messages to people that are stored before they are sent, so that a process that dies loses none of them, and
///   several servers do not send the same one twice;
/// - the updates that a chat service delivers, and the place up to which they were received;
/// - small records that are found by their keys, such as buttons and cards.
#[async_trait]
pub trait ChatStore: Send + Sync + std::fmt::Debug + 'static {
    /// The session that was last chosen on a transport and still exists.
    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>>;

    /// Chooses an existing session on a transport.
    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()>;

    /// Every choice of a session on a transport, in the order they were made.
    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>>;

    /// Stores messages. Returns how many of them are new.
    async fn put_messages(&self, messages: &[NewMessage], now: Timestamp) -> LedgerResult<u64>;

    /// Takes messages that are due. No other process takes them before `until`.
    async fn take_messages(&self, take: &TakeMessages) -> LedgerResult<Vec<OutboxMessage>>;

    /// Ends the attempt of `owner`. Returns false if another process has taken the message since.
    async fn settle_message(&self, id: &str, owner: &str, delivery: &Delivery, now: Timestamp) -> LedgerResult<bool>;

    /// Messages that were tried and did not reach their target, the newest first.
    async fn undelivered(&self, limit: u32) -> LedgerResult<Vec<Undelivered>>;

    /// The number of messages to people that were tried and did not reach them.
    async fn count_undelivered(&self) -> LedgerResult<u64>;

    /// When the next message of a channel is due. `None` if none waits.
    async fn next_due(&self, channel: &str) -> LedgerResult<Option<Timestamp>>;

    /// Forgets messages that were settled before this time.
    async fn forget_messages(&self, before: Timestamp) -> LedgerResult<()>;

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
