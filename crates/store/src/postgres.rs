//! The ledger in a PostgreSQL database, which any number of machines may share.
//!
//! - `target`, `statement`: what the URL says, whether a pooler is in between, and how statements are sent
//! - `schema`, `data_migrations`: migrations
//! - `writer_pool`, `writer_connection`: the writers, and what they do when the database goes away
//! - `batch`: many callers' commands in one transaction
//! - `readers`, `overview`: what is read of one session and over all of them
//! - `approvals`: the records about approvers
//! - `outbox`, `chat_updates`: messages to people, and the updates of chat services
//! - `claims`, `restore`, `health`, `inspect`: requests sent twice, sessions from a backup, and the state of the database
//! - `changes`: announces which sessions were written to
//! - `leases`, `pointers`, `delete`: leases of sessions, the session chosen on a transport, and deletion
//!
//! Nothing here needs more than row locks, `UNNEST` and `ON CONFLICT`, so that databases that speak PostgreSQL's language
//! without being it can take its session.

mod approvals;
mod auto;
mod batch;
mod changes;
mod chat_updates;
mod claims;
mod data_migrations;
mod delete;
mod derived_rows;
mod errors;
mod health;
mod heartbeats;
pub(crate) mod inspect;
mod leases;
mod memory;
mod outbox;
mod overview;
mod pins;
mod pointers;
mod readers;
mod restore;
mod rows;
mod schema;
mod statement;
mod target;
mod vectors;
mod writer_connection;
mod writer_pool;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::approval::record::SealedRecord;
use planwright_core::ids::{MemoryId, PlanId, RequestId};
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::memory::ScopeChain;
use planwright_core::memory::ranking::{MemoryMatches, Place};
use planwright_core::plan::Plan;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    ApprovalStore, ChatStore, Committed, DamagedRow, DerivedRows, FoundMemories, Lease, LeaseStore, LedgerResult,
    MemoryStore, MemoryVector, Page, PlanStore, PlanSummary, SessionStore, StoredSession, Submission,
};
use planwright_engine::server_ledger::{
    Claim, ClaimedRequest, JournalSource, PlanAnywhere, RunsFilter, ServerLedger, StoreChange, StoreCounts, StoreFacts,
    StoredAnswer, Unfinished,
};
use planwright_engine::version_index::VersionIndexEntry;
use tokio::sync::broadcast;

use crate::restore::replay_journal;
use crate::write_health::WriteHealth;
use changes::Changes;
use readers::Readers;
use restore::RestoreConnection;
use target::Target;
use writer_pool::WriterPool;

#[derive(Debug)]
pub struct PostgresLedger {
    writers: WriterPool,
    readers: Readers,
    changes: Changes,
    restoring: RestoreConnection,
}

impl PostgresLedger {
    /// Reaches the database and brings its schema up to date.
    pub async fn open(url: &str) -> LedgerResult<Self> {
        let target = Target::find(url).await?;
        let client = target.connect().await.map_err(|error| error.to_error())?;
        schema::migrate(&client).await.map_err(|error| error.to_error())?;
        let changes = Changes::new(&client, &target).await.map_err(|error| error.to_error())?;
        let health = Arc::<WriteHealth>::default();
        let writers = WriterPool::start(&target, &changes, &health);
        let restoring = RestoreConnection::new(&target, &changes);
        Ok(Self { writers, readers: Readers::new(&target, &health)?, changes, restoring })
    }
}

#[async_trait]
impl SessionStore for PostgresLedger {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        self.writers.submit(submission).await
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        self.readers.session(session).await
    }

    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.readers.sessions(after, limit).await
    }

    async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.readers.walk_sessions(after, limit).await
    }

    async fn count_sessions(&self) -> LedgerResult<u64> {
        self.readers.count_sessions().await
    }

    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        self.readers.sessions_with_key(key).await
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.readers.snapshot(session, plan).await
    }

    async fn is_request_known(&self, request: &RequestId) -> LedgerResult<bool> {
        self.readers.is_request_known(request).await
    }

    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        self.readers.journal(session, after, limit).await
    }

    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        self.readers.conversation(session, from, limit).await
    }

    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        self.readers.orphans().await
    }

    async fn derived_rows(&self, session: &SessionIdentity, promoted: &[MemoryId]) -> LedgerResult<DerivedRows> {
        derived_rows::read(&self.readers, session, promoted).await
    }

    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        delete::delete(&self.readers, &self.changes, lease).await
    }
}

#[async_trait]
impl PlanStore for PostgresLedger {
    async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>> {
        self.readers.candidates(session, reference).await
    }

    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        self.readers.session_of(plan).await
    }

    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        self.readers.plans(session, before, limit).await
    }

    async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>> {
        self.readers.plan_journal(session, plan).await
    }

    async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>> {
        self.readers.version_entry(session, plan, version).await
    }

    async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>> {
        self.readers.version_index(session).await
    }

    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        self.readers.stored_plans(session).await
    }
}

