//! The planner's answer at the end of a turn, as data for programs. A model may claim anything; the stored plan
//! decides.

use serde::{Deserialize, Serialize};

use crate::ids::PlanId;
use crate::plan::{Plan, PlanStatus};
use crate::turn::TurnEnd;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlannerAnswer {
    /// Words, and no plan was made or changed.
    Answer {
        text: String,
    },
    /// A plan was made or changed. Its content is in the store.
    Plan {
        plan_id: PlanId,
        status: DraftStatus,
    },
    Failure {
        message: String,
    },
    /// A person stopped it, or the program ended in the middle.
    Interruption {
        message: String,
    },
}

/// How far a plan is, in the planner's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlannedAs))]
#[serde(rename_all = "snake_case")]
pub enum DraftStatus {
    Draft,
    Proposal,
}

impl DraftStatus {
    /// `None` for a plan that was decided about already.
    pub const fn of(status: PlanStatus) -> Option<Self> {
        match status {
            PlanStatus::Collecting => Some(Self::Draft),
            PlanStatus::Ready => Some(Self::Proposal),
            PlanStatus::Approved
            | PlanStatus::Executing
            | PlanStatus::Completed
            | PlanStatus::PartiallyCompleted
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded => None,
        }
    }
}

/// What a model says about its own answer, if it says it as data. Its word for the status of a plan is not even read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ModelClaim {
    Answer {
        #[serde(alias = "answer", alias = "message", alias = "content")]
        text: String,
    },
    Plan {
        plan_id: String,
    },
    Failure {
        #[serde(alias = "text", alias = "reason", alias = "error")]
        message: String,
    },
    Interruption {
        #[serde(default, alias = "text", alias = "reason")]
        message: String,
    },
}

impl ModelClaim {
    /// A whole reply that is one JSON object, in a fence or not. Words around it make it words.
    pub fn read(reply: &str) -> Option<Self> {
        let text = reply.trim();
        let unfenced = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
        let text = unfenced.and_then(|text| text.strip_suffix("```")).unwrap_or(text);
        serde_json::from_str(text.trim()).ok()
    }
}

/// What is known about the end of a planner's turn.
#[derive(Debug, Clone, Copy)]
pub struct PlannerTurn<'a> {
    pub end: &'a TurnEnd,
    /// What the person reads.
    pub reply: &'a str,
    pub claim: Option<&'a ModelClaim>,
    /// The stored plan that the claim names, if it is one of this session.
    pub claimed: Option<&'a Plan>,
    /// The stored plan that was made or changed in the turn.
    pub changed: Option<&'a Plan>,
}

impl PlannerTurn<'_> {
    pub fn answer(&self) -> PlannerAnswer {
        let reply = || self.reply.trim().to_owned();
        match self.end {
            TurnEnd::Stopped | TurnEnd::Interrupted => PlannerAnswer::Interruption { message: reply() },
            TurnEnd::LimitReached { .. } | TurnEnd::Looping | TurnEnd::NoAnswer | TurnEnd::ModelFailed { .. } => {
                PlannerAnswer::Failure { message: reply() }
            }
            TurnEnd::Answered | TurnEnd::PlanReady { .. } | TurnEnd::NothingPlanned { .. } => self
                .changed_plan()
                .or_else(|| self.claimed_answer())
                .unwrap_or_else(|| PlannerAnswer::Answer { text: reply() }),
        }
    }

    fn changed_plan(&self) -> Option<PlannerAnswer> {
        self.changed.and_then(named)
    }

    fn claimed_answer(&self) -> Option<PlannerAnswer> {
        match self.claim? {
            ModelClaim::Answer { text } => Some(PlannerAnswer::Answer { text: text.clone() }),
            ModelClaim::Failure { message } => Some(PlannerAnswer::Failure { message: message.clone() }),
            ModelClaim::Interruption { message } => Some(PlannerAnswer::Interruption { message: message.clone() }),
            ModelClaim::Plan { .. } => match self.claimed {
                Some(plan) => named(plan),
                None => {
                    let message = "The planner named a plan that is not in this session.".to_owned();
                    Some(PlannerAnswer::Failure { message })
                }
            },
        }
    }
}

fn named(plan: &Plan) -> Option<PlannerAnswer> {
    let status = DraftStatus::of(plan.status)?;
    Some(PlannerAnswer::Plan { plan_id: plan.id.clone(), status })
}
