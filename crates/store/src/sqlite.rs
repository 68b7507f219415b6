//! The ledger in one SQLite file, which any number of processes on the machine may share.
//!
//! - `connection`: the settings every connection has, and the schema
//! - `writer`: the thread that commits many callers' work at once
//! - `submit`: one command inside the writer's transaction
//! - `session_cache`: sessions the writer keeps in memory
//! - `changes`: changes by other processes
//! - `leases`, `pointers`, `delete`: leases of sessions, the session chosen on a transport, and deletion
//! - `memory`: memories and the index they are found by
//! - `executions`: the outcomes of plans' steps
//! - `readers`: connections for reading; `queries`, `overview`, `paged`: what is read of one session, over all of them, and page by page
//! - `approvals`: the records about approvers
//! - `outbox`, `chat_updates`: messages to people, and the updates of chat services
//! - `claims`, `restore`, `health`, `inspect`: requests sent twice, sessions from a backup, and the state of the file

mod approvals;
mod auto;
mod changes;
mod chat_updates;
mod claims;
mod connection;
mod delete;
mod derived_rows;
mod errors;
mod executions;
mod health;
mod heartbeats;
pub(crate) mod inspect;
mod leases;
mod memory;
mod outbox;
mod overview;
mod paged;
mod pins;
mod pointers;
mod queries;
mod readers;
mod restore;
mod rows;
mod session_cache;
mod submit;
mod vectors;
mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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
use planwright_core::refusal::Refusal;
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    ApprovalStore, ChatStore, Committed, DamagedRow, DerivedRows, FoundMemories, Lease, LeaseStore, LedgerError,
    LedgerResult, MemoryStore, MemoryVector, Page, PlanStore, PlanSummary, SessionStore, StoredSession, Submission,
};
use planwright_engine::server_ledger::{
    Claim, ClaimedRequest, JournalSource, PlanAnywhere, RunsFilter, ServerLedger, StoreChange, StoreCounts, StoreFacts,
    StoredAnswer, Unfinished,
};
use planwright_engine::version_index::VersionIndexEntry;
use rusqlite::Connection;
use tokio::sync::broadcast;

use crate::changes::ChangeBroadcaster;
use crate::restore::replay_journal;
use crate::transport;
use changes::Changes;
use readers::Readers;
use writer::Writer;

/// A page of at most so many rows is read on the current thread.
const INLINE_ROWS: u32 = 64;

#[derive(Debug)]
pub struct SqliteLedger {
    writer: Writer,
    readers: Readers,
    changes: Changes,
}

/// An error inside a transaction: an answer of this store, or an error of SQLite.
#[derive(Debug)]
enum TransactionError {
    Ledger(LedgerError),
    Sqlite(rusqlite::Error),
}

impl From<LedgerError> for TransactionError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl From<Refusal> for TransactionError {
    fn from(refusal: Refusal) -> Self {
        Self::Ledger(refusal.into())
    }
}

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl SqliteLedger {
    /// Opens the file, making it and its folder if they are missing.
    pub async fn open(path: &Path) -> LedgerResult<Self> {
        let path = path.to_owned();
        let open = move || {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder).map_err(|error| {
                    LedgerError::Unavailable(format!("the folder {} cannot be made: {error}", folder.display()))
                })?;
            }
            make_private(&path);
            let connection = connection::open(&path)?;
            let broadcaster = ChangeBroadcaster::new();
            let writer = Writer::start(connection, path.clone(), broadcaster.clone())?;
            Ok(Self { writer, readers: Readers::new(path.clone()), changes: Changes::new(path, broadcaster) })
        };
        tokio::task::spawn_blocking(open)
            .await
            .map_err(|error| LedgerError::Internal(format!("opening the store failed: {error}")))?
    }
}

/// A new file can be read by its owner only. An existing file keeps its permissions. If the file cannot be made here,
/// opening it reports why.
fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

