//! `/api/goals` and `/api/tasks`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use planwright_core::auto::{GoalStatus, TaskStatus};
use planwright_core::session::{Channel, ConversationKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{goal_example, list_example, state, task_example};
use crate::http::api::lookup::{self, ItemId, OfSession};
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::{GoalView, TaskView};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list_goals, add_goal))
        .routes(routes!(show_goal, change_goal))
        .routes(routes!(list_tasks, add_task))
        .routes(routes!(show_task, change_task))
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
async fn list_goals(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<Goals>> {
    let state = state(&app, &of.session()).await?;
    Ok(Json(Goals { items: state.goals.iter().map(GoalView::from).collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "sessionId": "k3yk3y8x", "title": "No open warnings" }))]
struct NewGoal {
    session_id: ConversationKey,
    channel: Option<Channel>,
    #[schema(min_length = 1, max_length = 16384)]
    title: String,
}

/// Set a goal
#[utoipa::path(post, path = "/api/goals", tag = "auto", request_body = NewGoal,
    responses((status = 201, description = "The goal", body = GoalView, example = json!(goal_example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn add_goal(
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
    params(ItemId, OfSession),
    responses((status = 200, description = "The goal", body = GoalView, example = json!(goal_example())),
        (status = 404, description = "There is no such goal in this session", body = ProblemBody)))]
async fn show_goal(
    State(app): State<App>,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
) -> ApiResult<Json<GoalView>> {
    Ok(Json(GoalView::from(state(&app, &of.session()).await?.find_goal(&id)?)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "status": "done" }))]
struct GoalChange {
    status: GoalStatus,
    #[schema(min_length = 1, max_length = 16384)]
    note: Option<String>,
}

/// Pause, resume, finish or cancel a goal
#[utoipa::path(patch, path = "/api/goals/{id}", tag = "auto",
    params(ItemId, OfSession), request_body = GoalChange,
    responses((status = 200, description = "The goal", body = GoalView, example = json!(goal_example())),
        (status = 404, description = "There is no such goal in this session", body = ProblemBody)))]
async fn change_goal(
    State(app): State<App>,
    name: RequestContext,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
    Body(body): Body<GoalChange>,
) -> ApiResult<Json<GoalView>> {
    let session = of.session();
    let goal = state(&app, &session).await?.find_goal(&id)?.id.clone();
    let auto = name.engine(&app).auto();
    let goal = auto.change_goal(&session, &app.person(), goal, body.status, body.note).await?;
    Ok(Json(GoalView::from(&goal)))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Tasks {
    items: Vec<TaskView>,
}

/// List the tasks of a session
#[utoipa::path(get, path = "/api/tasks", tag = "auto", params(OfSession),
    responses((status = 200, description = "The tasks", body = Tasks, example = json!(list_example(task_example()))),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn list_tasks(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<Tasks>> {
    let state = state(&app, &of.session()).await?;
    Ok(Json(Tasks { items: state.tasks.iter().map(TaskView::from).collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "sessionId": "k3yk3y8x", "title": "Renew the certificate" }))]
struct NewTask {
    session_id: ConversationKey,
    channel: Option<Channel>,
    #[schema(min_length = 1, max_length = 16384)]
    title: String,
    /// The id or number of the goal that it belongs to.
    #[schema(min_length = 1, max_length = 128)]
    goal_id: Option<String>,
}

/// Add a task
#[utoipa::path(post, path = "/api/tasks", tag = "auto", request_body = NewTask,
    responses((status = 201, description = "The task", body = TaskView, example = json!(task_example())),
        (status = 404, description = "There is no such session or goal", body = ProblemBody)))]
async fn add_task(
    State(app): State<App>,
    name: RequestContext,
    Body(body): Body<NewTask>,
) -> ApiResult<(StatusCode, Json<TaskView>)> {
    let session = lookup::session(body.session_id, body.channel);
    let goal = match body.goal_id {
        Some(goal) => Some(state(&app, &session).await?.find_goal(&goal)?.id.clone()),
        None => None,
    };
    let task = name.engine(&app).auto().add_task(&session, &app.person(), body.title, goal).await?;
    Ok((StatusCode::CREATED, Json(TaskView::from(&task))))
}

/// Look at a task
#[utoipa::path(get, path = "/api/tasks/{id}", tag = "auto",
    params(ItemId, OfSession),
    responses((status = 200, description = "The task", body = TaskView, example = json!(task_example())),
        (status = 404, description = "There is no such task in this session", body = ProblemBody)))]
async fn show_task(
    State(app): State<App>,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
) -> ApiResult<Json<TaskView>> {
    Ok(Json(TaskView::from(state(&app, &of.session()).await?.find_task(&id)?)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "status": "done" }))]
struct TaskChange {
    status: TaskStatus,
    #[schema(min_length = 1, max_length = 16384)]
    note: Option<String>,
}

/// Say how a task ended
#[utoipa::path(patch, path = "/api/tasks/{id}", tag = "auto",
    params(ItemId, OfSession), request_body = TaskChange,
    responses((status = 200, description = "The task", body = TaskView, example = json!(task_example())),
        (status = 404, description = "There is no such task in this session", body = ProblemBody)))]
async fn change_task(
    State(app): State<App>,
    name: RequestContext,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
    Body(body): Body<TaskChange>,
) -> ApiResult<Json<TaskView>> {
    let session = of.session();
    let task = state(&app, &session).await?.find_task(&id)?.id.clone();
    let auto = name.engine(&app).auto();
    let task = auto.change_task(&session, &app.person(), task, body.status, body.note).await?;
    Ok(Json(TaskView::from(&task)))
}
