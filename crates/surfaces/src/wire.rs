//! Plans and sessions as JSON: camelCase, the same in REST, over the WebSocket and with `--json` on the command line.

mod answers;
mod auto;
mod changes;
mod decisions;
mod entries;
mod executions;
mod inbox;
mod memory;
mod messages;
mod plan_updates;
mod progress;
mod reviews;
mod sessions;
mod upstream;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::ApprovalPolicy;
use planwright_core::choices::{Activity, Choices, choices};
use planwright_core::mode::PlanModeState;
use planwright_core::plan::execution::ExecutionProgress;
use planwright_core::plan::{Approval, ApprovalSignature, Execution, IncompleteApproval, Plan, PlanStatus, PlanStyle};
use planwright_core::presence::Presence;
use planwright_core::session::Session;
use planwright_engine::history::{HistoryItem, PlanVersion};
use planwright_engine::ledger::PlanSummary;
use planwright_engine::plan_steps::{StepDetail, plan_details, plan_steps};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub use answers::{AnswerView, OutcomeView, PlanCardView};
pub use auto::{GoalView, RunView, ScheduleView, SpendView, TaskView};
pub use changes::{
    ChangedPathsView, ChatChangesView, FileDiffView, NotUndoneView, PlanChangesView, StepChangesView, TurnChangesView,
    UndoView, UndoneView,
};
pub use decisions::DecisionView;
pub use entries::EntryView;
pub use executions::{ExecutionView, PausedForView, PermissionCountsView, StepRunView, WorkSpendView};
pub use inbox::{AskView, CallToPermitView, ChoiceView, QuestionView, WaitingKind, WaitingStepView, WaitingView};
pub use memory::{MemoryOfferView, MemoryView, ShareView, SourceView};
pub use messages::{MessageCallView, MessageRoleView, MessageView};
pub use plan_updates::PlanUpdateView;
pub use progress::ProgressView;
pub use reviews::{AnchorView, CommentView, ReviewRoundView, ReviewView};
pub use sessions::{ActivePlanView, StoredSessionView};
pub use upstream::{AcceptanceView, ConnectionView, McpServerView, ToolChangeView};

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanModeView {
    pub enabled: bool,
    pub style: PlanStyle,
    #[schema(required = true)]
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

#[derive(Debug, Clone, Serialize, ToSchema)]
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

#[derive(Debug, Clone, Serialize, ToSchema)]
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

#[derive(Debug, Clone, Serialize, ToSchema)]
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
    /// The shell lines that a document's approval covers, in the order of its text. Other plans have theirs in the steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    pub steps: Vec<StepDetail>,
    #[schema(required = true)]
    pub progress: Option<ExecutionProgress>,
    /// The latest execution, counted; its steps are among `steps`.
    #[schema(required = true)]
    pub execution: Option<ExecutionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Object)]
    pub details: Option<Value>,
    #[schema(required = true)]
    pub supersedes: Option<String>,
    #[schema(required = true)]
    pub superseded_by: Option<String>,
    #[schema(required = true)]
    pub feedback: Option<String>,
    #[schema(required = true)]
    pub approval: Option<ApprovalView>,
    /// An approval that waits for more people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub incomplete_approval: Option<IncompleteApprovalView>,
    /// What an approval of it needs; only where a single plan is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub needs: Option<ApprovalNeedsView>,
    #[schema(required = true)]
    pub ended_because: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// What happens with an `EXECUTING` plan at this moment; only where a single plan is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub activity: Option<ActivityView>,
    /// What its turn asks a person before it continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ask_id: Option<String>,
    /// What it waits for or does now, in a sentence.
    pub situation: String,
    /// What a person can do now.
    pub choices: Vec<String>,
    /// The choices with their labels and commands.
    pub actions: Vec<ChoiceView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Activity)]
#[serde(rename_all = "snake_case")]
pub enum ActivityView {
    /// A process works on it.
    Running,
    /// No process works on it; it waits for a person.
    Paused,
    /// The agent that drafted it over MCP carries it out.
    LeftToAgent,
    /// Its turn waits for a person's answer.
    Asking,
}

