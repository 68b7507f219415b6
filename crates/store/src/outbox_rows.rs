//! Messages and updates as both stores read them.

use jiff::Timestamp;
use planwright_core::session::SessionIdentity;
use planwright_engine::chat_updates::PendingUpdate;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::outbox::{Delivery, OutboxMessage, Undelivered};

use crate::encode;

/// The columns of [`message`], in this order.
pub(crate) const MESSAGE: &str = "id, channel, target, body, created_at, attempts, seq";
/// The columns of [`undelivered`], in this order.
pub(crate) const UNDELIVERED: &str = "id, channel, target, body, created_at, attempts, why, outcome";
/// The condition of a message that was tried and did not reach its target.
pub(crate) const IS_UNDELIVERED: &str =
    "(settled_at IS NULL AND attempts > 0 AND coalesce(why, '') <> '') OR outcome = 'failed'";

pub(crate) const FAILED: &str = "failed";

/// What is written at the end of an attempt.
#[derive(Debug)]
pub(crate) struct SettledColumns<'a> {
    pub(crate) settled_at: Option<i64>,
    pub(crate) retry_at: i64,
    pub(crate) outcome: &'static str,
    pub(crate) why: &'a str,
    /// The text is not needed any more.
    pub(crate) keeps_body: bool,
}

impl<'a> SettledColumns<'a> {
    pub(crate) fn new(delivery: &'a Delivery, now: Timestamp) -> Self {
        let now = Some(now.as_microsecond());
        let columns =
            |settled_at, retry_at, outcome, why, keeps_body| Self { settled_at, retry_at, outcome, why, keeps_body };
        match delivery {
            Delivery::Sent => columns(now, 0, "sent", "", false),
            Delivery::Dropped { why } => columns(now, 0, "dropped", why, false),
            Delivery::Retry { at, why } => columns(None, at.as_microsecond(), "", why, true),
            Delivery::Failed { why } => columns(now, 0, FAILED, why, true),
        }
    }
}

pub(crate) fn message(
    [id, channel, target, body]: [String; 4],
    created_at: i64,
    attempts: i64,
) -> LedgerResult<OutboxMessage> {
    let created_at = encode::timestamp(|| format!("the message {id}"), created_at)?;
    let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    Ok(OutboxMessage { id, channel, target, body, created_at, attempts })
}

pub(crate) fn undelivered(
    [id, channel, target, body]: [String; 4],
    created_at: i64,
    attempts: i64,
    why: Option<String>,
    outcome: Option<String>,
) -> LedgerResult<Undelivered> {
    let created_at = encode::timestamp(|| format!("the message {id}"), created_at)?;
    let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
    let (why, failed) = (why.filter(|why| !why.is_empty()), outcome.as_deref() == Some(FAILED));
    Ok(Undelivered { id, channel, target, body, created_at, attempts, why, failed })
}

/// A session name that cannot be read is decided again.
pub(crate) fn pending(id: i64, body: String, session: Option<String>) -> PendingUpdate {
    let session = session.and_then(|name| name.parse::<SessionIdentity>().ok());
    PendingUpdate { id, body, session }
}

/// The end of the keys that begin with this prefix. Keys are ASCII.
pub(crate) fn after_prefix(prefix: &str) -> String {
    format!("{prefix}\u{7f}")
}
