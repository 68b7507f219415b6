//! The port to the store for long-running processes: changes by other processes, unfinished work, plans that wait for
//! people, and requests that clients may send twice.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::journal::SealedEntry;
use planwright_core::plan::PlanStatus;
use planwright_core::session::{SessionIdentity, TransportChat};
use tokio::sync::broadcast;

use crate::chat_updates::ChatUpdates;
use crate::ledger::{Lease, Ledger, LedgerResult, Page, PlanSummary, StoredSession};
use crate::outbox::Outbox;
use crate::upstream::ToolPins;

/// Something was written, by this process or another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChange {
    /// To this session; it may also be gone.
    Session(SessionIdentity),
    /// It is not known where: every followed session has to be read.
    Anywhere,
}

/// A plan in a list over all sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanAnywhere {
    pub session: SessionIdentity,
    pub plan: PlanSummary,
    /// Whether the session works on it.
    pub active: bool,
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

/// How much there is, over all sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreCounts {
    pub sessions: u64,
    /// Sessions in which plan work is on.
    pub planning: u64,
    /// Sessions with an open turn.
    pub turns: u64,
    pub plans_ready: u64,
    pub plans_executing: u64,
}

/// What is known about the store, once it has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFacts {
    /// `SQLite 3.50.4`, `PostgreSQL 15.18`
    pub kind: String,
    pub schema: u32,
    /// Whether changes by other processes are announced at once, instead of being polled.
    pub told_by_others: bool,
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

/// The entries of a journal, from wherever they are kept. They are read more than once, each time from the beginning.
pub trait JournalSource: Send + Sync {
    fn read(&self) -> LedgerResult<JournalEntries<'_>>;
}

pub type JournalEntries<'a> = Box<dyn Iterator<Item = LedgerResult<SealedEntry>> + Send + 'a>;

impl JournalSource for Vec<SealedEntry> {
    fn read(&self) -> LedgerResult<JournalEntries<'_>> {
        Ok(Box::new(self.iter().cloned().map(Ok)))
    }
}

/// The ledger as one of several processes that share it.
#[async_trait]
pub trait ServerLedger: Ledger + ToolPins + Outbox + ChatUpdates {
    /// What any process writes from now on: at once for this process, within 200 milliseconds for others. A receiver that
    /// reads too slowly gets an error and has to read every session it follows.
    fn changes(&self) -> broadcast::Receiver<StoreChange>;

    /// The plans in one of these statuses, over all sessions, the one that changed last first. `after` is the `next` of
    /// the page before.
    async fn plans_anywhere(
        &self,
        statuses: &[PlanStatus],
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanAnywhere>>;

    /// Sessions with work that a process ended in the middle of, in the order of their keys: an open turn, or an
    /// execution that is not paused, and no process that holds the session. A turn that asks a person is not among them. `after` is the `next` of the page before.
    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>>;

    /// Sessions whose open turn asks a person, in the order of their keys. `after` is the `next` of the page before.
    async fn asking(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>>;

    /// Takes the sessions with a schedule that is due at `now`, the longest due first. No other process gets one of them
    /// before `keep` is over or its schedules change.
    async fn take_due(&self, now: Timestamp, keep: Duration, limit: u32) -> LedgerResult<Vec<SessionIdentity>>;

    /// Sessions with runs that are under way, or that wait for a person, in the order of their keys. `after` is the `next` of the page
    /// before.
    async fn sessions_with_runs(
        &self,
        which: RunsFilter,
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<StoredSession>>;

    async fn counts(&self) -> LedgerResult<StoreCounts>;

    /// Whether the store can be read and written now.
    async fn check(&self) -> LedgerResult<StoreFacts>;

    /// Whether the store takes a write now: it fails when the disk is full, the store is read-only or the last writes
    /// failed. Cheap enough for a readiness probe: the outcome of a real write is reused for a few seconds.
    async fn check_writable(&self) -> LedgerResult<()>;

    /// Notes that this request is being carried out, unless it is known already. What is older than `keep` is forgotten.
    async fn claim(&self, request: &ClaimedRequest, now: Timestamp, keep: Duration) -> LedgerResult<Claim>;

    /// Keeps the answer to a request that was claimed.
    async fn keep_answer(&self, key: &str, answer: &StoredAnswer) -> LedgerResult<()>;

    /// Forgets a request that changed nothing, so that it may be sent again.
    async fn forget_claim(&self, key: &str) -> LedgerResult<()>;

    /// Writes a whole session back from its journal, exactly as it was sealed. Refused if the session exists, or if the
    /// entries are not an unbroken journal from its beginning. The journal is read entry by entry and never held in memory.
    async fn restore(&self, session: &SessionIdentity, journal: Arc<dyn JournalSource>) -> LedgerResult<()>;

    /// Every choice of a session on a transport, in the order they were made.
    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>>;
}