impl From<&Activity> for ActivityView {
    fn from(activity: &Activity) -> Self {
        match activity {
            Activity::Running => Self::Running,
            Activity::Paused => Self::Paused,
            Activity::LeftTo(_) => Self::LeftToAgent,
            Activity::Asking(_) => Self::Asking,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    pub by: String,
    /// `person`, or `policy` for a standing rule.
    pub given: &'static str,
    pub through: String,
    pub at: Timestamp,
    pub digest: String,
    pub steps: Vec<String>,
    pub skipped: Vec<SkippedView>,
    #[schema(required = true)]
    pub note: Option<String>,
    /// Whether the execution pauses after each step for a person's look.
    pub step_by_step: bool,
    /// How the person was recognised: `verified`, `terminal`, `browser`, `token`, `channel` or `rule`. `null` if it was
    /// not recorded.
    #[schema(required = true)]
    pub presence: Option<&'static str>,
    /// The approvers who signed it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signed_by: Vec<String>,
    /// How each of them signed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<SignatureView>,
    /// When it can no longer begin or continue work.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub valid_until: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedView {
    pub step: String,
    pub position: usize,
    pub reason: String,
}

/// How an approver signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignatureView {
    pub approver: String,
    /// What unlocked the key: `passphrase` or `passkey`.
    pub with: &'static str,
}

impl From<&ApprovalSignature> for SignatureView {
    fn from(signature: &ApprovalSignature) -> Self {
        Self { approver: signature.approver.clone(), with: signature.with() }
    }
}

/// One or more people approved, and others have to, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IncompleteApprovalView {
    #[serde(flatten)]
    pub approval: ApprovalView,
    /// How many different approvers have to sign.
    pub people: u8,
    /// How many of them are missing.
    pub missing: usize,
    /// The approvers who can still sign.
    pub others: Vec<String>,
    /// What is missing, as a sentence.
    #[serde(rename = "words")]
    pub message: String,
}

impl From<&IncompleteApproval> for IncompleteApprovalView {
    fn from(waiting: &IncompleteApproval) -> Self {
        Self {
            approval: ApprovalView::from(&waiting.approval),
            people: waiting.people,
            missing: waiting.missing(),
            others: waiting.others.clone(),
            message: waiting.to_string(),
        }
    }
}

/// What the policy asks of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalNeedsView {
    /// `any`, `separate` or `verified`.
    pub require: &'static str,
    /// How many different approvers have to sign.
    pub people: u8,
}

impl ApprovalNeedsView {
    pub fn of(plan: &Plan, policy: &ApprovalPolicy) -> Self {
        let (channel, risks) = (plan.session.channel, plan.risks());
        Self { require: policy.requirement(channel, &risks).as_str(), people: policy.people(channel, &risks) }
    }
}

impl From<&Approval> for ApprovalView {
    fn from(approval: &Approval) -> Self {
        Self {
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
            step_by_step: approval.step_by_step,
            presence: approval.by.presence.as_ref().map(Presence::as_str),
            signed_by: approval.signatures.iter().map(|signature| signature.approver.clone()).collect(),
            signatures: approval.signatures.iter().map(SignatureView::from).collect(),
            valid_until: approval.valid_until,
        }
    }
}

impl From<&Plan> for PlanView {
    fn from(plan: &Plan) -> Self {
        Self::of(plan, None)
    }
}

impl PlanView {
    pub fn of(plan: &Plan, activity: Option<&Activity>) -> Self {
        let Choices { situation, list } = choices(plan, activity);
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
            commands: match plan.style() {
                PlanStyle::Document => plan.content.commands(|_| true),
                PlanStyle::Collect | PlanStyle::Build => Vec::new(),
            },
            steps: plan_steps(plan),
            progress: plan.execution.as_ref().map(Execution::progress),
            execution: plan.execution.as_ref().map(|execution| ExecutionView::counted(execution).during(activity)),
            details: plan_details(plan),
            supersedes: plan.supersedes.as_ref().map(ToString::to_string),
            superseded_by: plan.superseded_by.as_ref().map(ToString::to_string),
            feedback: plan.feedback.as_ref().map(|feedback| feedback.text.clone()),
            approval: plan.approval.as_deref().map(ApprovalView::from),
            incomplete_approval: plan.incomplete_approval.as_deref().map(IncompleteApprovalView::from),
            needs: None,
            ended_because: plan.ending.as_ref().and_then(|ending| ending.reason.clone()),
            created_at: plan.created_at,
            updated_at: plan.updated_at,
            activity: activity.map(ActivityView::from),
            ask_id: activity.and_then(|activity| match activity {
                Activity::Asking(waiting) => Some(waiting.ask.id.to_string()),
                Activity::Running | Activity::Paused | Activity::LeftTo(_) => None,
            }),
            situation,
            choices: list.iter().map(|choice| choice.name().to_owned()).collect(),
            actions: list.iter().map(ChoiceView::from).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryView {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[schema(value_type = Object)]
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

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    pub version: u32,
    pub at: Timestamp,
    pub by: Actor,
    pub digest: String,
    #[schema(required = true)]
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
