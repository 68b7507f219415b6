//! A store that a test can make fail.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::ids::PlanId;
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, DamagedRow, Lease, Ledger, LedgerError, LedgerResult, Page, PlanSummary, StoredSession, Submission,
};
use planwright_engine::server_ledger::{
    Change, Claim, ClaimedRequest, PlanAnywhere, ServerLedger, StoreCounts, StoreFacts, StoredAnswer, Unfinished,
};
use planwright_engine::version_index::VersionIndexEntry;
use tokio::sync::broadcast;

/// How the store answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mood(Arc<AtomicU8>, Arc<AtomicUsize>);

impl Mood {
    pub(crate) fn answer(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(crate) fn refuse(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    pub(crate) fn panic(&self) {
        self.0.store(2, Ordering::Relaxed);
    }

    /// It can be read and not written.
    pub(crate) fn fill_disk(&self) {
        self.0.store(3, Ordering::Relaxed);
    }

    /// It counts what it holds, instead of a fixed census.
    pub(crate) fn count_truly(&self) {
        self.0.store(4, Ordering::Relaxed);
    }

    /// How often the store was asked whether it can be written.
    pub(crate) fn checks(&self) -> usize {
        self.1.load(Ordering::Relaxed)
    }

    async fn answers(&self) -> LedgerResult<()> {
        match self.0.load(Ordering::Relaxed) {
            0 | 3 | 4 => Ok(()),
            1 => Err(LedgerError::Unavailable("somebody pulled the plug".to_owned())),
            _ => panic!("as the test likes it"),
        }
    }
}

/// What a model may call its plan.
pub(crate) const HOSTILE_TITLE: &str = r#"<script src="/start.js">'&"#;

#[derive(Debug)]
pub(crate) struct Moody {
    store: Arc<dyn ServerLedger>,
    mood: Mood,
}

impl Moody {
    pub(crate) fn new(store: Arc<dyn ServerLedger>, mood: Mood) -> Self {
        Self { store, mood }
    }
}

#[async_trait]
impl ServerLedger for Moody {
    fn changes(&self) -> broadcast::Receiver<Change> {
        self.store.changes()
    }
    async fn plans_anywhere(&self, _: &[PlanStatus], _: Option<u64>, _: u32) -> LedgerResult<Page<PlanAnywhere>> {
        self.mood.answers().await?;
        let plan = PlanSummary {
            id: PlanId::new("plan-1").unwrap(),
            number: 1,
            status: PlanStatus::Ready,
            style: PlanStyle::Document,
            title: HOSTILE_TITLE.to_owned(),
            updated_at: Timestamp::UNIX_EPOCH,
        };
        let found = PlanAnywhere { session: "web:s0mebody".parse().unwrap(), plan, active: true };
        Ok(Page { items: vec![found], damaged: Vec::new(), next: None })
    }
    async fn unfinished(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<Unfinished>> {
        self.store.unfinished(after, limit).await
    }
    async fn counts(&self) -> LedgerResult<StoreCounts> {
        self.mood.answers().await?;
        if self.mood.0.load(Ordering::Relaxed) == 4 {
            return self.store.counts().await;
        }
        Ok(StoreCounts { sessions: 5, planning: 4, turns: 3, plans_ready: 2, plans_executing: 1 })
    }
    async fn check(&self) -> LedgerResult<StoreFacts> {
        self.mood.answers().await?;
        Ok(StoreFacts { kind: "a store".to_owned(), schema: 1, told_by_others: true })
    }
    async fn check_writable(&self) -> LedgerResult<()> {
        self.mood.1.fetch_add(1, Ordering::Relaxed);
        match self.mood.0.load(Ordering::Relaxed) {
            3 => Err(LedgerError::Unavailable("no space left on the block device".to_owned())),
            _ => self.mood.answers().await,
        }
    }
    async fn claim(&self, request: &ClaimedRequest, now: Timestamp, keep: Duration) -> LedgerResult<Claim> {
        self.store.claim(request, now, keep).await
    }
    async fn keep_answer(&self, key: &str, answer: &StoredAnswer) -> LedgerResult<()> {
        self.store.keep_answer(key, answer).await
    }
    async fn forget_claim(&self, key: &str) -> LedgerResult<()> {
        self.store.forget_claim(key).await
    }
    async fn restore(&self, session: &SessionIdentity, entries: &[SealedEntry]) -> LedgerResult<()> {
        self.store.restore(session, entries).await
    }
    async fn pointers(&self) -> LedgerResult<Vec<(TransportChat, SessionIdentity)>> {
        self.store.pointers().await
    }
}

#[async_trait]
impl Ledger for Moody {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        self.store.submit(submission).await
    }
    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        self.store.session(session).await
    }
    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.store.sessions(after, limit).await
    }
    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        self.store.sessions_with_key(key).await
    }
    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.store.snapshot(session, plan).await
    }
    async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>> {
        self.store.candidates(session, reference).await
    }
    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        self.store.session_of(plan).await
    }
    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        self.store.plans(session, before, limit).await
    }
    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        self.store.journal(session, after, limit).await
    }
    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        self.store.conversation(session, from, limit).await
    }
    async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>> {
        self.store.plan_journal(session, plan).await
    }

    async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>> {
        self.store.version_entry(session, plan, version).await
    }

    async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>> {
        self.store.version_index(session).await
    }

    async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.store.walk_sessions(after, limit).await
    }

    async fn count_sessions(&self) -> LedgerResult<u64> {
        self.store.count_sessions().await
    }
    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        self.store.stored_plans(session).await
    }
    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        self.store.orphans().await
    }
    async fn acquire_lease(
        &self,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        self.store.acquire_lease(session, owner, ttl).await
    }
    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        self.store.renew_lease(lease, ttl).await
    }

    async fn lease(&self, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
        self.store.lease(session).await
    }

    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()> {
        self.store.release_lease(lease).await
    }
    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        self.store.delete_session(lease).await
    }
    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        self.store.active_session(transport).await
    }
    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        self.store.point(transport, session).await
    }
}
