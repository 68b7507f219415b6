//! `/api/schedules`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use planwright_core::auto::{AutoCommand, NewSchedule, ScheduleChange};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{goal_id, list_example, schedule_example, state};
use crate::http::api::lookup::{self, ItemId, OfSession};
use crate::http::api::passphrase::{Passphrase, PassphraseChannel, Proof, SignedAct};
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::ScheduleView;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list, add))
        .routes(routes!(delete))
        .routes(routes!(pause))
        .routes(routes!(resume))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Schedules {
    items: Vec<ScheduleView>,
}

/// List the schedules of a session
#[utoipa::path(get, path = "/api/schedules", tag = "auto", params(OfSession),
    responses((status = 200, description = "The schedules", body = Schedules, example = json!(list_example(schedule_example()))),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn list(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<Schedules>> {
    let state = state(&app, &of.session()).await?;
    Ok(Json(Schedules { items: state.schedules.iter().map(|one| ScheduleView::of(&state, one)).collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewSchedule, example = json!({ "sessionId": "k3yk3y8x", "cron": "0 9 * * 1", "timeZone": "Europe/Berlin", "title": "Read the news" }))]
struct NewScheduleBody {
    session_id: ConversationKey,
    channel: Option<Channel>,
    /// Five fields: minute, hour, day of the month, month, day of the week.
    #[schema(min_length = 9, max_length = 256)]
    cron: String,
    /// A name such as `Europe/Berlin`; UTC if it is not said.
    #[schema(min_length = 1, max_length = 64)]
    time_zone: Option<String>,
    /// What is done each time.
    #[schema(min_length = 1, max_length = 16384)]
    title: String,
    /// The id or number of the goal that the task belongs to.
    #[schema(min_length = 1, max_length = 128)]
    goal_id: Option<String>,
    #[schema(minimum = 1, maximum = 4294967295_i64)]
    max_executions: Option<u32>,
    /// The approver who makes it, where the policy asks for a verified person; it may be left out if there is one.
    #[schema(min_length = 1, max_length = 64)]
    approver: Option<String>,
    /// The approver's passphrase. It is taken from this machine or over HTTPS only, and without an `Idempotency-Key`.
    #[schema(value_type = Option<String>, max_length = 4096)]
    passphrase: Option<Passphrase>,
    /// The answer of an approver's passkey to the challenge of `/api/acts/challenge`.
    passkey: Option<SignedAct>,
}

/// Do something at set times
#[utoipa::path(post, path = "/api/schedules", tag = "auto", request_body = NewScheduleBody,
    responses((status = 201, description = "The schedule", body = ScheduleView, example = json!(schedule_example())),
        (status = 400, description = "The expression or the time zone is not one", body = ProblemBody),
        (status = 404, description = "There is no such session or goal", body = ProblemBody)))]
async fn add(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Body(body): Body<NewScheduleBody>,
) -> ApiResult<(StatusCode, Json<ScheduleView>)> {
    let proof = Proof { approver: body.approver, passphrase: body.passphrase, passkey: body.passkey, digest: None };
    let name = channel.verified(&app, name, proof).await?;
    let session = lookup::session(body.session_id, body.channel);
    let new = NewSchedule {
        expression: body.cron,
        zone: body.time_zone,
        title: body.title,
        goal: goal_id(&app, &session, body.goal_id).await?,
        max_executions: body.max_executions,
    };
    let view = submit(&app, &name, &session, AutoCommand::AddSchedule(new)).await?;
    Ok((StatusCode::CREATED, Json(view)))
}

/// Pause a schedule
#[utoipa::path(post, path = "/api/schedules/{id}/pause", tag = "auto",
    params(ItemId, OfSession),
    responses((status = 200, description = "The schedule", body = ScheduleView, example = json!(schedule_example())),
        (status = 404, description = "There is no such schedule in this session", body = ProblemBody),
        (status = 409, description = "It is not active", body = ProblemBody)))]
async fn pause(
    State(app): State<App>,
    name: RequestContext,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
) -> ApiResult<Json<ScheduleView>> {
    change(&app, &name, of.session(), &id, ScheduleChange::Pause).await
}

/// Let a paused schedule continue
#[utoipa::path(post, path = "/api/schedules/{id}/resume", tag = "auto",
    params(ItemId, OfSession), request_body(content = Option<Proof>),
    responses((status = 200, description = "The schedule", body = ScheduleView, example = json!(schedule_example())),
        (status = 404, description = "There is no such schedule in this session", body = ProblemBody),
        (status = 409, description = "It is not paused", body = ProblemBody)))]
async fn resume(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
    Body(proof): Body<Option<Proof>>,
) -> ApiResult<Json<ScheduleView>> {
    let name = channel.verified(&app, name, proof.unwrap_or_default()).await?;
    change(&app, &name, of.session(), &id, ScheduleChange::Resume).await
}

/// Delete a schedule
#[utoipa::path(delete, path = "/api/schedules/{id}", tag = "auto",
    params(ItemId, OfSession),
    responses((status = 204, description = "It is deleted"),
        (status = 404, description = "There is no such schedule in this session", body = ProblemBody)))]
async fn delete(
    State(app): State<App>,
    name: RequestContext,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
) -> ApiResult<StatusCode> {
    let session = of.session();
    let schedule = state(&app, &session).await?.find_schedule(&id)?.id.clone();
    let command = AutoCommand::ChangeSchedule { schedule, change: ScheduleChange::Delete };
    name.engine(&app).auto().schedule(&session, &name.person(&app), command).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn change(
    app: &App,
    name: &RequestContext,
    session: SessionIdentity,
    id: &str,
    change: ScheduleChange,
) -> ApiResult<Json<ScheduleView>> {
    let schedule = state(app, &session).await?.find_schedule(id)?.id.clone();
    submit(app, name, &session, AutoCommand::ChangeSchedule { schedule, change }).await.map(Json)
}

async fn submit(
    app: &App,
    name: &RequestContext,
    session: &SessionIdentity,
    command: AutoCommand,
) -> ApiResult<ScheduleView> {
    let person = name.person(app);
    let schedule = name.engine(app).auto().schedule(session, &person, command).await?;
    let state = state(app, session).await?;
    let missing = || planwright_core::refusal::Refusal::not_found("The schedule is deleted.");
    Ok(ScheduleView::of(&state, &schedule.ok_or_else(missing)?))
}
