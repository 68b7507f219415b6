//! What the recorded calls of a plan would do to files.

use axum::Json;
use axum::extract::State;
use planwright_agent::toolbox::files::{PreviewedText, StepPreview};
use planwright_core::ids::PlanId;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::lookup::SessionQuery;
use crate::http::app::App;
use crate::http::extract::{Path, Query};
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(preview))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanPreview)]
struct PlanPreviewView {
    /// The steps that write, edit, delete or move a file, in order.
    steps: Vec<StepPreviewView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StepPreview)]
struct StepPreviewView {
    step_id: String,
    /// From 1.
    step: usize,
    /// `write_file`, `edit_file`, `delete_file` or `move_file`
    tool: String,
    path: String,
    /// The new path of a file that is moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    to: Option<String>,
    /// The text before the step: as it is now, or as an earlier step leaves it. `null` if there is no file, or if `problem`
    /// says why its text is not shown.
    #[schema(required = true)]
    before: Option<String>,
    /// The text after the step. `null` if there is no file then, or if `problem` says why its text is not shown.
    #[schema(required = true)]
    after: Option<String>,
    /// Whether there is a file before the step.
    exists_before: bool,
    /// Whether there is a file at its path, or at the new one, after the step.
    exists_after: bool,
    /// Why the step would fail, or why a text is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
}

impl From<StepPreview> for StepPreviewView {
    fn from(preview: StepPreview) -> Self {
        let StepPreview { step, position, tool, path, to, before, after, problem } = preview;
        let ((before, exists_before), (after, exists_after)) = (shown(before), shown(after));
        let step_id = step.to_string();
        Self { step_id, step: position, tool, path, to, before, after, exists_before, exists_after, problem }
    }
}

fn shown(text: PreviewedText) -> (Option<String>, bool) {
    match text {
        PreviewedText::Absent => (None, false),
        PreviewedText::Text(text) => (Some(text), true),
        PreviewedText::NotShown => (None, true),
    }
}

/// Preview what a plan would do to files
///
/// What the recorded calls of a collected plan would change, against the files as they are now, each step after the steps before
/// it. Nothing is changed. Plans of other styles have no such steps.
#[utoipa::path(get, path = "/api/plans/{id}/preview", tag = "plans", params(SessionQuery),
    responses((status = 200, description = "The steps that change files", body = PlanPreviewView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn preview(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
) -> ApiResult<Json<PlanPreviewView>> {
    let plan = of.plan(&app, &id).await?;
    let steps = app.agent().workspace_files().preview(&plan).await?;
    Ok(Json(PlanPreviewView { steps: steps.into_iter().map(StepPreviewView::from).collect() }))
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "steps": [{
            "stepId": "s1",
            "step": 1,
            "tool": "edit_file",
            "path": "src/main.rs",
            "before": "fn main() {}\n",
            "after": "fn main() { run() }\n",
            "existsBefore": true,
            "existsAfter": true,
        }],
    })
}
