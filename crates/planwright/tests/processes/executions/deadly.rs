//! A store behind which a process stands still right after a chosen write.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::ids::PlanId;
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, DamagedRow, Lease, Ledger, LedgerResult, Page, PlanSummary, StoredSession, Submission,
};
use planwright_engine::version_index::VersionIndexEntry;

use super::fate::Fates;

#[derive(Debug)]
pub(super) struct Deadly {
    pub(super) inner: Arc<dyn Ledger>,
    pub(super) fates: Arc<Fates>,
}

#[async_trait]
impl Ledger for Deadly {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        let session = submission.session.clone();
        let committed = self.inner.submit(submission).await?;
        if !committed.events.is_empty() || committed.lease.is_some() {
            self.fates.wrote(&session).await;
        }
        Ok(committed)
    }

    async fn lease(&self, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
        self.inner.lease(session).await
    }

    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()> {
        self.inner.release_lease(lease).await?;
        self.fates.wrote(&lease.session).await;
        Ok(())
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        self.inner.session(session).await
    }

    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.inner.sessions(after, limit).await
    }

    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        self.inner.sessions_with_key(key).await
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.inner.snapshot(session, plan).await
    }

    async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>> {
        self.inner.candidates(session, reference).await
    }

    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        self.inner.session_of(plan).await
    }

    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        self.inner.plans(session, before, limit).await
    }

    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        self.inner.journal(session, after, limit).await
    }

    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        self.inner.conversation(session, from, limit).await
    }

    async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>> {
        self.inner.plan_journal(session, plan).await
    }

    async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>> {
        self.inner.version_entry(session, plan, version).await
    }

    async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>> {
        self.inner.version_index(session).await
    }

    async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.inner.walk_sessions(after, limit).await
    }

    async fn count_sessions(&self) -> LedgerResult<u64> {
        self.inner.count_sessions().await
    }

    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        self.inner.stored_plans(session).await
    }

    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        self.inner.orphans().await
    }

    async fn acquire_lease(
        &self,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        self.inner.acquire_lease(session, owner, ttl).await
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        self.inner.renew_lease(lease, ttl).await
    }

    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        self.inner.delete_session(lease).await
    }

    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        self.inner.active_session(transport).await
    }

    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        self.inner.point(transport, session).await
    }
}
