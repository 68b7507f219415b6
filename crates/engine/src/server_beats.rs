//! The port to the heartbeats of servers, by which the others notice that one has died before its leases run out.
//!
//! A server counts its beats in the store. The others look at the count, and a server whose count stays the same for
//! [`DEAD_AFTER`] by the clock of the one that looks has died or is cut off. A server that may be counted as dead stops its own
//! work [`FENCE_AFTER`] its last beat by its own clock, which is earlier: the others saw that beat later than it was asked for.
//! No two clocks are compared, and a clock that is set changes nothing: all these times pass on monotonic clocks.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::ledger::LedgerResult;

/// How often a server beats, and looks at the others.
pub const BEAT_INTERVAL: Duration = Duration::from_millis(400);
/// When a server stops its work that could not beat.
pub const FENCE_AFTER: Duration = Duration::from_millis(1_600);
/// When the others continue the work of a server whose count stays the same.
pub const DEAD_AFTER: Duration = Duration::from_millis(2_000);

/// A server, as it counted last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerBeat {
    /// The owner of its leases.
    pub owner: String,
    /// No two beats of a server have the same number.
    pub beat: u64,
    /// Whether the server stops its work when it cannot beat. One that knows of no server elsewhere does not.
    pub fences: bool,
}

#[async_trait]
pub trait ServerBeats: fmt::Debug + Send + Sync + 'static {
    /// Counts a beat of the server.
    async fn beat(&self, owner: &str, fences: bool) -> LedgerResult<()>;

    /// The last beat of each server.
    async fn beats(&self) -> LedgerResult<Vec<ServerBeat>>;

    /// Ends the leases of a server that died, and forgets it. Returns false if it counted again since this beat; its leases
    /// are its own then.
    async fn end_server(&self, last: &ServerBeat) -> LedgerResult<bool>;

    /// Forgets a server that stops or was never heard of again. Its leases stay.
    async fn forget_server(&self, owner: &str) -> LedgerResult<()>;
}
