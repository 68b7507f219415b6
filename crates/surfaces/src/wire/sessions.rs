//! Sessions as they are listed.

use jiff::Timestamp;
use planwright_core::plan::execution::ExecutionProgress;
use planwright_core::plan::{Execution, Plan, PlanStatus};
use planwright_core::session::Channel;
use planwright_engine::ledger::StoredSession;
use serde::Serialize;
use utoipa::ToSchema;

use super::PlanModeView;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredSessionView {
    pub session_id: String,
    pub channel: Channel,
    /// The first words that were said.
    #[schema(required = true)]
    pub topic: Option<String>,
    /// The name that a person gave it.
    #[schema(required = true)]
    pub title: Option<String>,
    pub opened_at: Timestamp,
    pub last_active: Timestamp,
    /// The journal's last number.
    pub seq: u64,
    /// Whether a turn is under way.
    pub working: bool,
    pub plans_made: u32,
    pub plan_mode: PlanModeView,
    /// The project folder that the file tools work in; `null` is the session's own folder.
    #[schema(required = true)]
    pub workspace: Option<String>,
    /// The plan that the session works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub active_plan: Option<ActivePlanView>,
}

impl From<&StoredSession> for StoredSessionView {
    fn from(stored: &StoredSession) -> Self {
        let session = &stored.session;
        Self {
            session_id: session.identity.conversation.to_string(),
            channel: session.identity.channel,
            topic: session.topic.clone(),
            title: session.title.clone(),
            opened_at: session.opened_at,
            last_active: stored.last_active,
            seq: stored.head.seq,
            working: session.turn.is_some(),
            plans_made: session.plans_made,
            plan_mode: (&session.plan_mode).into(),
            workspace: session.workspace.project().map(str::to_owned),
            active_plan: None,
        }
    }
}

/// A plan in a list of sessions.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivePlanView {
    pub id: String,
    pub number: u32,
    pub title: String,
    pub status: PlanStatus,
    /// How far its execution is, if it was begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub progress: Option<ExecutionProgress>,
}

impl From<&Plan> for ActivePlanView {
    fn from(plan: &Plan) -> Self {
        Self {
            id: plan.id.to_string(),
            number: plan.number,
            title: plan.display_title(),
            status: plan.status,
            progress: plan.execution.as_ref().map(Execution::progress),
        }
    }
}
