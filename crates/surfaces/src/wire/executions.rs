//! Executions as JSON: how far one came, or step by step.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::choices::Activity;
use planwright_core::plan::execution::{PermissionCounts, StepState, StepStatus};
use planwright_core::plan::{Execution, PlanStatus};
use planwright_engine::clock::between;
use planwright_engine::history::{ExecutionCost, PlanExecution, WorkCost};
use planwright_engine::step_counts::StepCounts;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionView {
    pub id: String,
    /// Among the executions of the plan, from 1.
    pub number: u32,
    pub started_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub started_by: Option<Actor>,
    #[schema(required = true)]
    pub finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub finished_by: Option<Actor>,
    #[schema(value_type = Option<u64>, required = true)]
    pub took_ms: Option<u128>,
    /// How it ended; it has not while this is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<PlanStatus>,
    pub counts: StepCounts,
    /// How the calls were permitted that were made for it.
    pub permissions: PermissionCountsView,
    /// Since when it waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub paused_since: Option<Timestamp>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub paused_for: Option<PausedForView>,
    /// The step that the person looks at, from 1. `resume` takes it as `afterStep`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub after_step: Option<usize>,
    /// What the turns cost that were made for it. It is told with the history of a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub spend: Option<WorkSpendView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRunView>,
}

/// What a piece of work cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkSpend)]
pub struct WorkSpendView {
    pub turns: u32,
    /// Tokens that the model read and wrote.
    pub tokens: u64,
}

impl From<&WorkCost> for WorkSpendView {
    fn from(cost: &WorkCost) -> Self {
        Self { turns: cost.turns, tokens: cost.tokens }
    }
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepRunView {
    pub step: String,
    /// From 1.
    pub position: usize,
    pub description: String,
    pub status: StepStatus,
    #[schema(required = true)]
    pub note: Option<String>,
    #[schema(required = true)]
    pub evidence: Option<String>,
    #[schema(required = true)]
    pub started_at: Option<Timestamp>,
    #[schema(required = true)]
    pub finished_at: Option<Timestamp>,
    #[schema(value_type = Option<u64>, required = true)]
    pub took_ms: Option<u128>,
    /// How many tools were called in the turns that were made for the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub calls: Option<u32>,
    /// What those turns cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub spend: Option<WorkSpendView>,
}

impl ExecutionView {
    /// Without its steps.
    pub fn counted(execution: &Execution) -> Self {
        Self {
            id: execution.id.to_string(),
            number: execution.number,
            started_at: execution.started_at,
            started_by: None,
            finished_at: execution.finished_at,
            finished_by: None,
            took_ms: execution.finished_at.map(|at| between(execution.started_at, at).as_millis()),
            status: None,
            counts: StepCounts::of(execution),
            permissions: execution.permissions().into(),
            paused_since: execution.paused_since(),
            paused_for: execution.paused_since().map(|_| match execution.step_pause() {
                Some(_) => PausedForView::Step,
                None => PausedForView::Person,
            }),
            after_step: execution.step_pause().map(|pause| pause.step),
            spend: None,
            steps: Vec::new(),
        }
    }

    /// Without the pause that an earlier turn left, while a process works on it or its turn asks a person something.
    pub(super) fn during(self, activity: Option<&Activity>) -> Self {
        match activity {
            Some(Activity::Running | Activity::Asking(_)) => Self { paused_since: None, paused_for: None, ..self },
            Some(Activity::Paused | Activity::LeftTo(_)) | None => self,
        }
    }

    /// Adds what the execution cost.
    pub fn with_cost(mut self, cost: Option<&ExecutionCost>) -> Self {
        let Some(cost) = cost else { return self };
        self.spend = Some((&cost.whole).into());
        for state in &mut self.steps {
            let of_step = cost.steps.iter().find(|(step, _)| step.as_str() == state.step).map(|(_, cost)| cost);
            (state.calls, state.spend) = (of_step.map(|cost| cost.calls), of_step.map(WorkSpendView::from));
        }
        self
    }

    /// Step by step.
    pub fn with_steps(execution: &Execution) -> Self {
        let steps = execution.steps.iter().zip(1..).map(|(state, position)| StepRunView::new(state, position));
        Self { steps: steps.collect(), ..Self::counted(execution) }
    }
}

impl From<&PlanExecution> for ExecutionView {
    fn from(carried_out: &PlanExecution) -> Self {
        Self {
            started_by: carried_out.by.clone(),
            finished_by: carried_out.end.as_ref().and_then(|end| end.by.clone()),
            status: carried_out.end.as_ref().map(|end| end.status),
            ..Self::with_steps(&carried_out.execution)
        }
    }
}

impl StepRunView {
    fn new(state: &StepState, position: usize) -> Self {
        Self {
            step: state.step.to_string(),
            position,
            description: state.description.clone(),
            status: state.status,
            note: state.note.clone(),
            evidence: state.evidence.clone(),
            started_at: state.started_at,
            finished_at: state.finished_at,
            took_ms: state.started_at.zip(state.finished_at).map(|(from, to)| between(from, to).as_millis()),
            calls: None,
            spend: None,
        }
    }
}

/// What a paused execution waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = PausedFor)]
#[serde(rename_all = "snake_case")]
pub enum PausedForView {
    /// A person's look at the step that ended.
    Step,
    /// A person who resumes or ends it.
    Person,
}

/// How many calls the approved plan covered, a person was asked about, and were refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = PermissionCounts)]
#[serde(rename_all = "camelCase")]
pub struct PermissionCountsView {
    pub covered: u32,
    pub asked: u32,
    pub refused: u32,
}

impl From<PermissionCounts> for PermissionCountsView {
    fn from(counts: PermissionCounts) -> Self {
        let PermissionCounts { covered, asked, refused } = counts;
        Self { covered, asked, refused }
    }
}
