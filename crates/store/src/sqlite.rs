//! The ledger in one SQLite file, which any number of processes on the machine may share.
//!
//! - `connection`: the settings every connection has, and the schema
//! - `writer`: the thread that commits many callers' work at once
//! - `submitting`: one command inside the writer's transaction
//! - `cache`: sessions the writer keeps in memory
//! - `changes`: what other processes write
//! - `leases`, `pointers`, `deleting`: who works on a session, where it was chosen last, and its end
//! - `runs`: how the steps of plans went
//! - `reading`, `overview`: everything that only looks, at one session and at all of them
//! - `claims`, `restoring`, `checking`: what clients send twice, sessions that come back, and whether the file is well

mod changes;
mod checking;
mod claims;
mod connection;
mod deleting;
mod errors;
mod leases;
pub(crate) mod looking;
mod overview;
mod pointers;
mod reading;
mod restoring;
mod rows;
mod runs;
mod session_cache;
mod submitting;
mod writer;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::ids::PlanId;
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::reference::{Candidate, PlanReference};
use planwright_core::refusal::Refusal;
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, DamagedRow, Lease, Ledger, LedgerError, LedgerResult, Page, PlanSummary, StoredSession, Submission,
};
use planwright_engine::server_ledger::{
    Census, Change, Claim, ClaimedRequest, PlanAnywhere, ServerLedger, StoreFacts, StoredAnswer, Unfinished,
};
use tokio::sync::broadcast;

use crate::changes::Teller;
use crate::restoring::go_through;
use crate::transport;
use changes::Changes;
use reading::Readers;
use writer::Writer;

#[derive(Debug)]
pub struct SqliteLedger {
    writer: Writer,
    readers: Readers,
    changes: Changes,
}

/// What can go wrong inside a transaction: an answer of ours, or SQLite's own trouble.
#[derive(Debug)]
enum Fault {
    Ledger(LedgerError),
    Sqlite(rusqlite::Error),
}

impl From<LedgerError> for Fault {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Ledger(refusal.into())
    }
}

impl From<rusqlite::Error> for Fault {
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
            let teller = Teller::new();
            let writer = Writer::start(connection, path.clone(), teller.clone())?;
            Ok(Self { writer, readers: Readers::new(path.clone()), changes: Changes::new(path, teller) })
        };
        tokio::task::spawn_blocking(open)
            .await
            .map_err(|error| LedgerError::Internal(format!("opening the store failed: {error}")))?
    }
}

/// What people say to an agent is nobody else's business. A file that is there keeps the rights it has; one that cannot be
/// made here is explained when it is opened.
fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

#[async_trait]
impl Ledger for SqliteLedger {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        self.writer.ask(move |state| state.submit(&submission)).await
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        let session = session.clone();
        self.readers.glance(move |connection| reading::session(connection, &session)).await
    }

    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.readers.read(move |connection| reading::sessions(connection, after, limit)).await
    }

    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        let key = key.clone();
        self.readers.read(move |connection| reading::sessions_with_key(connection, &key)).await
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        let (session, plan) = (session.clone(), plan.cloned());
        self.readers.glance(move |connection| reading::snapshot(connection, &session, plan.as_ref())).await
    }

    async fn candidates(&self, session: &SessionIdentity, reference: &PlanReference) -> LedgerResult<Vec<Candidate>> {
        let (session, reference) = (session.clone(), reference.clone());
        self.readers.read(move |connection| reading::candidates(connection, &session, &reference)).await
    }

    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        let plan = plan.clone();
        self.readers.glance(move |connection| reading::session_of(connection, &plan)).await
    }

    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        let session = session.clone();
        self.readers.read(move |connection| reading::plans(connection, &session, before, limit)).await
    }

    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        let session = session.clone();
        self.readers.read(move |connection| reading::journal(connection, &session, after, limit)).await
    }

    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        let session = session.clone();
        self.readers.read(move |connection| reading::conversation(connection, &session, from, limit)).await
    }

    async fn plan_journal(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<Vec<Entry>> {
        let (session, plan) = (session.clone(), plan.clone());
        self.readers.read(move |connection| reading::plan_journal(connection, &session, &plan)).await
    }

    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        let session = session.clone();
        self.readers.read(move |connection| reading::stored_plans(connection, &session)).await
    }

    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        self.readers.read(reading::orphans).await
    }

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
    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        let lease = lease.clone();
        self.writer.ask(move |state| state.delete_session(&lease)).await
    }

    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        let transport = transport.clone();
        self.readers.read(move |connection| pointers::active_session(connection, &transport)).await
    }

    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        transport::check(transport)?;
        let (transport, session) = (transport.clone(), session.clone());
        self.writer.ask(move |state| pointers::point(&state.connection, &transport, &session)).await
    }
}

#[async_trait]
impl ServerLedger for SqliteLedger {
    fn changes(&self) -> broadcast::Receiver<Change> {
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

    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>> {
        self.readers.read(move |connection| overview::unfinished(connection, after, limit)).await
    }

    async fn census(&self) -> LedgerResult<Census> {
        self.readers.read(overview::census).await
    }

    async fn check(&self) -> LedgerResult<StoreFacts> {
        checking::check(&self.writer, &self.readers).await
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

    async fn restore(&self, session: &SessionIdentity, entries: &[SealedEntry]) -> LedgerResult<()> {
        let restored = go_through(session, entries)?;
        self.writer.ask(move |state| state.restore(&restored)).await
    }

    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
        self.readers.read(pointers::all).await
    }
}
