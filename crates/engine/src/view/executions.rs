//! Executions as JSON: how far one came, or step by step.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::execution::{StepRun, StepStatus};
use planwright_core::plan::{Execution, PlanStatus};
use serde::Serialize;

use super::Counts;
use crate::clock::between;
use crate::engine::PlanExecution;

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExecutionView {
    pub id: String,
    /// Among the executions of the plan, from 1.
    pub number: u32,
    pub started_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub started_by: Option<Actor>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub finished_by: Option<Actor>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u64>, required = true))]
    pub took_ms: Option<u128>,
    /// How it ended; it has not while this is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub status: Option<PlanStatus>,
    pub counts: Counts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRunView>,
}

#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StepRunView {
    pub step: String,
    /// From 1.
    pub position: usize,
    pub description: String,
    pub status: StepStatus,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub note: Option<String>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub evidence: Option<String>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub started_at: Option<Timestamp>,
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub finished_at: Option<Timestamp>,
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u64>, required = true))]
    pub took_ms: Option<u128>,
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
            counts: Counts::of(execution),
            steps: Vec::new(),
        }
    }

    /// Step by step.
    pub fn with_steps(execution: &Execution) -> Self {
        let steps = execution.steps.iter().zip(1..).map(|(run, position)| StepRunView::new(run, position));
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
    fn new(run: &StepRun, position: usize) -> Self {
        Self {
            step: run.step.to_string(),
            position,
            description: run.description.clone(),
            status: run.status,
            note: run.note.clone(),
            evidence: run.evidence.clone(),
            started_at: run.started_at,
            finished_at: run.finished_at,
            took_ms: run.started_at.zip(run.finished_at).map(|(from, to)| between(from, to).as_millis()),
        }
    }
}
