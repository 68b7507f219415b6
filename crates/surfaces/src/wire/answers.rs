//! The answer to an input, as clients receive it.

use planwright_agent::session::outcome::{Answer, PlanCard};
use planwright_core::plan::execution::ExecutionProgress;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::planner::PlannerAnswer;
use planwright_core::session::Channel;
use planwright_core::turn::TurnEnd;
use serde::Serialize;
use utoipa::ToSchema;

use super::{ApprovalView, AskView, IncompleteApprovalView};

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnswerView {
    /// The session the person is in afterwards.
    pub session_id: String,
    pub channel: Channel,
    /// What the person reads, in Markdown.
    pub reply: String,
    /// How the turn ended, or `done` if none was needed.
    pub outcome: OutcomeView,
    /// What was decided before the work that this is the answer to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub decided: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub plan_id: Option<String>,
    /// A plan that the person is shown with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub plan: Option<PlanCardView>,
    /// What the agent asks a person before it continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ask: Option<AskView>,
    /// What the planner says, while a plan is built.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub planner: Option<PlannerAnswer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Outcome)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeView {
    Done,
    /// The turn waits for a person's answer to `ask`.
    WaitsForPerson,
    Answered,
    PlanReady,
    NothingPlanned,
    Stopped,
    LimitReached,
    Looping,
    NoAnswer,
    ModelFailed,
    Interrupted,
}

impl From<Option<&TurnEnd>> for OutcomeView {
    fn from(end: Option<&TurnEnd>) -> Self {
        match end {
            None => Self::Done,
            Some(TurnEnd::Answered) => Self::Answered,
            Some(TurnEnd::PlanReady { .. }) => Self::PlanReady,
            Some(TurnEnd::NothingPlanned { .. }) => Self::NothingPlanned,
            Some(TurnEnd::Stopped) => Self::Stopped,
            Some(TurnEnd::LimitReached { .. }) => Self::LimitReached,
            Some(TurnEnd::Looping) => Self::Looping,
            Some(TurnEnd::NoAnswer) => Self::NoAnswer,
            Some(TurnEnd::ModelFailed { .. }) => Self::ModelFailed,
            Some(TurnEnd::Interrupted) => Self::Interrupted,
        }
    }
}

impl From<Answer> for AnswerView {
    fn from(answer: Answer) -> Self {
        let outcome = match &answer.ask {
            Some(_) => OutcomeView::WaitsForPerson,
            None => answer.end.as_ref().into(),
        };
        let ended_with = answer.end.as_ref().and_then(TurnEnd::plan).map(ToString::to_string);
        Self {
            session_id: answer.session.conversation.to_string(),
            channel: answer.session.channel,
            reply: answer.reply,
            outcome,
            ask: answer.ask.as_ref().map(|waiting| AskView::from(&waiting.ask)),
            decided: answer.decided,
            plan_id: answer.plan.as_ref().map(|plan| plan.plan_id.to_string()).or(ended_with),
            plan: answer.plan.map(PlanCardView::from),
            planner: answer.planner,
        }
    }
}

/// A plan as it is put before a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = PlanCard)]
#[serde(rename_all = "camelCase")]
pub struct PlanCardView {
    pub plan_id: String,
    pub number: u32,
    pub title: String,
    pub status: PlanStatus,
    pub style: PlanStyle,
    pub version: u32,
    pub digest: String,
    pub markdown: String,
    /// Who said yes to it, and whether that was a person or a standing policy.
    #[schema(required = true)]
    pub approval: Option<ApprovalView>,
    /// An approval that waits for more people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub incomplete_approval: Option<IncompleteApprovalView>,
    /// How far it has come, once it is carried out.
    #[schema(required = true)]
    pub progress: Option<ExecutionProgress>,
    /// What can be typed about it now.
    pub next: Vec<String>,
}

impl From<PlanCard> for PlanCardView {
    fn from(card: PlanCard) -> Self {
        Self {
            plan_id: card.plan_id.to_string(),
            number: card.number,
            title: card.title,
            status: card.status,
            style: card.style,
            version: card.version,
            digest: card.digest.to_string(),
            markdown: card.markdown,
            approval: card.approval.as_ref().map(ApprovalView::from),
            incomplete_approval: card.incomplete_approval.as_ref().map(IncompleteApprovalView::from),
            progress: card.progress,
            next: card.choices.list.into_iter().map(|choice| choice.command).collect(),
        }
    }
}
