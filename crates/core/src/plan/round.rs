//! Rounds: calls that the agent of another program makes through the gateway, recorded beside its plan. A person approves
//! a round, Planwright makes its calls, and the next round may use their results.

use serde::{Deserialize, Serialize};

use crate::ids::PlanId;
use crate::plan::content::PlanContent;
use crate::plan::execution::StepStatus;
use crate::plan::{Plan, PlanStatus};

/// How many of the rounds before a round shows.
const MAX_ROUNDS: usize = 10;
/// How many calls of each of them, and how much of each text.
const MAX_CALLS: usize = 20;
const MAX_TEXT: usize = 200;

/// What makes a collected plan a round. The approval covers it with the calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// The plan that was active when the round began.
    pub of: PlanId,
    /// The number of that plan.
    pub plan: u32,
    /// From 1.
    pub number: u32,
    /// What the rounds before did, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<EarlierRound>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierRound {
    pub number: u32,
    pub status: PlanStatus,
    pub calls: Vec<EarlierCall>,
    /// How many calls there were.
    pub total: usize,
}

/// A call with its outcome, both shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierCall {
    pub call: String,
    pub status: StepStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl Round {
    /// The round after the last one of the same plan, or the first.
    pub(crate) fn after(of: &Plan, last: Option<&Plan>) -> Self {
        let begun =
            |number: u32, before: Vec<EarlierRound>| Self { of: of.id.clone(), plan: of.number, number, before };
        // A plan that was written again keeps its rounds.
        let continues = |round: &Self| round.of == of.id || of.supersedes.as_ref() == Some(&round.of);
        let Some((last, round)) = last.and_then(|plan| Some((plan, plan.round.as_deref()?))) else {
            return begun(1, Vec::new());
        };
        if !continues(round) {
            return begun(1, Vec::new());
        }
        let mut before = round.before.clone();
        before.push(EarlierRound::of(last, round.number));
        before.drain(..before.len().saturating_sub(MAX_ROUNDS));
        begun(round.number.saturating_add(1), before)
    }
}

impl EarlierRound {
    fn of(plan: &Plan, number: u32) -> Self {
        let calls = match &plan.content {
            PlanContent::Collect(collected) => collected.steps.as_slice(),
            PlanContent::Document(_) | PlanContent::Build(_) => &[],
        };
        let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
        let shown = calls.iter().take(MAX_CALLS).map(|call| {
            let run = plan.execution.as_ref().and_then(|execution| execution.step(&call.id));
            let left_out = skipped.iter().any(|skip| skip.step == call.id);
            let status = if left_out { StepStatus::Skipped } else { StepStatus::Pending };
            EarlierCall {
                call: shortened(&call.call()),
                status: run.map_or(status, |run| run.status),
                result: run.and_then(|run| run.note.as_deref()).map(shortened),
            }
        });
        Self { number, status: plan.status, calls: shown.collect(), total: calls.len() }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
