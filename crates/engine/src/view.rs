//! Plans and sessions as JSON, in the words of the public contract: camelCase, the same for every surface.

mod answers;
mod counts;
mod decisions;
mod entries;
mod executions;
mod happenings;
mod inbox;
mod messages;
mod progress;
mod sessions;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::mode::PlanModeState;
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::execution::{Progress, StepRun, StepStatus};
use planwright_core::plan::{Approval, Execution, Plan, PlanStatus, PlanStyle};
use planwright_core::session::Session;
use serde::Serialize;
use serde_json::Value;

use crate::engine::{HistoryItem, PlanVersion};
use crate::ledger::PlanSummary;

pub use answers::{AnswerView, OutcomeView};
pub use counts::Counts;
pub use decisions::DecisionView;
pub use entries::EntryView;
pub use executions::{ExecutionView, StepRunView};
pub use happenings::HappeningView;
pub use inbox::{WaitingKind, WaitingStepView, WaitingView};
pub use messages::{MessageCallView, MessageRoleView, MessageView};
pub use progress::ProgressView;
pub use sessions::StoredSessionView;

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanModeView {
    pub enabled: bool,
    pub style: PlanStyle,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub active_plan_id: Option<String>,
    pub updated_at: Timestamp,
}

impl From<&PlanModeState> for PlanModeView {
    fn from(mode: &PlanModeState) -> Self {
        Self {
            enabled: mode.enabled,
            style: mode.style,
            active_plan_id: mode.active_plan.as_ref().map(ToString::to_string),
            updated_at: mode.updated_at,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub session_id: String,
    pub channel: String,
    pub opened_at: Timestamp,
    pub plans_made: u32,
    pub plan_mode: PlanModeView,
}

impl From<&Session> for SessionView {
    fn from(session: &Session) -> Self {
        Self {
            session_id: session.identity.conversation.to_string(),
            channel: session.identity.channel.to_string(),
            opened_at: session.opened_at,
            plans_made: session.plans_made,
            plan_mode: (&session.plan_mode).into(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanSummaryView {
    pub id: String,
    pub number: u32,
    pub status: PlanStatus,
    pub style: PlanStyle,
    pub title: String,
    pub updated_at: Timestamp,
}

impl From<&PlanSummary> for PlanSummaryView {
    fn from(plan: &PlanSummary) -> Self {
        Self {
            id: plan.id.to_string(),
            number: plan.number,
            status: plan.status,
            style: plan.style,
            title: plan.title.clone(),
            updated_at: plan.updated_at,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    pub id: String,
    pub session_id: String,
    pub channel: String,
    pub number: u32,
    pub status: PlanStatus,
    pub style: PlanStyle,
    pub title: String,
    pub digest: String,
    pub version: u32,
    /// The plan as one text: what a person approves.
    pub markdown: String,
    pub steps: Vec<StepView>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub progress: Option<Progress>,
    /// The latest execution, counted; its steps are among `steps`.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub execution: Option<ExecutionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false, value_type = Object))]
    pub details: Option<Value>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub supersedes: Option<String>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub superseded_by: Option<String>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub feedback: Option<String>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub approval: Option<ApprovalView>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub ended_because: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    pub id: String,
    /// From 1.
    pub position: usize,
    pub description: String,
    pub status: StepStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Value))]
    pub arguments: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub verification: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub evidence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub finished_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    #[serde(skip)]
    pub actor: Actor,
    pub by: String,
    /// `person`, or `policy` for a standing rule.
    pub given: &'static str,
    pub through: String,
    pub at: Timestamp,
    pub digest: String,
    pub steps: Vec<String>,
    pub skipped: Vec<SkippedView>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SkippedView {
    pub step: String,
    pub position: usize,
    pub reason: String,
}

impl From<&Approval> for ApprovalView {
    fn from(approval: &Approval) -> Self {
        Self {
            actor: approval.by.clone(),
            by: approval.by.name.clone(),
            given: approval.by.kind.as_str(),
            through: approval.by.through.clone(),
            at: approval.at,
            digest: approval.digest.to_string(),
            steps: approval.approved.iter().map(ToString::to_string).collect(),
            skipped: approval
                .skipped
                .iter()
                .map(|step| SkippedView {
                    step: step.step.to_string(),
                    position: step.position,
                    reason: step.why.to_string(),
                })
                .collect(),
            note: approval.note.clone(),
        }
    }
}

impl From<&Plan> for PlanView {
    fn from(plan: &Plan) -> Self {
        Self {
            id: plan.id.to_string(),
            session_id: plan.session.conversation.to_string(),
            channel: plan.session.channel.to_string(),
            number: plan.number,
            status: plan.status,
            style: plan.style(),
            title: plan.display_title(),
            digest: plan.digest().to_string(),
            version: plan.version,
            markdown: plan.markdown(),
            steps: steps(plan),
            progress: plan.execution.as_ref().map(Execution::progress),
            execution: plan.execution.as_ref().map(ExecutionView::counted),
            details: details(plan),
            supersedes: plan.supersedes.as_ref().map(ToString::to_string),
            superseded_by: plan.superseded_by.as_ref().map(ToString::to_string),
            feedback: plan.feedback.as_ref().map(|feedback| feedback.text.clone()),
            approval: plan.approval.as_deref().map(ApprovalView::from),
            ended_because: plan.ending.as_ref().and_then(|ending| ending.reason.clone()),
            created_at: plan.created_at,
            updated_at: plan.updated_at,
        }
    }
}

/// The steps with what the latest execution, or else the approval, says about them.
pub fn steps(plan: &Plan) -> Vec<StepView> {
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    plan.content
        .steps()
        .into_iter()
        .zip(1..)
        .map(|(step, position)| {
            let run: Option<&StepRun> = plan.execution.as_ref().and_then(|execution| execution.run(&step.id));
            let left_out = skipped.iter().find(|left| left.step == step.id);
            let mut view = StepView {
                id: step.id.to_string(),
                position,
                description: step.description,
                status: StepStatus::Pending,
                tool: None,
                arguments: None,
                agent: None,
                needs: step.needs.iter().map(ToString::to_string).collect(),
                verification: None,
                note: None,
                evidence: None,
                started_at: None,
                finished_at: None,
            };
            if let Some(left) = left_out {
                view.status = StepStatus::Skipped;
                view.note = Some(left.why.to_string());
            }
            if let Some(run) = run {
                view.status = run.status;
                view.note.clone_from(&run.note);
                view.evidence.clone_from(&run.evidence);
                (view.started_at, view.finished_at) = (run.started_at, run.finished_at);
            }
            match &plan.content {
                PlanContent::Document(_) => {}
                PlanContent::Collect(collected) => {
                    let call = &collected.steps[position - 1];
                    view.tool = Some(call.tool.clone());
                    view.arguments = Some(call.arguments.clone());
                }
                PlanContent::Build(built) => {
                    let work = &built.steps[position - 1];
                    view.agent = Some(work.agent.clone());
                    view.verification.clone_from(&work.verification);
                }
            }
            view
        })
        .collect()
}

/// What a collected or built plan says beside its steps.
pub fn details(plan: &Plan) -> Option<Value> {
    match &plan.content {
        PlanContent::Document(_) => None,
        PlanContent::Collect(collected) => Some(serde_json::json!({ "summary": collected.summary })),
        PlanContent::Build(built) => Some(serde_json::json!({
            "goal": built.goal,
            "summary": built.summary,
            "assumptions": built.assumptions,
            "risks": built.risks,
            "verification": built.verification,
            "files": built.files,
        })),
    }
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryView {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub event: Value,
}

impl From<&HistoryItem> for HistoryView {
    fn from(item: &HistoryItem) -> Self {
        Self {
            seq: item.seq,
            at: item.at,
            by: item.by.clone(),
            kind: item.event.name(),
            event: serde_json::to_value(&item.event).unwrap_or_default(),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    pub version: u32,
    pub at: Timestamp,
    pub by: Actor,
    pub digest: String,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub title: Option<String>,
}

impl From<&PlanVersion> for VersionView {
    fn from(version: &PlanVersion) -> Self {
        Self {
            version: version.version,
            at: version.at,
            by: version.by.clone(),
            digest: version.digest.to_string(),
            title: version.title.clone(),
        }
    }
}