#[async_trait]
impl SessionStore for SqliteLedger {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        self.writer.ask(move |state| state.submit(&submission)).await
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        let session = session.clone();
        self.readers.read_inline(move |connection| queries::session(connection, &session)).await
    }

    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.readers.read(move |connection| queries::sessions(connection, after, limit)).await
    }

    async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.readers.read(move |connection| queries::walk_sessions(connection, after, limit)).await
    }

    async fn count_sessions(&self) -> LedgerResult<u64> {
        self.readers.read(queries::count_sessions).await
    }

    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        let key = key.clone();
        self.readers.read(move |connection| queries::sessions_with_key(connection, &key)).await
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        let (session, plan) = (session.clone(), plan.cloned());
        self.readers.read_inline(move |connection| queries::snapshot(connection, &session, plan.as_ref())).await
    }

    async fn is_request_known(&self, request: &RequestId) -> LedgerResult<bool> {
        let request = request.clone();
        self.readers.read_inline(move |connection| queries::is_request_known(connection, &request)).await
    }

    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        let session = session.clone();
        self.readers.read(move |connection| queries::journal(connection, &session, after, limit)).await
    }

    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        let session = session.clone();
        self.readers.read(move |connection| queries::conversation(connection, &session, from, limit)).await
    }

    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        self.readers.read(queries::orphans).await
    }

    async fn derived_rows(&self, session: &SessionIdentity, promoted: &[MemoryId]) -> LedgerResult<DerivedRows> {
        let (session, promoted) = (session.clone(), promoted.to_vec());
        self.readers.read(move |connection| derived_rows::read(connection, &session, &promoted)).await
    }

    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        let lease = lease.clone();
        self.writer.ask(move |state| state.delete_session(&lease)).await
    }
}

#[async_trait]
impl PlanStore for SqliteLedger {
    async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>> {
        let (session, reference) = (session.clone(), reference.clone());
        self.readers.read(move |connection| queries::candidates(connection, &session, &reference)).await
    }

    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        let plan = plan.clone();
        self.readers.read_inline(move |connection| queries::session_of(connection, &plan)).await
    }

    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        let session = session.clone();
        let query = move |connection: &Connection| queries::plans(connection, &session, before, limit);
        if limit <= INLINE_ROWS { self.readers.read_inline(query).await } else { self.readers.read(query).await }
    }

    async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>> {
        let (session, plan) = (session.clone(), plan.clone());
        self.readers.read(move |connection| queries::plan_journal(connection, &session, &plan)).await
    }

    async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>> {
        let (session, plan) = (session.clone(), plan.clone());
        self.readers.read_inline(move |connection| queries::version_entry(connection, &session, &plan, version)).await
    }

    async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>> {
        let session = session.clone();
        self.readers.read(move |connection| queries::version_index(connection, &session)).await
    }

    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        let session = session.clone();
        self.readers.read(move |connection| queries::stored_plans(connection, &session)).await
    }
}

#[async_trait]
impl MemoryStore for SqliteLedger {
    async fn memory_matches(&self, chain: &ScopeChain, lookups: &[String]) -> LedgerResult<MemoryMatches> {
        // Most sessions have no memories, which is known without a thread that may wait.
        let scopes = chain.clone();
        let visible = self.readers.read_inline(move |connection| memory::visible(connection, &scopes)).await?;
        if visible.rows.is_empty() {
            return Ok(visible.matches());
        }
        let (chain, lookups) = (chain.clone(), lookups.to_vec());
        self.readers.read(move |connection| memory::matches(connection, &chain, &lookups)).await
    }

    async fn memory_items(&self, chain: &ScopeChain, places: &[Place]) -> LedgerResult<FoundMemories> {
        let (chain, places) = (chain.clone(), places.to_vec());
        self.readers.read(move |connection| memory::items(connection, &chain, &places)).await
    }

    async fn memories(&self, chain: &ScopeChain, before: Option<u64>, limit: u32) -> LedgerResult<FoundMemories> {
        let chain = chain.clone();
        self.readers.read(move |connection| memory::list(connection, &chain, before, limit)).await
    }

    async fn memories_named(&self, chain: &ScopeChain, piece: &str) -> LedgerResult<FoundMemories> {
        let (chain, piece) = (chain.clone(), piece.to_owned());
        self.readers.read(move |connection| memory::named(connection, &chain, &piece)).await
    }

    async fn memory_vectors(&self, chain: &ScopeChain, model: &str, limit: u32) -> LedgerResult<Vec<MemoryVector>> {
        let (chain, model) = (chain.clone(), model.to_owned());
        self.readers.read(move |connection| vectors::read(connection, &chain, &model, limit)).await
    }

    async fn keep_vectors(&self, model: &str, vectors: &[(MemoryId, Vec<f32>)]) -> LedgerResult<()> {
        let (model, vectors) = (model.to_owned(), vectors.to_vec());
        self.writer.ask(move |state| vectors::write(&state.connection, &model, &vectors)).await
    }
}

