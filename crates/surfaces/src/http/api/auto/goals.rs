//! `/api/goals` and `/api/tasks`: the same calls, for what a session works towards and for what it does.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use planwright_core::auto::{GoalStatus, TaskStatus};
use planwright_core::session::{Channel, ConversationKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{goal_example, goal_id, list_example, state, task_example};
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

/// The four calls of a kind of item. What is changed keeps its title.
macro_rules! calls {
    (
        $one:literal at $path:literal, $path_of_one:literal, such as $example:ident;
        $list:ident gives $List:ident of $View:ident from $items:ident;
        $add:ident($New:ident): $added:literal, or $missing:literal;
        $show:ident, $find:ident;
        $change:ident($Change:ident to $Status:ident): $changed:literal;
    ) => {
        #[derive(Debug, Serialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        struct $List {
            items: Vec<$View>,
        }

        #[utoipa::path(get, path = $path, tag = "auto", summary = concat!("List the ", $one, "s of a session"),
            params(OfSession),
            responses((status = 200, description = concat!("The ", $one, "s"), body = $List, example = json!(list_example($example()))),
                (status = 404, description = "There is no such session", body = ProblemBody)))]
        async fn $list(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<$List>> {
            let state = state(&app, &of.session()).await?;
            Ok(Json($List { items: state.$items.iter().map(|one| $View::of(&state, one)).collect() }))
        }

        #[utoipa::path(post, path = $path, tag = "auto", summary = $added, request_body = $New,
            responses((status = 201, description = concat!("The ", $one), body = $View, example = json!($example())),
                (status = 404, description = $missing, body = ProblemBody)))]
        async fn $add(
            State(app): State<App>,
            name: RequestContext,
            Body(body): Body<$New>,
        ) -> ApiResult<(StatusCode, Json<$View>)> {
            Ok((StatusCode::CREATED, Json(body.add(&app, &name).await?)))
        }

        #[utoipa::path(get, path = $path_of_one, tag = "auto", summary = concat!("Look at a ", $one),
            params(ItemId, OfSession),
            responses((status = 200, description = concat!("The ", $one), body = $View, example = json!($example())),
                (status = 404, description = concat!("There is no such ", $one, " in this session"), body = ProblemBody)))]
        async fn $show(
            State(app): State<App>,
            Path(ItemId { id }): Path<ItemId>,
            Query(of): Query<OfSession>,
        ) -> ApiResult<Json<$View>> {
            let state = state(&app, &of.session()).await?;
            Ok(Json($View::of(&state, state.$find(&id)?)))
        }

        #[derive(Debug, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        #[schema(example = json!({ "status": "done" }))]
        struct $Change {
            status: $Status,
            #[schema(min_length = 1, max_length = 16384)]
            note: Option<String>,
        }

        #[utoipa::path(patch, path = $path_of_one, tag = "auto", summary = $changed,
            params(ItemId, OfSession), request_body = $Change,
            responses((status = 200, description = concat!("The ", $one), body = $View, example = json!($example())),
                (status = 404, description = concat!("There is no such ", $one, " in this session"), body = ProblemBody)))]
        async fn $change(
            State(app): State<App>,
            name: RequestContext,
            Path(ItemId { id }): Path<ItemId>,
            Query(of): Query<OfSession>,
            Body(body): Body<$Change>,
        ) -> ApiResult<Json<$View>> {
            let session = of.session();
            let item = state(&app, &session).await?.$find(&id)?.id.clone();
            let auto = name.engine(&app).auto();
            let changed = auto.$change(&session, &name.person(&app), item, body.status, body.note).await?;
            Ok(Json($View::from(&changed)))
        }
    };
}

calls! {
    "goal" at "/api/goals", "/api/goals/{id}", such as goal_example;
    list_goals gives Goals of GoalView from goals;
    add_goal(NewGoal): "Set a goal", or "There is no such session";
    show_goal, find_goal;
    change_goal(GoalChange to GoalStatus): "Pause, resume, finish or cancel a goal";
}

calls! {
    "task" at "/api/tasks", "/api/tasks/{id}", such as task_example;
    list_tasks gives Tasks of TaskView from tasks;
    add_task(NewTask): "Add a task", or "There is no such session or goal";
    show_task, find_task;
    change_task(TaskChange to TaskStatus): "Say how a task ended";
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

impl NewGoal {
    async fn add(self, app: &App, name: &RequestContext) -> ApiResult<GoalView> {
        let session = lookup::session(self.session_id, self.channel);
        let goal = name.engine(app).auto().add_goal(&session, &name.person(app), self.title).await?;
        Ok(GoalView::from(&goal))
    }
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

impl NewTask {
    async fn add(self, app: &App, name: &RequestContext) -> ApiResult<TaskView> {
        let session = lookup::session(self.session_id, self.channel);
        let goal = goal_id(app, &session, self.goal_id).await?;
        let task = name.engine(app).auto().add_task(&session, &name.person(app), self.title, goal).await?;
        Ok(TaskView::from(&task))
    }
}
