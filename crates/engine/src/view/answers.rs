//! What comes back for whatever was typed.

use planwright_core::planner::PlannerAnswer;
use planwright_core::session::Channel;
use planwright_core::turn::TurnEnd;
use serde::Serialize;

use crate::session::outcome::{Answer, PlanCard};

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub decided: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub plan_id: Option<String>,
    /// A plan that the person is shown with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub plan: Option<PlanCard>,
    /// What the planner says, while a plan is built.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub planner: Option<PlannerAnswer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Outcome))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeView {
    Done,
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
        let ended_with = match &answer.end {
            Some(TurnEnd::PlanReady { plan } | TurnEnd::NothingPlanned { plan }) => Some(plan.to_string()),
            Some(
                TurnEnd::Answered
                | TurnEnd::Stopped
                | TurnEnd::LimitReached { .. }
                | TurnEnd::Looping
                | TurnEnd::NoAnswer
                | TurnEnd::ModelFailed { .. }
                | TurnEnd::Interrupted,
            )
            | None => None,
        };
        Self {
            session_id: answer.session.conversation.to_string(),
            channel: answer.session.channel,
            reply: answer.reply,
            outcome: answer.end.as_ref().into(),
            decided: answer.decided,
            plan_id: answer.plan.as_ref().map(|plan| plan.plan_id.to_string()).or(ended_with),
            plan: answer.plan,
            planner: answer.planner,
        }
    }
}