#[async_trait]
impl LeaseStore for SqliteLedger {
    async fn acquire_lease(
        &self,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        let (session, owner) = (session.clone(), owner.to_owned());
        self.writer.ask(move |state| leases::acquire(&state.connection, &session, &owner, ttl)).await
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        let lease = lease.clone();
        self.writer.ask(move |state| leases::renew(&state.connection, &lease, ttl)).await
    }

    async fn lease(&self, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
        let session = session.clone();
        self.readers.read(move |connection| leases::current(connection, &session)).await
    }

    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()> {
        let lease = lease.clone();
        self.writer.ask(move |state| leases::release(&state.connection, &lease)).await
    }

    async fn note_alive(&self, owner: &str, now: Timestamp) -> LedgerResult<()> {
        let owner = owner.to_owned();
        self.writer.ask(move |state| heartbeats::note(&state.connection, &owner, now)).await
    }

    async fn alive_at(&self, owner: &str) -> LedgerResult<Option<Timestamp>> {
        let owner = owner.to_owned();
        self.readers.read_inline(move |connection| heartbeats::last(connection, &owner)).await
    }
}

#[async_trait]
impl ChatStore for SqliteLedger {
    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        let transport = transport.clone();
        self.readers.read(move |connection| pointers::active_session(connection, &transport)).await
    }

    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        transport::check(transport)?;
        let (transport, session) = (transport.clone(), session.clone());
        self.writer.ask(move |state| pointers::point(&state.connection, &transport, &session)).await
    }

    async fn count_undelivered(&self) -> LedgerResult<u64> {
        self.readers.read(outbox::count_undelivered).await
    }
}

#[async_trait]
impl ApprovalStore for SqliteLedger {
    async fn approval_records(&self) -> LedgerResult<Vec<SealedRecord>> {
        self.readers.read_inline(approvals::records).await
    }

    async fn approval_head(&self) -> LedgerResult<Option<[u8; 32]>> {
        self.readers.read_inline(approvals::head).await
    }

    async fn add_approval_record(&self, record: &SealedRecord) -> LedgerResult<bool> {
        let record = record.clone();
        self.writer.ask(move |state| approvals::add(&state.connection, &record)).await
    }
}

#[async_trait]
impl ServerLedger for SqliteLedger {
    fn changes(&self) -> broadcast::Receiver<StoreChange> {
        self.changes.subscribe()
    }

    async fn plans_anywhere(
        &self,
        statuses: &[PlanStatus],
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanAnywhere>> {
        let statuses = statuses.to_vec();
        self.readers.read(move |connection| overview::plans_anywhere(connection, &statuses, after, limit)).await
    }

    async fn asking(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.readers.read(move |connection| overview::asking(connection, after, limit)).await
    }

    async fn take_due(&self, now: Timestamp, keep: Duration, limit: u32) -> LedgerResult<Vec<SessionIdentity>> {
        self.writer.ask(move |state| auto::take_due(&state.connection, now, keep, limit)).await
    }

    async fn sessions_with_runs(
        &self,
        which: RunsFilter,
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<StoredSession>> {
        self.readers.read(move |connection| auto::sessions_with_runs(connection, which, after, limit)).await
    }

    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>> {
        self.readers.read(move |connection| overview::unfinished(connection, after, limit)).await
    }

    async fn counts(&self) -> LedgerResult<StoreCounts> {
        self.readers.read(overview::counts).await
    }

    async fn check(&self) -> LedgerResult<StoreFacts> {
        health::check(&self.writer, &self.readers).await
    }

    async fn check_writable(&self) -> LedgerResult<()> {
        health::check_writable(&self.writer).await
    }

    async fn claim(&self, request: &ClaimedRequest, now: Timestamp, keep: Duration) -> LedgerResult<Claim> {
        let request = request.clone();
        self.writer.ask(move |state| claims::claim(&state.connection, &request, now, keep)).await
    }

    async fn keep_answer(&self, key: &str, answer: &StoredAnswer) -> LedgerResult<()> {
        let (key, answer) = (key.to_owned(), answer.clone());
        self.writer.ask(move |state| claims::keep_answer(&state.connection, &key, &answer)).await
    }

    async fn forget_claim(&self, key: &str) -> LedgerResult<()> {
        let key = key.to_owned();
        self.writer.ask(move |state| claims::forget(&state.connection, &key)).await
    }

    async fn restore(&self, session: &SessionIdentity, journal: Arc<dyn JournalSource>) -> LedgerResult<()> {
        let restored = replay_journal(session, journal.as_ref())?;
        self.writer.ask(move |state| state.restore(&restored, journal.as_ref())).await
    }

    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
        self.readers.read(pointers::all).await
    }
}
