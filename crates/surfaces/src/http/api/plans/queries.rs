//! One plan, its history, and the difference between two versions.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use planwright_core::ids::PlanId;
use planwright_core::plan::Plan;
use planwright_core::plan::diff::PlanDiff;
use planwright_core::session::{Channel, ConversationKey};
use planwright_engine::history::PlanExecution;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::lookup::SessionQuery;
use crate::http::api::pagination::{self, DamagedView};
use crate::http::app::App;
use crate::http::extract::{Path, Query};
use crate::http::openapi::ProblemBody;
use crate::http::plan_answers::{PlanAnswer, PlanContext};
use crate::http::problem::ApiResult;
use crate::wire::{DecisionView, ExecutionView, PlanView, VersionView};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(show))
        .routes(routes!(history))
        .routes(routes!(diff))
        .routes(routes!(markdown))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct VersionQuery {
    /// The session the plan belongs to. With it a plan can also be named by its number, or by a piece of its id.
    #[param(nullable = false)]
    session_id: Option<ConversationKey>,
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// An earlier version; the current one if it is not said.
    #[param(nullable = false, minimum = 1, maximum = 4294967295_i64)]
    version: Option<u32>,
}

/// Show a plan
///
/// The answer has an `ETag` that changes whenever the answer does. With `version`, its text, steps and digest are those of an
/// earlier version; everything else is as it is now.
#[utoipa::path(get, path = "/api/plans/{id}", tag = "plans", params(VersionQuery,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of an earlier answer", nullable = false)),
    responses((status = 200, description = "The plan", body = PlanView,
            headers(("ETag" = String, description = "Changes whenever the answer does")),
            example = json!(super::decisions::example())),
        (status = 304, description = "It has not changed", headers(("ETag" = String, description = "The same as before"))),
        (status = 404, description = "There is no such plan or version", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn show(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(query): Query<VersionQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let plan = SessionQuery::new(query.session_id, query.channel).plan(&app, &id).await?;
    let answer = match query.version {
        Some(version) => {
            let plan = app.engine().history().version(&plan, version).await?;
            PlanAnswer::of(&plan_view(&app, &plan).await?)
        }
        None => {
            let context = PlanContext::of(&app, &plan).await?;
            app.plan_answers().answer(plan, context)
        }
    };
    let is_known = answer.tag.to_str().is_ok_and(|tag| is_known(&headers, tag));
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        (content_type, answer.body).into_response()
    };
    response.headers_mut().insert(header::ETAG, answer.tag);
    Ok(response)
}

/// The plan with what is being done on it, and what an approval of it needs.
pub(super) async fn plan_view(app: &App, plan: &Plan) -> ApiResult<PlanView> {
    Ok(PlanContext::of(app, plan).await?.view(plan))
}

fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get_all(header::IF_NONE_MATCH).into_iter().filter_map(|value| value.to_str().ok());
    known
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlanHistory {
    plan_id: String,
    session_id: String,
    channel: Channel,
    number: u32,
    versions: Vec<VersionView>,
    decisions: Vec<DecisionView>,
    /// The latest last.
    executions: Vec<ExecutionView>,
    /// Entries that cannot be read. What happened after the first of them is not listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// Show the history of a plan
///
/// Every version, decision and execution.
#[utoipa::path(get, path = "/api/plans/{id}/history", tag = "plans", params(SessionQuery),
    responses((status = 200, description = "Its history", body = PlanHistory, example = json!(history_example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn history(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
) -> ApiResult<Json<PlanHistory>> {
    let plan = of.plan(&app, &id).await?;
    let history = app.engine().history().of_plan(&plan.session, &plan.id).await?;
    let costs = app.engine().history().execution_costs(&plan.session, &plan.id, &history).await?;
    let with_cost = |one: &PlanExecution| ExecutionView::from(one).with_cost(costs.get(&one.execution.id));
    Ok(Json(PlanHistory {
        plan_id: plan.id.to_string(),
        session_id: plan.session.conversation.to_string(),
        channel: plan.session.channel,
        number: plan.number,
        versions: history.versions.iter().map(VersionView::from).collect(),
        decisions: history.decisions.iter().map(DecisionView::from).collect(),
        executions: history.executions.iter().map(with_cost).collect(),
        damaged: pagination::damaged(&history.damaged),
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DiffQuery {
    /// The session the plan belongs to.
    #[param(nullable = false)]
    session_id: Option<ConversationKey>,
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// The older version; the one before `to` if it is not said. 0 is a plan with nothing in it.
    #[param(nullable = false, minimum = 0, maximum = 4294967295_i64)]
    from: Option<u32>,
    /// The newer version; the last one if it is not said.
    #[param(nullable = false, minimum = 0, maximum = 4294967295_i64)]
    to: Option<u32>,
}

/// Compare two versions of a plan
///
/// The last two by default. A plan with one version is compared with the one it replaced.
#[utoipa::path(get, path = "/api/plans/{id}/diff", tag = "plans", params(DiffQuery),
    responses((status = 200, description = "What changed", body = PlanDiff, example = json!(diff_example())),
        (status = 404, description = "There is no such plan or version", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn diff(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(query): Query<DiffQuery>,
) -> ApiResult<Json<PlanDiff>> {
    let plan = SessionQuery::new(query.session_id, query.channel).plan(&app, &id).await?;
    Ok(Json(app.engine().history().diff_versions(&plan, query.from, query.to).await?))
}

/// Read a plan as one text
#[utoipa::path(get, path = "/api/plans/{id}/markdown", tag = "plans", params(SessionQuery),
    responses((status = 200, description = "What a person approves", body = String, content_type = "text/markdown",
            example = "# Move the blog to a new host\n\n- [ ] copy the files\n"),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn markdown(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
) -> ApiResult<impl IntoResponse> {
    let plan = of.plan(&app, &id).await?;
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], plan.markdown()))
}

fn history_example() -> Value {
    serde_json::json!({
        "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "number": 1,
        "versions": [{
            "version": 1,
            "at": "2026-03-01T12:04:00Z",
            "by": { "kind": "agent", "name": "rehearsal", "through": "web" },
            "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "title": null,
        }],
        "decisions": [],
        "executions": [],
    })
}

fn diff_example() -> Value {
    serde_json::json!({
        "changes": [{ "kind": "stepAdded", "position": 1, "description": "copy the files" }],
        "lines": [{ "mark": "added", "to": 1, "pieces": [{ "text": "- [ ] copy the files" }] }],
    })
}
