//! Events of a plan that is followed, one object each.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_engine::plan_watch::{ExecutionSummary, PlanUpdate, PlanUpdateKind, StepPosition};
use planwright_engine::step_counts::StepCounts;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanUpdateView {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub plan_id: String,
    /// The plan's status after it.
    pub status: PlanStatus,
    /// The number of the execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<PlanUpdateStepView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<StepCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanUpdateStepView {
    pub id: String,
    pub position: usize,
    pub total: usize,
    pub description: String,
    pub status: StepStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl From<&PlanUpdate> for PlanUpdateView {
    fn from(update: &PlanUpdate) -> Self {
        let mut view = Self {
            kind: update.name,
            seq: update.seq,
            at: update.at,
            by: update.by.clone(),
            plan_id: update.plan.to_string(),
            status: update.status,
            execution: None,
            step: None,
            took_ms: None,
            counts: None,
            note: None,
            superseded_by: None,
        };
        match &update.kind {
            PlanUpdateKind::Changed => {}
            PlanUpdateKind::Approved { note } | PlanUpdateKind::Rejected { reason: note } => view.note.clone_from(note),
            PlanUpdateKind::ExecutionBegan(sum)
            | PlanUpdateKind::ExecutionPaused(sum)
            | PlanUpdateKind::ExecutionResumed(sum) => {
                view.execution = Some(sum.number);
                view.counts = Some(sum.counts);
            }
            PlanUpdateKind::StepBegan { execution, step, note } => {
                view.execution = Some(*execution);
                view.step = Some(step_view(step, StepStatus::InProgress, None));
                view.note.clone_from(note);
            }
            PlanUpdateKind::StepEnded { execution, step, status, took, note, evidence } => {
                view.execution = Some(*execution);
                view.step = Some(step_view(step, *status, evidence.clone()));
                view.took_ms = took.map(|took| took.as_millis());
                view.note.clone_from(note);
            }
            PlanUpdateKind::ExecutionEnded(sum) => view.sum_up(sum),
            PlanUpdateKind::Cancelled { reason, execution } => {
                view.note.clone_from(reason);
                execution.iter().for_each(|sum| view.sum_up(sum));
            }
            PlanUpdateKind::Superseded { by, execution } => {
                view.superseded_by = Some(by.to_string());
                execution.iter().for_each(|sum| view.sum_up(sum));
            }
        }
        view
    }
}

impl PlanUpdateView {
    fn sum_up(&mut self, sum: &ExecutionSummary) {
        self.execution = Some(sum.number);
        self.counts = Some(sum.counts);
        self.took_ms = Some(sum.took.as_millis());
    }
}

fn step_view(step: &StepPosition, status: StepStatus, evidence: Option<String>) -> PlanUpdateStepView {
    PlanUpdateStepView {
        id: step.id.to_string(),
        position: step.position,
        total: step.total,
        description: step.description.clone(),
        status,
        evidence,
    }
}
