//! The plan as `plan_get` showed it at the beginning of the turn.

use planwright_core::plan::PlanStatus;
use serde_json::Value;

use crate::rehearsal::turn_view::TurnView;

#[derive(Debug, Default)]
pub(super) struct RehearsedPlan {
    pub(super) phase: RehearsedPhase,
    pub(super) markdown: String,
    /// What a person wants changed.
    pub(super) feedback: Option<String>,
    /// Whether the draft already has steps.
    pub(super) has_steps: bool,
    /// Whether parts of the draft are missing.
    pub(super) incomplete: bool,
    pub(super) progress: RehearsedProgress,
}

/// What there is to do about the plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum RehearsedPhase {
    /// It is to be written. So it is where there is none, or none that could be read.
    #[default]
    Drafting,
    /// A person decides.
    Waiting,
    Approved,
    LeftOpen,
    Over(PlanStatus),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum RehearsedProgress {
    #[default]
    NotBegun,
    NextIs(u64),
    AllDone,
}

impl RehearsedPlan {
    pub(super) fn of(turn: &TurnView<'_>) -> Self {
        let Some(seen) = turn.made("plan_get").find(|call| !call.failed).map(|call| call.value()) else {
            return Self { feedback: feedback_in(&turn.request.system), ..Self::default() };
        };
        let text = |name: &str| seen[name].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let filled = |name: &str| seen[name].as_array().is_some_and(|items| !items.is_empty());
        Self {
            phase: serde_json::from_value(seen["status"].clone()).map(RehearsedPhase::of).unwrap_or_default(),
            markdown: text("markdown").unwrap_or_default(),
            feedback: text("feedback"),
            has_steps: filled("steps"),
            incomplete: filled("missing"),
            progress: RehearsedProgress::read(&seen["progress"]),
        }
    }
}

impl RehearsedPhase {
    fn of(status: PlanStatus) -> Self {
        match status {
            PlanStatus::Collecting => Self::Drafting,
            PlanStatus::Ready => Self::Waiting,
            PlanStatus::Approved | PlanStatus::Executing => Self::Approved,
            PlanStatus::PartiallyCompleted => Self::LeftOpen,
            PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled | PlanStatus::Superseded => {
                Self::Over(status)
            }
        }
    }
}

impl RehearsedProgress {
    /// From anything with `next`, such as the answer of `plan_progress`.
    pub(super) fn read(value: &Value) -> Self {
        match value.get("next") {
            None => Self::NotBegun,
            Some(next) => next["step"].as_u64().map_or(Self::AllDone, Self::NextIs),
        }
    }
}

/// A line such as `Feedback: shorter, please`, for when the plan itself cannot be read.
fn feedback_in(system: &str) -> Option<String> {
    let line = system.lines().find(|line| line.trim_start().to_lowercase().starts_with("feedback:"))?;
    let (_, text) = line.split_once(':')?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
