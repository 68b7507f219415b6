//! One plan, its history and what changed.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use planwright_core::ids::PlanId;
use planwright_core::plan::diff::PlanDiff;
use planwright_core::session::{Channel, ConversationKey};
use planwright_engine::view::{DecisionView, ExecutionView, PlanView, VersionView};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::naming::InSession;
use crate::http::api::paging::{self, DamagedView};
use crate::http::app::App;
use crate::http::extract::{Path, Query};
use crate::http::idempotency::hashed;
use crate::http::openapi::ProblemBody;
use crate::http::problem::Answered;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(show))
        .routes(routes!(history))
        .routes(routes!(diff))
        .routes(routes!(markdown))
}

/// Look at a plan
///
/// The answer has an `ETag` that changes whenever the answer does.
#[utoipa::path(get, path = "/api/plans/{id}", tag = "plans", params(InSession,
        ("If-None-Match" = Option<String>, Header, description = "The `ETag` of what is known already", nullable = false)),
    responses((status = 200, description = "The plan", body = PlanView,
            headers(("ETag" = String, description = "Changes whenever the answer does")),
            example = json!(super::deciding::example())),
        (status = 304, description = "It is as it was", headers(("ETag" = String, description = "The same as before"))),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn show(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(of): Query<InSession>,
    headers: HeaderMap,
) -> Answered<Response> {
    let plan = of.plan(&app, &id).await?;
    let body = serde_json::to_vec(&PlanView::from(plan.as_ref())).unwrap_or_default();
    let tag = format!("\"{}\"", &hashed([body.as_slice()])[..32]);
    let known = is_known(&headers, &tag);
    let mut response = if known { StatusCode::NOT_MODIFIED.into_response() } else { body.into_response() };
    let headers = response.headers_mut();
    if known {
        headers.remove(header::CONTENT_TYPE);
    } else {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
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

/// Look at what happened to a plan
///
/// Every version, decision and execution.
#[utoipa::path(get, path = "/api/plans/{id}/history", tag = "plans", params(InSession),
    responses((status = 200, description = "Its history", body = PlanHistory, example = json!(history_example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn history(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(of): Query<InSession>,
) -> Answered<Json<PlanHistory>> {
    let plan = of.plan(&app, &id).await?;
    let history = app.engine().history(&plan.session, &plan.id).await?;
    Ok(Json(PlanHistory {
        plan_id: plan.id.to_string(),
        session_id: plan.session.conversation.to_string(),
        channel: plan.session.channel,
        number: plan.number,
        versions: history.versions.iter().map(VersionView::from).collect(),
        decisions: history.decisions.iter().map(DecisionView::from).collect(),
        executions: history.executions.iter().map(ExecutionView::from).collect(),
        damaged: paging::damaged(&history.damaged),
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Comparing {
    /// The session the plan belongs to.
    #[param(value_type = String, nullable = false, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
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
/// The last two, if nothing is said. A plan with one version is compared with the one it took the place of.
#[utoipa::path(get, path = "/api/plans/{id}/diff", tag = "plans", params(Comparing),
    responses((status = 200, description = "What changed", body = PlanDiff, example = json!(diff_example())),
        (status = 404, description = "There is no such plan or version", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn diff(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(comparing): Query<Comparing>,
) -> Answered<Json<PlanDiff>> {
    let plan = InSession::new(comparing.session_id, comparing.channel).plan(&app, &id).await?;
    Ok(Json(app.engine().diff_versions(&plan, comparing.from, comparing.to).await?))
}

/// Read a plan as one text
#[utoipa::path(get, path = "/api/plans/{id}/markdown", tag = "plans", params(InSession),
    responses((status = 200, description = "What a person approves", body = String, content_type = "text/markdown",
            example = "# Move the blog to a new host\n\n- [ ] copy the files\n"),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "The name fits several plans", body = ProblemBody)))]
async fn markdown(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(of): Query<InSession>,
) -> Answered<impl IntoResponse> {
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
