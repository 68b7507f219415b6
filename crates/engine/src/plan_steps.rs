//! The steps of a plan with what its approval and its latest execution say about them.

use jiff::Timestamp;
use planwright_core::plan::Plan;
use planwright_core::plan::content::{CallRunner, PlanContent};
use planwright_core::plan::execution::{StepState, StepStatus};
use serde::Serialize;
use serde_json::Value;

/// One step of a plan, with what its approval and its latest execution say about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StepView))]
#[serde(rename_all = "camelCase")]
pub struct StepDetail {
    pub id: String,
    /// From 1.
    pub position: usize,
    pub description: String,
    pub status: StepStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Value))]
    pub arguments: Option<Value>,
    /// The program that makes the call. Absent where Planwright makes all calls of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub made_by: Option<CallRunner>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub verification: Option<String>,
    /// Shell lines that the approval of the step covers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub evidence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub finished_at: Option<Timestamp>,
}

/// The steps with what the latest execution, or else the approval, says about them.
pub fn plan_steps(plan: &Plan) -> Vec<StepDetail> {
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let says_who = !plan.content.is_made_by_planwright();
    plan.content
        .steps()
        .into_iter()
        .zip(1..)
        .map(|(step, position)| {
            let state: Option<&StepState> = plan.execution.as_ref().and_then(|execution| execution.step(&step.id));
            let left_out = skipped.iter().find(|left| left.step == step.id);
            let mut view = StepDetail {
                id: step.id.to_string(),
                position,
                description: step.description,
                status: StepStatus::Pending,
                tool: None,
                arguments: None,
                made_by: None,
                agent: None,
                needs: step.needs.iter().map(ToString::to_string).collect(),
                verification: None,
                commands: step.commands,
                note: None,
                evidence: None,
                started_at: None,
                finished_at: None,
            };
            if let Some(left) = left_out {
                view.status = StepStatus::Skipped;
                view.note = Some(left.why.to_string());
            }
            if let Some(state) = state {
                view.status = state.status;
                view.note.clone_from(&state.note);
                view.evidence.clone_from(&state.evidence);
                (view.started_at, view.finished_at) = (state.started_at, state.finished_at);
            }
            match &plan.content {
                PlanContent::Document(_) => {}
                PlanContent::Collect(collected) => {
                    let call = &collected.steps[position - 1];
                    view.tool = Some(call.tool.clone());
                    view.arguments = Some(call.arguments.clone());
                    view.made_by = says_who.then_some(call.runner);
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
pub fn plan_details(plan: &Plan) -> Option<Value> {
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
