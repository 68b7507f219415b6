//! `/api/goals`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use planwright_core::auto::GoalStatus;
use planwright_core::session::{Channel, ConversationKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{OfSession, goal_example, list_example, state};
use crate::http::api::lookup;
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::GoalView;
use crate::wire::schemas::{ChannelSchema, GoalStatusSchema};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list, add)).routes(routes!(show, change))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Goals {
    items: Vec<GoalView>,
}

/// List the goals of a session
#[utoipa::path(get, path = "/api/goals", tag = "auto", params(OfSession),
    responses((status = 200, description = "The goals", body = Goals, example = json!(list_example(goal_example()))),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn list(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<Goals>> {
    let state = state(&app, &of.session()).await?;
    Ok(Json(Goals { items: state.goals.iter().map(GoalView::from).collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "sessionId": "k3yk3y8x", "title": "No open warnings" }))]
struct NewGoal {
    #[schema(value_type = String, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    session_id: ConversationKey,
    #[schema(value_type = Option<ChannelSchema>)]
    channel: Option<Channel>,
    #[schema(min_length = 1, max_length = 16384)]
    title: String,
}

/// Set a goal
#[utoipa::path(post, path = "/api/goals", tag = "auto", request_body = NewGoal,
    responses((status = 201, description = "The goal", body = GoalView, example = json!(goal_example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn add(
    State(app): State<App>,
    name: RequestContext,
    Body(body): Body<NewGoal>,
) -> ApiResult<(StatusCode, Json<GoalView>)> {
    let session = lookup::session(body.session_id, body.channel);
    let goal = name.engine(&app).auto().add_goal(&session, &app.person(), body.title).await?;
    Ok((StatusCode::CREATED, Json(GoalView::from(&goal))))
}

/// Look at a goal
#[utoipa::path(get, path = "/api/goals/{id}", tag = "auto",
    params(("id" = String, Path, description = "Its id or number", pattern = "^[a-zA-Z0-9._:-]{1,128}$", min_length = 1, max_length = 128), OfSession),
    responses((status = 200, description = "The goal", body = GoalView, example = json!(goal_example())),
        (status = 404, description = "There is no such goal in this session", body = ProblemBody)))]
async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(of): Query<OfSession>,
) -> ApiResult<Json<GoalView>> {
    Ok(Json(GoalView::from(state(&app, &of.session()).await?.find_goal(&id)?)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "status": "done" }))]
struct GoalChange {
    #[schema(value_type = GoalStatusSchema)]
    status: GoalStatus,
    #[schema(min_length = 1, max_length = 16384)]
    note: Option<String>,
}

/// Pause, resume, finish or cancel a goal
#[utoipa::path(patch, path = "/api/goals/{id}", tag = "auto",
    params(("id" = String, Path, description = "Its id or number", pattern = "^[a-zA-Z0-9._:-]{1,128}$", min_length = 1, max_length = 128), OfSession), request_body = GoalChange,
    responses((status = 200, description = "The goal", body = GoalView, example = json!(goal_example())),
        (status = 404, description = "There is no such goal in this session", body = ProblemBody)))]
async fn change(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<String>,
    Query(of): Query<OfSession>,
    Body(body): Body<GoalChange>,
) -> ApiResult<Json<GoalView>> {
    let session = of.session();
    let goal = state(&app, &session).await?.find_goal(&id)?.id.clone();
    let auto = name.engine(&app).auto();
    let goal = auto.change_goal(&session, &app.person(), goal, body.status, body.note).await?;
    Ok(Json(GoalView::from(&goal)))
}
