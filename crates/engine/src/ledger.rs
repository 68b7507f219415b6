//! The port to the store: the journal of every session, and what is read from it.

mod derived_rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::approval::record::SealedRecord;
use planwright_core::command::Command;
use planwright_core::event::Event;
use planwright_core::ids::{MemoryId, PlanId, RequestId, TurnId};
use planwright_core::journal::{Entry, Head, SealedEntry};
use planwright_core::memory::ScopeChain;
use planwright_core::memory::ranking::{MemoryMatches, Place, PlacedItem};
use planwright_core::plan::reference::PlanCandidate;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{ConversationKey, Session, SessionIdentity, TransportChat};
use planwright_core::snapshot::{CommandContext, Snapshot};

use crate::version_index::VersionIndexEntry;

pub use derived_rows::{DerivedRows, RunsRow, StoredMemory};

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

/// A memory and the vector that a model made of it, if it did.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryVector {
    pub place: Place,
    pub memory: MemoryId,
    pub vector: Option<Vec<f32>>,
}

/// Memories as they were read, and what could not be.
#[derive(Debug, Clone, Default)]
pub struct FoundMemories {
    pub items: Vec<PlacedItem>,
    /// Rows that belong to another session, and were dropped.
    pub blocked: u64,
    pub damaged: Vec<DamagedRow>,
    /// Where the next page begins, if there is one.
    pub next: Option<u64>,
}

/// A plan in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSummary {
    pub id: PlanId,
    pub number: u32,
    pub status: PlanStatus,
    pub style: PlanStyle,
    pub title: String,
    pub updated_at: Timestamp,
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

/// Sessions and their journals: stores commands' events in the order of each session, durably, and gives back what is stored.
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

    /// The sessions in an order that never changes, for callers that visit every one of them. `after` is the `next` of the
    /// page before. A session that exists during the whole walk is returned exactly once.
    async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>>;

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

    /// Removes the session with everything of it: journal, plans, memories, lease and the pointers to it. What a person
    /// promoted to global stays. Refused if the lease is lost.
    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()>;
}

/// Plans, their versions, and what the journal says about them.
#[async_trait]
pub trait PlanStore: Send + Sync + std::fmt::Debug + 'static {
    /// The plans of a session whose number or id the reference could mean; few are enough.
    async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>>;

    /// The session a plan belongs to.
    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>>;

    /// The plans of a session, the newest first. `before` is the `next` of the page before.
    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>>;

    /// Every entry about one plan, in order. An entry that cannot be read is named in its place.
    async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>>;

    /// The entry that made this version of a plan, found without reading the other versions.
    async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>>;

    /// Which entry made which version of the plans of a session, for comparison with the journal.
    async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>>;

    /// The stored form of all plans of a session, for comparison with the journal.
    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)>;
}

/// Memories, found through a chain of scopes, and their vectors.
#[async_trait]
pub trait MemoryStore: Send + Sync + std::fmt::Debug + 'static {
    /// What the index knows about these terms in the scopes of a chain. It costs what those scopes have, however many
    /// memories there are in others.
    async fn memory_matches(&self, chain: &ScopeChain, lookups: &[String]) -> LedgerResult<MemoryMatches>;

    /// The memories at these places of the chain, in any order. A place without one is left out.
    async fn memory_items(&self, chain: &ScopeChain, places: &[Place]) -> LedgerResult<FoundMemories>;

    /// The memories of the chain, the newest first. `before` is the `next` of the page before.
    async fn memories(&self, chain: &ScopeChain, before: Option<u64>, limit: u32) -> LedgerResult<FoundMemories>;

    /// The memories of the chain whose id has this piece; two are enough to know that it is not unique.
    async fn memories_named(&self, chain: &ScopeChain, piece: &str) -> LedgerResult<FoundMemories>;

    /// The newest items of the chain's scopes, at most `limit` in each, with the vectors that this model made of them.
    async fn memory_vectors(&self, chain: &ScopeChain, model: &str, limit: u32) -> LedgerResult<Vec<MemoryVector>>;

    /// Keeps what a model made of memories. Vectors are not in the journal: they are made again where they are missing.
    async fn keep_vectors(&self, model: &str, vectors: &[(MemoryId, Vec<f32>)]) -> LedgerResult<()>;
}

/// Leases of sessions, and the signs of life of the processes that hold them.
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

    /// Records that the process of this name is alive. Processes that were not alive for a day are forgotten.
    async fn heartbeat(&self, owner: &str, now: Timestamp) -> LedgerResult<()>;

    /// When a process was last alive, if it recorded that.
    async fn alive_at(&self, owner: &str) -> LedgerResult<Option<Timestamp>>;
}

/// Which session is meant in a chat, and whether people are reached there.
#[async_trait]
pub trait ChatStore: Send + Sync + std::fmt::Debug + 'static {
    /// The session that was last chosen on a transport and still exists.
    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>>;

    /// Chooses an existing session on a transport.
    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()>;

    /// The number of messages to people that were tried and did not reach them.
    async fn count_undelivered(&self) -> LedgerResult<u64>;
}

/// The records about approvers and the approval policy.
#[async_trait]
pub trait ApprovalStore: Send + Sync + std::fmt::Debug + 'static {
    /// Every record about approvers and the approval policy, in order, unchecked.
    async fn approval_records(&self) -> LedgerResult<Vec<SealedRecord>>;

    /// The hash of the last record about approvers. It covers every record before it, so it tells cheaply whether there are
    /// other records than the ones that were read.
    async fn approval_head(&self) -> LedgerResult<Option<[u8; 32]>>;

    /// Appends a record. Returns false if another record has its number: the caller reads again.
    async fn add_approval_record(&self, record: &SealedRecord) -> LedgerResult<bool>;
}

/// The whole port.
pub trait Ledger: SessionStore + PlanStore + MemoryStore + LeaseStore + ChatStore + ApprovalStore {}

impl<T: SessionStore + PlanStore + MemoryStore + LeaseStore + ChatStore + ApprovalStore> Ledger for T {}
