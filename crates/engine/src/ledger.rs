//! The port to the store, in six parts:
//!
//! - [`SessionStore`]: sessions and their journals, and the store that has them
//! - `plans`: [`PlanStore`], plans and their versions; `memories`: [`MemoryStore`], memories and their vectors
//! - `leases`: [`LeaseStore`], which process works on what, and which work waits
//! - `chats`: [`ChatStore`], chats, and messages to people
//! - `approvals`: [`ApprovalStore`], approvers, and accepted tools of upstream servers
//! - `derived_rows`: the rows that are compared with the journal
//!
//! Callers take the part that they need, or a [`Ledger`], which is all six.

mod approvals;
mod chats;
mod derived_rows;
mod leases;
mod memories;
mod plans;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::command::Command;
use planwright_core::event::Event;
use planwright_core::ids::{MemoryId, PlanId, RequestId, TurnId};
use planwright_core::journal::{Entry, Head, SealedEntry};
use planwright_core::policy::Policy;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{ConversationKey, Session, SessionIdentity};
use planwright_core::snapshot::{CommandContext, Snapshot};
use tokio::sync::broadcast;

pub use approvals::ApprovalStore;
pub use chats::{
    ChatStore, Delivery, KeyedRecord, NewMessage, OutboxMessage, PendingUpdate, Poller, ReceivedUpdate, TakeMessages,
    TakeOrder, Undelivered,
};
pub use derived_rows::{
    DerivedRows, EntryKeys, RunsRow, ScopeCounts, SessionFlags, StoredMemory, StoredTerm, is_working, text_for_row,
    waiting_since,
};
pub use leases::{Claim, ClaimedRequest, LeaseOwner, LeaseStore, RunsFilter, StoredAnswer, Unfinished};
pub use memories::{FoundMemories, MemoryStore, MemoryVector};
pub use plans::{PlanAnywhere, PlanStore, PlanSummary};

/// A command on its way into a session's journal.
#[derive(Debug, Clone)]
pub struct Submission {
    pub session: SessionIdentity,
    pub command: Command,
    pub context: CommandContext,
    pub policy: Arc<Policy>,
    pub leasing: Leasing,
    /// Refused unless this turn is open.
    pub turn: Option<TurnId>,
}

/// What a submission has to do with the lease of its session, in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leasing {
    /// Nothing: any caller may submit it at any time.
    None,
    /// Takes the lease, or extends what this owner has. While another owner has it, nothing is done and the answer is
    /// [`LedgerError::Leased`]; if the command is refused, nothing is taken.
    Take { owner: String, ttl: Duration },
    /// Fails with [`LedgerError::Fenced`] if the lease is lost.
    Held(Lease),
    /// The writer holds the lease and releases it with the entry.
    Release(Lease),
}

/// The outcome of a submission, once it is on disk.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The events it led to; none if there was nothing to change.
    pub events: Vec<Event>,
    /// The journal's last number after it.
    pub seq: u64,
    /// The session, its active plan, the plan that was active before and the plan that was named, as they are afterwards.
    pub snapshot: Snapshot,
    /// The lease that was taken with it.
    pub lease: Option<Lease>,
    /// `None` if the request had been carried out earlier: nothing was written now.
    pub plan_mode_before: Option<PlanModeBefore>,
}

/// What a request wrote when it was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedRequest {
    pub events: Vec<Event>,
    /// The journal's last number after it.
    pub seq: u64,
}

/// The plan mode of a session before a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanModeBefore {
    pub enabled: bool,
    pub active_plan: Option<PlanId>,
}

impl PlanModeBefore {
    pub fn of(snapshot: &Snapshot) -> Self {
        let mode = snapshot.session.as_ref().map(|session| &session.plan_mode);
        mode.map(|mode| Self { enabled: mode.enabled, active_plan: mode.active_plan.clone() }).unwrap_or_default()
    }
}

/// The right to be the one that works on a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub session: SessionIdentity,
    pub owner: String,
    /// Grows with every new owner, so that an owner who lost the lease cannot write any more.
    pub fence: u64,
}

/// A session as it is stored.
#[derive(Debug, Clone)]
pub struct StoredSession {
    pub session: Session,
    pub head: Head,
    pub last_active: Timestamp,
}

/// One page of a list. Damaged rows are named and never hide the others.
#[derive(Debug, Clone)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub damaged: Vec<DamagedRow>,
    /// Where the next page begins, if there is one.
    pub next: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRow {
    /// What the row is: `plan 3 of web:k3yk3y8x`.
    pub what: String,
    pub reason: String,
}

/// Something was written, by this process or another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChange {
    /// To this session; it may also be gone.
    Session(SessionIdentity),
    /// It is not known where: every followed session has to be read.
    Anywhere,
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

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Another owner holds the lease of the session, and it has not expired.
    #[error("another process is working on session {} right now", .0.session)]
    Leased(Lease),
    /// The lease that the submission was made under is lost: it was released, or another process took it.
    #[error("session {} is leased to another process now, so nothing was written", .0.session)]
    Fenced(Lease),
    /// The store cannot be reached or cannot take anything now. Nothing was stored, or it will be found again.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// Another process has upgraded the store, before this one opened it or while it was working with it.
    #[error(
        "the store was upgraded by a newer Planwright (schema {found}; this program knows schema {known}); nothing was \
         stored. Restart with the new program"
    )]
    TooNew { found: u32, known: u32 },
    #[error("{what} is damaged and was left as it is: {reason}; run `planwright verify` for details")]
    Damaged { what: String, reason: String },
    #[error("the store failed: {0}")]
    Internal(String),
}

