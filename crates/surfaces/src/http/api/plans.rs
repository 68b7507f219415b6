//! `/api/plans`: plan mode of a session, and its plans.
//!
//! - `queries`: one plan, its history, and the difference between two versions
//! - `changes`: what it changed in files, and putting it back
//! - `preview`: what its recorded calls would do to files
//! - `reviews`: a person's comments on it
//! - `decisions`: a person's decisions about it

mod changes;
mod decisions;
mod preview;
mod queries;
mod reviews;

use axum::Json;
use axum::extract::State;
use planwright_agent::session::input::Input;
use planwright_core::mode::PlanModeState;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_core::slash::{PlanCommand, SlashCommand};
use planwright_engine::ledger::Committed;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lookup;
use super::pagination::{self, DamagedView};
use crate::http::app::App;
use crate::http::extract::{Body, Query};
use crate::http::idempotency::RequestContext;
use crate::http::input;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::{PlanModeView, PlanSummaryView};

const PAGE: u32 = 64;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(recent))
        .routes(routes!(enable))
        .routes(routes!(disable))
        .routes(routes!(done))
        .merge(queries::router())
        .merge(changes::router())
        .merge(preview::router())
        .merge(decisions::router())
        .merge(reviews::router())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PlansQuery {
    session_id: ConversationKey,
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// The `next` of the page before.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    before: Option<u64>,
    #[param(nullable = false, minimum = 1, maximum = 64)]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlanList {
    session_id: String,
    channel: Channel,
    plan_mode: PlanModeView,
    /// The newest first.
    plans: Vec<PlanSummaryView>,
    /// Where the next page begins, if there is one.
    #[schema(required = true)]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// List the plans of a session
#[utoipa::path(get, path = "/api/plans", tag = "plans", params(PlansQuery),
    responses((status = 200, description = "A page of plans", body = PlanList, example = json!(list_example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn list(State(app): State<App>, Query(query): Query<PlansQuery>) -> ApiResult<Json<PlanList>> {
    let (before, limit) = (pagination::position("before", query.before)?, pagination::limit(query.limit, PAGE)?);
    let session = lookup::session(query.session_id, query.channel);
    let opened = app.engine().sessions().get(&session).await?;
    let page = app.engine().plans().list(&session, before, limit).await?;
    Ok(Json(PlanList {
        session_id: session.conversation.to_string(),
        channel: session.channel,
        plan_mode: (&opened.plan_mode).into(),
        plans: page.items.iter().map(PlanSummaryView::from).collect(),
        next: page.next,
        damaged: pagination::damaged(&page.damaged),
    }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Enabling, example = json!({ "sessionId": "k3yk3y8x", "style": "document" }))]
struct EnableBody {
    session_id: ConversationKey,
    channel: Option<Channel>,
    /// `document` if it is not said.
    style: Option<PlanStyle>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Leaving, example = json!({ "sessionId": "k3yk3y8x" }))]
struct DisableBody {
    session_id: ConversationKey,
    channel: Option<Channel>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlanWork {
    session_id: String,
    channel: Channel,
    plan_mode: PlanModeView,
}

/// Begin plan work
///
/// Makes a plan and works on it, unless the one that is worked on is empty and of this style.
#[utoipa::path(post, path = "/api/plans/enable", tag = "plans", request_body = EnableBody,
    responses((status = 200, description = "Plan work is on", body = PlanWork, example = json!(work_example(true))),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn enable(
    State(app): State<App>,
    name: RequestContext,
    Body(body): Body<EnableBody>,
) -> ApiResult<Json<PlanWork>> {
    let session = lookup::session(body.session_id, body.channel);
    let style = body.style.unwrap_or(PlanStyle::Document);
    let committed = name.engine(&app).sessions().enable_plan_mode(&session, &name.person(&app), style).await?;
    switched(&app, &session, committed).await
}

/// Leave plan work
///
/// The plan is parked as it is.
#[utoipa::path(post, path = "/api/plans/disable", tag = "plans", request_body = DisableBody,
    responses((status = 200, description = "Plan work is off", body = PlanWork, example = json!(work_example(false))),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn disable(
    State(app): State<App>,
    name: RequestContext,
    Body(body): Body<DisableBody>,
) -> ApiResult<Json<PlanWork>> {
    let session = lookup::session(body.session_id, body.channel);
    let committed = name.engine(&app).sessions().disable_plan_mode(&session, &name.person(&app)).await?;
    switched(&app, &session, committed).await
}

/// End plan work
///
/// An empty plan is cancelled, a running one is closed by what was done, any other is parked.
#[utoipa::path(post, path = "/api/plans/done", tag = "plans", request_body = DisableBody,
    responses((status = 200, description = "Plan work is over", body = PlanWork, example = json!(work_example(false))),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn done(
    State(app): State<App>,
    name: RequestContext,
    Body(body): Body<DisableBody>,
) -> ApiResult<Json<PlanWork>> {
    let session = lookup::session(body.session_id, body.channel);
    // It may stop the work on the plan, so it is an input and not only a command for the ledger.
    let stream = app.submit_to_existing(&session, Input::Command(SlashCommand::Plan(PlanCommand::Done)), &name);
    Ok(match input::accepted(stream).await?.plan_mode {
        Some(plan_mode) => PlanWork::json(&session, &plan_mode),
        None => PlanWork::json(&session, &app.engine().sessions().get(&session).await?.plan_mode),
    })
}

/// The answer after plan mode was switched. It does not wait for the running work.
async fn switched(app: &App, session: &SessionIdentity, committed: Committed) -> ApiResult<Json<PlanWork>> {
    app.agent().wake_runs(session);
    Ok(PlanWork::json(session, &app.engine().sessions().plan_mode_after(session, committed).await?))
}

impl PlanWork {
    fn json(session: &SessionIdentity, plan_mode: &PlanModeState) -> Json<Self> {
        let (session_id, channel) = (session.conversation.to_string(), session.channel);
        Json(Self { session_id, channel, plan_mode: plan_mode.into() })
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RecentQuery {
    /// The `next` of the page before.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    after: Option<u64>,
    #[param(nullable = false, minimum = 1, maximum = 64)]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RecentPlans {
    /// The one that ended last comes first.
    plans: Vec<EndedPlanView>,
    /// Where the next page begins, if there is one.
    #[schema(required = true)]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// A plan that ended, in a list over all sessions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EndedPlan)]
struct EndedPlanView {
    session_id: String,
    channel: Channel,
    #[serde(flatten)]
    plan: PlanSummaryView,
}

/// The statuses of plans that ended and were not replaced.
const ENDED: [PlanStatus; 4] =
    [PlanStatus::Completed, PlanStatus::PartiallyCompleted, PlanStatus::Rejected, PlanStatus::Cancelled];

/// List the plans that ended, over all sessions
#[utoipa::path(get, path = "/api/plans/recent", tag = "plans", params(RecentQuery),
    responses((status = 200, description = "A page of plans", body = RecentPlans, example = json!(recent_example()))))]
async fn recent(State(app): State<App>, Query(query): Query<RecentQuery>) -> ApiResult<Json<RecentPlans>> {
    let (after, limit) = (pagination::position("after", query.after)?, pagination::limit(query.limit, PAGE)?);
    let page = app.ledger().plans_anywhere(&ENDED, after, limit).await?;
    let plans = page.items.iter().map(|found| EndedPlanView {
        session_id: found.session.conversation.to_string(),
        channel: found.session.channel,
        plan: (&found.plan).into(),
    });
    Ok(Json(RecentPlans { plans: plans.collect(), next: page.next, damaged: pagination::damaged(&page.damaged) }))
}

fn recent_example() -> serde_json::Value {
    serde_json::json!({
        "plans": [{
            "sessionId": "k3yk3y8x",
            "channel": "web",
            "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
            "number": 1,
            "status": "COMPLETED",
            "style": "document",
            "title": "Move the blog to a new host",
            "updatedAt": "2026-03-01T12:20:00Z",
        }],
        "next": null,
    })
}

fn list_example() -> serde_json::Value {
    serde_json::json!({
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "planMode": mode_example(true),
        "plans": [{
            "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
            "number": 1,
            "status": "READY",
            "style": "document",
            "title": "Move the blog to a new host",
            "updatedAt": "2026-03-01T12:04:00Z",
        }],
        "next": null,
    })
}

fn work_example(enabled: bool) -> serde_json::Value {
    serde_json::json!({ "sessionId": "k3yk3y8x", "channel": "web", "planMode": mode_example(enabled) })
}

fn mode_example(enabled: bool) -> serde_json::Value {
    let active = enabled.then_some("019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11");
    serde_json::json!({
        "enabled": enabled,
        "style": "document",
        "activePlanId": active,
        "updatedAt": "2026-03-01T12:01:00Z",
    })
}
