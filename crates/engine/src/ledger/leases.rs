//! The port for which process works on what: sessions, schedules, runs and requests of clients.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::session::SessionIdentity;

use super::{Lease, LedgerResult, Page, StoredSession};

/// Which process works on what, and what waits for one or for a person: leases of sessions, the signs of life of the processes
/// that hold them, work that a process ended in the middle of, schedules and runs, and requests that clients may send twice.
/// What it promises to one process holds against all processes on the store.
#[async_trait]
pub trait LeaseStore: Send + Sync + std::fmt::Debug + 'static {
    /// Takes the session for `owner`, or extends what it has, unless another owner holds it and it has not expired.
    async fn acquire_lease(&self, session: &SessionIdentity, owner: &str, ttl: Duration)
    -> LedgerResult<Option<Lease>>;

    /// Keeps the lease for `ttl` from now on. Returns false if it was released or taken by another owner; a lease that
    /// expired and that no other owner took is kept.
    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool>;

    /// The lease that some process holds and that has not run out.
    async fn lease(&self, session: &SessionIdentity) -> LedgerResult<Option<Lease>>;

    /// Gives the lease back; harmless if it is lost already.
    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()>;

    /// The time by the clock of the store, by which leases run out.
    async fn lease_clock(&self) -> LedgerResult<Timestamp>;

    /// The owner of the lease of one session, unless it was released, or the owners of the leases that hold unfinished work
    /// and have not run out. Whether one of their leases lasts longer than `longest` from now, as after a clock was set back.
    async fn lease_owners(&self, of: Option<&SessionIdentity>, longest: Duration) -> LedgerResult<Vec<LeaseOwner>>;

    /// Has no lease of this owner last longer than `ttl` from now.
    async fn shorten_leases(&self, owner: &str, ttl: Duration) -> LedgerResult<()>;

    /// Records that the process of this name is alive. Processes that were not alive for a day are forgotten.
    async fn heartbeat(&self, owner: &str, now: Timestamp) -> LedgerResult<()>;

    /// When a process was last alive, by its own clock, if it recorded that. It is compared with what was seen before, not with
    /// another clock.
    async fn alive_at(&self, owner: &str) -> LedgerResult<Option<Timestamp>>;

    /// Records that the program of an agent is alive, by the clock of the store: the machines that ask have others.
    async fn sign_of_life(&self, program: &str) -> LedgerResult<()>;

    /// How long ago the program of an agent gave its last sign of life, by the clock of the store. `None` if it gave none for a
    /// day; nothing if the sign is of a time that has not come yet, as after that clock was set back.
    async fn silent_for(&self, program: &str) -> LedgerResult<Option<Duration>>;

    /// Sessions with work that a process ended in the middle of, in the order of their keys: an open turn, or an
    /// execution that is not paused, and no process that holds the session. A turn that asks a person is not among them.
    /// `after` is the `next` of the page before.
    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>>;

    /// Sessions whose open turn asks a person, in the order of their keys. `after` is the `next` of the page before.
    async fn asking(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>>;

    /// Takes the sessions with a schedule that is due at `now`, the longest due first. No other process gets one of them
    /// before `keep` is over or its schedules change.
    async fn take_due(&self, now: Timestamp, keep: Duration, limit: u32) -> LedgerResult<Vec<SessionIdentity>>;

    /// Sessions with runs that are under way, or that wait for a person, in the order of their keys. `after` is the `next`
    /// of the page before.
    async fn sessions_with_runs(
        &self,
        which: RunsFilter,
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<StoredSession>>;

    /// Notes that this request is being carried out, unless it is known already. What is older than `keep` is forgotten.
    async fn claim(&self, request: &ClaimedRequest, now: Timestamp, keep: Duration) -> LedgerResult<Claim>;

    /// Keeps the answer to a request that was claimed.
    async fn keep_answer(&self, key: &str, answer: &StoredAnswer) -> LedgerResult<()>;

    /// Forgets a request that changed nothing, so that it may be sent again.
    async fn forget_claim(&self, key: &str) -> LedgerResult<()>;
}

/// A process that holds leases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseOwner {
    pub owner: String,
    /// Whether one of its leases lasts longer than any lease is given for.
    pub is_too_long: bool,
}

/// A session with work in it that is not over: an open turn, or a plan that is being carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub session: SessionIdentity,
    /// The journal's last number.
    pub seq: u64,
    /// The last lease of the session, if it was not released. A session whose lease has not expired is not listed.
    pub left_by: Option<Lease>,
}

/// Which runs a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsFilter {
    /// Under way.
    Running,
    /// Paused or interrupted: they wait for a person.
    Waiting,
}

/// What a client calls its request, and what it asks for. Both are hashes and do not reveal what was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedRequest {
    pub key: String,
    pub fingerprint: String,
}

/// What is known of a request that a client names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It is new, and from now on it is known.
    New,
    /// It was begun and has no answer yet: a process is working on it, or died in the middle of it.
    Begun {
        at: Timestamp,
    },
    Answered(StoredAnswer),
    /// The key was used for another request.
    Other,
}

/// An answer as a client got it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    pub status: u16,
    pub body: String,
}