#[async_trait]
impl MemoryStore for PostgresLedger {
    async fn memory_matches(&self, chain: &ScopeChain, lookups: &[String]) -> LedgerResult<MemoryMatches> {
        memory::matches(&self.readers, chain, lookups).await
    }

    async fn memory_items(&self, chain: &ScopeChain, places: &[Place]) -> LedgerResult<FoundMemories> {
        memory::items(&self.readers, chain, places).await
    }

    async fn memories(&self, chain: &ScopeChain, before: Option<u64>, limit: u32) -> LedgerResult<FoundMemories> {
        memory::list(&self.readers, chain, before, limit).await
    }

    async fn memories_named(&self, chain: &ScopeChain, piece: &str) -> LedgerResult<FoundMemories> {
        memory::named(&self.readers, chain, piece).await
    }

    async fn memory_vectors(&self, chain: &ScopeChain, model: &str, limit: u32) -> LedgerResult<Vec<MemoryVector>> {
        vectors::read(&self.readers, chain, model, limit).await
    }

    async fn keep_vectors(&self, model: &str, vectors: &[(MemoryId, Vec<f32>)]) -> LedgerResult<()> {
        vectors::write(&self.readers, model, vectors).await
    }
}

#[async_trait]
impl LeaseStore for PostgresLedger {
    async fn acquire_lease(
        &self,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        leases::acquire(&self.readers, session, owner, ttl).await
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        leases::renew(&self.readers, lease, ttl).await
    }

    async fn lease(&self, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
        leases::current(&self.readers, session).await
    }

    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()> {
        leases::release(&self.readers, lease).await
    }

    async fn note_alive(&self, owner: &str, now: Timestamp) -> LedgerResult<()> {
        heartbeats::note(&self.readers, owner, now).await
    }

    async fn alive_at(&self, owner: &str) -> LedgerResult<Option<Timestamp>> {
        heartbeats::last(&self.readers, owner).await
    }
}

#[async_trait]
impl ChatStore for PostgresLedger {
    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        pointers::active_session(&self.readers, transport).await
    }

    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        pointers::point(&self.readers, transport, session).await
    }

    async fn count_undelivered(&self) -> LedgerResult<u64> {
        self.readers.count_undelivered().await
    }
}

#[async_trait]
impl ApprovalStore for PostgresLedger {
    async fn approval_records(&self) -> LedgerResult<Vec<SealedRecord>> {
        approvals::records(&self.readers).await
    }

    async fn approval_head(&self) -> LedgerResult<Option<[u8; 32]>> {
        approvals::head(&self.readers).await
    }

    async fn add_approval_record(&self, record: &SealedRecord) -> LedgerResult<bool> {
        approvals::add(&self.readers, record).await
    }
}

#[async_trait]
impl ServerLedger for PostgresLedger {
    fn changes(&self) -> broadcast::Receiver<StoreChange> {
        self.changes.subscribe()
    }

    async fn plans_anywhere(
        &self,
        statuses: &[PlanStatus],
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanAnywhere>> {
        overview::plans_anywhere(&self.readers, statuses, after, limit).await
    }

    async fn asking(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        overview::asking(&self.readers, after, limit).await
    }

    async fn take_due(&self, now: Timestamp, keep: Duration, limit: u32) -> LedgerResult<Vec<SessionIdentity>> {
        auto::take_due(&self.readers, now, keep, limit).await
    }

    async fn sessions_with_runs(
        &self,
        which: RunsFilter,
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<StoredSession>> {
        auto::sessions_with_runs(&self.readers, which, after, limit).await
    }

    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>> {
        overview::unfinished(&self.readers, after, limit).await
    }

    async fn counts(&self) -> LedgerResult<StoreCounts> {
        overview::counts(&self.readers).await
    }

    async fn check(&self) -> LedgerResult<StoreFacts> {
        health::check(&self.writers, &self.readers, &self.changes).await
    }

    async fn check_writable(&self) -> LedgerResult<()> {
        health::check_writable(&self.writers, &self.readers).await
    }

    async fn claim(&self, request: &ClaimedRequest, now: Timestamp, keep: Duration) -> LedgerResult<Claim> {
        claims::claim(&self.readers, self.changes.own_name(), request, now, keep).await
    }

    async fn keep_answer(&self, key: &str, answer: &StoredAnswer) -> LedgerResult<()> {
        claims::keep_answer(&self.readers, key, answer).await
    }

    async fn forget_claim(&self, key: &str) -> LedgerResult<()> {
        claims::forget(&self.readers, key).await
    }

    async fn restore(&self, session: &SessionIdentity, journal: Arc<dyn JournalSource>) -> LedgerResult<()> {
        let restored = replay_journal(session, journal.as_ref())?;
        self.restoring.restore(&self.readers, &restored, journal.as_ref()).await
    }

    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
        pointers::all(&self.readers).await
    }
}
