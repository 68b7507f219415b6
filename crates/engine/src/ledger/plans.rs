//! The port for plans.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::ids::PlanId;
use planwright_core::journal::Entry;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;

use super::{DamagedRow, LedgerResult, Page};
use crate::version_index::VersionIndexEntry;

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

    /// The plans in one of these statuses, over all sessions, the one that changed last first. `after` is the `next` of
    /// the page before.
    async fn plans_anywhere(
        &self,
        statuses: &[PlanStatus],
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanAnywhere>>;

    /// The plans that may wait for a person ([`Session::may_wait`]), over all sessions, in the same order. No other plan is read.
    ///
    /// [`Session::may_wait`]: planwright_core::session::Session::may_wait
    async fn waiting_plans(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<PlanAnywhere>>;
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

/// A plan in a list over all sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanAnywhere {
    pub session: SessionIdentity,
    pub plan: PlanSummary,
    /// Whether the session works on it.
    pub active: bool,
}
