//! What a plan changed in files, and putting it back.

use axum::Json;
use axum::extract::State;
use planwright_agent::session::input::Input;
use planwright_core::ids::PlanId;
use planwright_core::session::{Channel, ConversationKey};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::lookup::SessionQuery;
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::input::accepted;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::{PlanChangesView, UndoView};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(changes)).routes(routes!(undo))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ChangesQuery {
    /// The session the plan belongs to.
    #[param(nullable = false)]
    session_id: Option<ConversationKey>,
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// Only what this step changed, from 1.
    #[param(nullable = false, minimum = 1, maximum = 4294967295_i64)]
    step: Option<u32>,
}

/// Show what a plan changed in files
///
/// A unified diff for each file, of the plan and of its steps. What was put back is not among them.
#[utoipa::path(get, path = "/api/plans/{id}/changes", tag = "plans", params(ChangesQuery),
    responses((status = 200, description = "What it changed", body = PlanChangesView, example = json!(example())),
        (status = 404, description = "There is no such plan or step", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn changes(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(query): Query<ChangesQuery>,
) -> ApiResult<Json<PlanChangesView>> {
    let plan = SessionQuery::new(query.session_id, query.channel).plan(&app, &id).await?;
    let step = query.step.map(|step| step as usize);
    Ok(Json((&app.agent().plan_changes().read(plan, step).await?).into()))
}

/// It may be empty.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Undoing, example = json!({ "step": 2 }))]
struct UndoBody {
    /// Only what this step changed, from 1.
    #[schema(minimum = 1, maximum = 4294967295_i64)]
    step: Option<u32>,
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

/// Undo what a plan changed in files
///
/// Puts the files back as they were before the plan or one of its steps. A file that something else changed since is left as
/// it is and named.
#[utoipa::path(post, path = "/api/plans/{id}/undo", tag = "plans", params(SessionQuery),
    request_body(content = Option<UndoBody>),
    responses((status = 200, description = "What was put back", body = UndoView, example = json!(undo_example())),
        (status = 404, description = "There is no such plan or step", body = ProblemBody),
        (status = 409, description = "There is nothing to undo, no file could be put back, or the plan is being carried out",
            body = ProblemBody)))]
async fn undo(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(body): Body<UndoBody>,
) -> ApiResult<Json<UndoView>> {
    let of = SessionQuery::new(body.session_id, body.channel).or(of)?;
    let plan = of.plan(&app, &id).await?;
    let step = body.step.map(|step| step as usize);
    let answer = accepted(app.submit(&plan.session, Input::Undo { plan: plan.id.clone(), step }, &name)).await?;
    let undone = answer.undone.as_deref().map(UndoView::from);
    Ok(Json(undone.unwrap_or_else(|| UndoView {
        plan_id: Some(plan.id.to_string()),
        paths: Vec::new(),
        not_undone: Vec::new(),
    })))
}

fn example() -> Value {
    let file = json!({
        "workspace": "/home/ada/till",
        "path": "src/main.rs",
        "diff": "diff --git a/src/main.rs b/src/main.rs\n--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-fn main() {}\n+fn main() { run() }\n",
        "addedLines": 1,
        "removedLines": 1,
        "truncated": false,
    });
    json!({
        "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "number": 1,
        "step": null,
        "files": [file.clone()],
        "steps": [{ "step": 1, "stepId": "s1", "description": "call run", "files": [file] }],
        "uncovered": { "added": [], "changed": [], "removed": [], "complete": true },
        "undone": [],
    })
}

fn undo_example() -> Value {
    json!({
        "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
        "paths": ["src/main.rs"],
        "notUndone": [{ "workspace": "/home/ada/till", "path": "README.md",
            "why": "It was changed since, so it was left as it is." }],
    })
}
