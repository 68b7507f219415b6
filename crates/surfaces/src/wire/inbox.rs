//! Decisions that wait for a person.

use jiff::Timestamp;
use planwright_core::plan::PlanStatus;
use planwright_core::session::Channel;
use planwright_engine::inbox::{Waiting, WaitingFor};
use serde::Serialize;
use utoipa::ToSchema;

use super::schemas::{ChannelSchema, PlanStatusSchema};

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingView {
    pub kind: WaitingKind,
    pub session_id: String,
    #[schema(value_type = ChannelSchema)]
    pub channel: Channel,
    pub plan_id: String,
    pub number: u32,
    pub title: String,
    #[schema(value_type = PlanStatusSchema)]
    pub status: PlanStatus,
    /// What an approval has to name.
    pub digest: String,
    pub since: Timestamp,
    /// Whether the session works on it.
    pub active: bool,
    /// The step whose result is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub step: Option<WaitingStepView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingKind {
    Approval,
    UncertainStep,
    /// An execution on which no process works any more: resume or stop it.
    Run,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingStepView {
    /// From 1.
    pub position: usize,
    pub description: String,
    /// What is known about it.
    #[schema(required = true)]
    pub note: Option<String>,
}

impl From<&Waiting> for WaitingView {
    fn from(waiting: &Waiting) -> Self {
        let (kind, step) = match &waiting.wants {
            WaitingFor::Approval => (WaitingKind::Approval, None),
            WaitingFor::Paused => (WaitingKind::Run, None),
            WaitingFor::UncertainStep { position, description, note } => {
                let (position, description, note) = (*position, description.clone(), note.clone());
                (WaitingKind::UncertainStep, Some(WaitingStepView { position, description, note }))
            }
        };
        Self {
            kind,
            session_id: waiting.session.conversation.to_string(),
            channel: waiting.session.channel,
            plan_id: waiting.plan.id.to_string(),
            number: waiting.plan.number,
            title: waiting.plan.display_title(),
            status: waiting.plan.status,
            digest: waiting.digest.to_string(),
            since: waiting.since,
            active: waiting.active,
            step,
        }
    }
}
