//! Looking at sessions and plans.

use std::sync::Arc;

use planwright_core::ids::PlanId;
use planwright_core::plan::Plan;
use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::Refusal;
use planwright_core::session::{ConversationKey, Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;

use super::{Engine, no_plan};
use crate::ledger::{LedgerResult, Page, PlanSummary, StoredSession};

impl Engine {
    pub async fn session(&self, session: &SessionIdentity) -> LedgerResult<Session> {
        Ok(self.stored_session(session).await?.session)
    }

    /// The same, with where its journal ends and when it was last active.
    pub async fn stored_session(&self, session: &SessionIdentity) -> LedgerResult<StoredSession> {
        let stored = self.ledger.session(session).await?;
        stored.ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")).into())
    }

    pub async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.ledger.sessions(after, limit).await
    }

    pub async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        self.ledger.sessions_with_key(key).await
    }

    /// The session and its active plan, for a look without a change.
    pub async fn snapshot(&self, session: &SessionIdentity) -> LedgerResult<Snapshot> {
        self.ledger.snapshot(session, None).await
    }

    pub async fn plan(&self, session: &SessionIdentity, id: &PlanId) -> LedgerResult<Arc<Plan>> {
        let snapshot = self.ledger.snapshot(session, Some(id)).await?;
        snapshot.plans.get(id).cloned().ok_or_else(|| no_plan(session, id).into())
    }

    /// The plan that a person means: the one they name, else the active one.
    pub async fn find_plan(
        &self,
        session: &SessionIdentity,
        reference: Option<&PlanReference>,
    ) -> LedgerResult<Arc<Plan>> {
        let Some(reference) = reference else { return self.active_plan(session).await };
        // A whole id is found at once. What could be a piece of one is looked for among all of them.
        if let PlanReference::Piece(text) = reference
            && let Ok(id) = PlanId::new(text.as_str())
            && let Some(plan) = self.ledger.snapshot(session, Some(&id)).await?.plans.get(&id)
        {
            return Ok(Arc::clone(plan));
        }
        let candidates = self.ledger.candidates(session, reference).await?;
        let id = reference.choose(&candidates)?;
        self.plan(session, &id).await
    }

    pub async fn active_plan(&self, session: &SessionIdentity) -> LedgerResult<Arc<Plan>> {
        let snapshot = self.ledger.snapshot(session, None).await?;
        let opened = snapshot.opened()?;
        let active = opened.plan_mode.active_plan.as_ref().and_then(|id| snapshot.plans.get(id).cloned());
        active.ok_or_else(|| {
            let hint = match opened.plans_made {
                0 => "there are none yet",
                _ => "name one by its number",
            };
            Refusal::not_found(format!("No plan is active in session {session}; {hint}.")).into()
        })
    }

    pub async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        self.ledger.plans(session, before, limit).await
    }
}
