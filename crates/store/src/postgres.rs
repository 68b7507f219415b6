//! The ledger in a PostgreSQL database, which any number of machines may share.
//!
//! - `connect`, `connection`: what the URL says; a pool for readers, a connection of its own for each writer
//! - `schema`, `moving`: migrations
//! - `lanes`: the writers, and what they do when the database goes away
//! - `batch`: many callers' commands in one transaction
//! - `readers`, `overview`: everything that only looks, at one session and at all of them
//! - `claims`, `restoring`, `checking`: what clients send twice, sessions that come back, and whether the database is well
//! - `changes`: what is written, told to this process and to others
//! - `leases`, `pointers`, `deleting`: who works on a session, where it was chosen last, and its end
//!
//! Nothing here needs more than row locks, `UNNEST` and `ON CONFLICT`, so that databases that speak PostgreSQL's language
//! without being it can take its place.

mod batch;
mod changes;
mod checking;
mod claims;
mod connect;
mod connection;
mod deleting;
mod errors;
mod lanes;
mod leases;
pub(crate) mod looking;
mod moving;
mod overview;
mod pointers;
mod readers;
mod restoring;
mod rows;
mod schema;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::ids::PlanId;
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::reference::{Candidate, PlanReference};
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, DamagedRow, Lease, Ledger, LedgerResult, Page, PlanSummary, StoredSession, Submission,
};
use planwright_engine::server_ledger::{
    Census, Change, Claim, ClaimedRequest, PlanAnywhere, ServerLedger, StoreFacts, StoredAnswer, Unfinished,
};
use tokio::sync::broadcast;

use crate::restoring::go_through;
use changes::Changes;
use connect::Target;
use lanes::Lanes;
use readers::Readers;
use restoring::Restoring;

#[derive(Debug)]
pub struct PostgresLedger {
    lanes: Lanes,
    readers: Readers,
    changes: Changes,
    restoring: Restoring,
}

impl PostgresLedger {
    /// Reaches the database and brings its schema up to date.
    pub async fn open(url: &str) -> LedgerResult<Self> {
        let target = Target::parse(url)?;
        let client = target.connect().await.map_err(|failure| failure.to_error())?;
        schema::migrate(&client).await.map_err(|failure| failure.to_error())?;
        let changes = Changes::new(&client, &target).await.map_err(|failure| failure.to_error())?;
        let lanes = Lanes::start(&target, &changes);
        let restoring = Restoring::new(&target, &changes);
        Ok(Self { lanes, readers: Readers::new(&target)?, changes, restoring })
    }
}

#[async_trait]
impl Ledger for PostgresLedger {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        self.lanes.submit(submission).await
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        self.readers.session(session).await
    }

    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.readers.sessions(after, limit).await
    }

    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        self.readers.sessions_with_key(key).await
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.readers.snapshot(session, plan).await
    }

    async fn candidates(&self, session: &SessionIdentity, reference: &PlanReference) -> LedgerResult<Vec<Candidate>> {
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

    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        self.readers.journal(session, after, limit).await
    }

    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        self.readers.conversation(session, from, limit).await
    }

    async fn plan_journal(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<Vec<Entry>> {
        self.readers.plan_journal(session, plan).await
    }

    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        self.readers.stored_plans(session).await
    }

    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        self.readers.orphans().await
    }

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
    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        deleting::delete(&self.readers, &self.changes, lease).await
    }

    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        pointers::active_session(&self.readers, transport).await
    }

    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        pointers::point(&self.readers, transport, session).await
    }
}

#[async_trait]
impl ServerLedger for PostgresLedger {
    fn changes(&self) -> broadcast::Receiver<Change> {
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

    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>> {
        overview::unfinished(&self.readers, after, limit).await
    }

    async fn census(&self) -> LedgerResult<Census> {
        overview::census(&self.readers).await
    }

    async fn check(&self) -> LedgerResult<StoreFacts> {
        checking::check(&self.lanes, &self.readers, &self.changes).await
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

    async fn restore(&self, session: &SessionIdentity, entries: &[SealedEntry]) -> LedgerResult<()> {
        self.restoring.restore(&self.readers, &go_through(session, entries)?).await
    }

    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
        pointers::all(&self.readers).await
    }
}
