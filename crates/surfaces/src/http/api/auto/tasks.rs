//! `/api/tasks`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use planwright_core::auto::TaskStatus;
use planwright_core::session::{Channel, ConversationKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{OfSession, list_example, state, task_example};
use crate::http::api::lookup;
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::TaskView;
use crate::wire::schemas::{ChannelSchema, TaskStatusSchema};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list, add)).routes(routes!(show, change))
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
async fn list(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<Tasks>> {
    let state = state(&app, &of.session()).await?;
    Ok(Json(Tasks { items: state.tasks.iter().map(TaskView::from).collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "sessionId": "k3yk3y8x", "title": "Renew the certificate" }))]
struct NewTask {
    #[schema(value_type = String, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    session_id: ConversationKey,
    #[schema(value_type = Option<ChannelSchema>)]
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
async fn add(
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
    params(("id" = String, Path, description = "Its id or number", pattern = "^[a-zA-Z0-9._:-]{1,128}$", min_length = 1, max_length = 128), OfSession),
    responses((status = 200, description = "The task", body = TaskView, example = json!(task_example())),
        (status = 404, description = "There is no such task in this session", body = ProblemBody)))]
async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(of): Query<OfSession>,
) -> ApiResult<Json<TaskView>> {
    Ok(Json(TaskView::from(state(&app, &of.session()).await?.find_task(&id)?)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "status": "done" }))]
struct TaskChange {
    #[schema(value_type = TaskStatusSchema)]
    status: TaskStatus,
    #[schema(min_length = 1, max_length = 16384)]
    note: Option<String>,
}

/// Say how a task ended
#[utoipa::path(patch, path = "/api/tasks/{id}", tag = "auto",
    params(("id" = String, Path, description = "Its id or number", pattern = "^[a-zA-Z0-9._:-]{1,128}$", min_length = 1, max_length = 128), OfSession), request_body = TaskChange,
    responses((status = 200, description = "The task", body = TaskView, example = json!(task_example())),
        (status = 404, description = "There is no such task in this session", body = ProblemBody)))]
async fn change(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<String>,
    Query(of): Query<OfSession>,
    Body(body): Body<TaskChange>,
) -> ApiResult<Json<TaskView>> {
    let session = of.session();
    let task = state(&app, &session).await?.find_task(&id)?.id.clone();
    let auto = name.engine(&app).auto();
    let task = auto.change_task(&session, &app.person(), task, body.status, body.note).await?;
    Ok(Json(TaskView::from(&task)))
}