impl LedgerError {
    pub fn damaged(what: impl Into<String>, reason: impl ToString) -> Self {
        Self::Damaged { what: what.into(), reason: reason.to_string() }
    }

    pub fn code(&self) -> RefusalCode {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::Leased(_) | Self::Fenced(_) => RefusalCode::Conflict,
            Self::Unavailable(_) | Self::TooNew { .. } => RefusalCode::Unavailable,
            Self::Damaged { .. } | Self::Internal(_) => RefusalCode::Internal,
        }
    }

    /// Turns the error into the refusal that every surface sends.
    pub fn into_refusal(self) -> Refusal {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Leased(_)
            | Self::Fenced(_)
            | Self::Unavailable(_)
            | Self::TooNew { .. }
            | Self::Damaged { .. }
            | Self::Internal(_) => Refusal::new(self.code(), self.to_string()),
        }
    }
}

pub type LedgerResult<T> = Result<T, LedgerError>;

/// Sessions and their journals: stores commands' events in the order of each session, durably, gives back what is stored, and
/// tells what other processes write and whether the store can be written to.
///
/// The promises, which one contract suite checks for every store:
/// - `submit` answers after its entries are on disk, never before;
/// - the commands of one session take effect one after another, each seeing all before it;
/// - the same request is never carried out twice: sent again, it gets the outcome of the first time;
/// - a refused or failing submission changes nothing and disturbs no other.
#[async_trait]
pub trait SessionStore: Send + Sync + std::fmt::Debug + 'static {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed>;

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>>;

    /// The sessions, the most recently active first. `after` is the `next` of the page before. Sessions change places
    /// while others are written, so this is for people who read one page; use [`Self::walk_sessions`] to visit them all.
    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>>;

    /// The sessions that have all of these words, which are in small letters, in their [search text]; the most recently active
    /// first. `None` if they are so many that reading the list of all sessions finds the first of them sooner.
    ///
    /// [search text]: planwright_core::session::Session::search_text
    async fn sessions_with_words(
        &self,
        words: &[String],
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Option<Page<StoredSession>>>;

    /// The sessions in an order that never changes, for callers that visit every one of them. `after` is the `next` of the
    /// page before. A session that exists during the whole walk is returned exactly once.
    async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>>;

    /// The sessions for which the program of an agent was started, in the same order.
    async fn sessions_with_agents(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>>;

    /// The number of sessions, readable or not.
    async fn count_sessions(&self) -> LedgerResult<u64>;

    /// The sessions that have this key, one per channel at most.
    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>>;

    /// The session, its active plan, the one that its turn carries out and, if it is in this session, the plan that is
    /// named.
    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot>;

    /// What the request of this name wrote in the session. `None` if it wrote nothing, or was made in another session.
    async fn find_request(
        &self,
        session: &SessionIdentity,
        request: &RequestId,
    ) -> LedgerResult<Option<CommittedRequest>>;

    /// Entries after `after`, as they are stored, unchecked.
    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>>;

    /// The entries from `from` on that are about no plan: what was said and done in the conversation, in order.
    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>>;

    /// Entries and plans whose session has no row, named; a few are enough.
    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>>;

    /// The rows of a session that follow from its journal, and its promoted copies, for the check against the journal.
    async fn derived_rows(&self, session: &SessionIdentity, promoted: &[MemoryId]) -> LedgerResult<DerivedRows>;

    /// What stands beside the entries after `after`, for the check against them.
    async fn entry_keys(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<EntryKeys>>;

    /// What the database's own check finds wrong with its files. Nothing where it has no such check.
    async fn damaged_pages(&self) -> LedgerResult<Vec<DamagedRow>>;

    /// Removes the session with everything of it: journal, plans, memories, lease and the pointers to it. What a person
    /// promoted to global stays. Refused if the lease is lost.
    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()>;

    async fn counts(&self) -> LedgerResult<StoreCounts>;

    /// What any process writes from now on: at once for this process, within 200 milliseconds for others. A receiver that
    /// reads too slowly gets an error and has to read every session it follows.
    fn changes(&self) -> broadcast::Receiver<StoreChange>;

    /// Whether the store can be read and written now.
    async fn check(&self) -> LedgerResult<StoreFacts>;

    /// Whether the store takes a write now: it fails when the disk is full, the store is read-only or the last writes
    /// failed. Cheap enough for a readiness probe: the outcome of a real write is reused for a few seconds.
    async fn check_writable(&self) -> LedgerResult<()>;

    /// Writes a whole session back from its journal, exactly as it was sealed. Refused if the session exists, or if the
    /// entries are not an unbroken journal from its beginning. The journal is read entry by entry and never held in memory.
    async fn restore(&self, session: &SessionIdentity, journal: Arc<dyn JournalSource>) -> LedgerResult<()>;
}

/// The whole port.
pub trait Ledger: SessionStore + PlanStore + MemoryStore + LeaseStore + ChatStore + ApprovalStore {}

impl<T: SessionStore + PlanStore + MemoryStore + LeaseStore + ChatStore + ApprovalStore> Ledger for T {}
