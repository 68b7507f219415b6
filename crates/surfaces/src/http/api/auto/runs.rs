//! `/api/runs`

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use planwright_agent::session::input::Input;
use planwright_core::auto::StartTarget;
use planwright_core::plan::Digest;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{list_example, run_example, state};
use crate::http::api::lookup::{self, ItemId, OfSession};
use crate::http::api::passphrase::{Passphrase, PassphraseChannel, Proof, SignedAct};
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::input::accepted;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::RunView;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list, start))
        .routes(routes!(show))
        .routes(routes!(stop))
        .routes(routes!(resume))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Runs {
    /// Every run that is not over and the last ones that are, in the order they were started.
    items: Vec<RunView>,
}

/// List the runs of a session
#[utoipa::path(get, path = "/api/runs", tag = "auto", params(OfSession),
    responses((status = 200, description = "The runs", body = Runs, example = json!(list_example(run_example()))),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn list(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<Runs>> {
    let session = of.session();
    app.agent().note_interrupted_runs(&session).await?;
    let state = state(&app, &session).await?;
    Ok(Json(Runs { items: state.runs.iter().map(|run| RunView::of(&state, run)).collect() }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "sessionId": "k3yk3y8x", "goalId": "1" }))]
struct NewRun {
    session_id: ConversationKey,
    channel: Option<Channel>,
    /// The id or number of a goal: a `GOAL_RUN` on its first open task.
    #[schema(min_length = 1, max_length = 128)]
    goal_id: Option<String>,
    /// The id or number of a task. Without goal and task the session's first active goal is worked towards, else its first
    /// open task.
    #[schema(min_length = 1, max_length = 128)]
    task_id: Option<String>,
    /// The approver who starts it, where the policy asks for a verified person; it may be left out if there is one.
    #[schema(min_length = 1, max_length = 64)]
    approver: Option<String>,
    /// The approver's passphrase. It is taken from this machine or over HTTPS only, and without an `Idempotency-Key`.
    #[schema(value_type = Option<String>, max_length = 4096)]
    passphrase: Option<Passphrase>,
    /// The answer of an approver's passkey to the challenge of `/api/acts/challenge`.
    passkey: Option<SignedAct>,
    /// Of the goal or the task as the person was shown it. With `passphrase` it is what is signed, so that a change since then is
    /// refused.
    digest: Option<Digest>,
}

/// Start a run
#[utoipa::path(post, path = "/api/runs", tag = "auto", request_body = NewRun,
    responses((status = 201, description = "The run", body = RunView, example = json!(run_example())),
        (status = 404, description = "There is no such session, goal or task", body = ProblemBody),
        (status = 409, description = "A plan or a permission waits for a person, or a run works on the task already", body = ProblemBody)))]
async fn start(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Body(body): Body<NewRun>,
) -> ApiResult<(StatusCode, Json<RunView>)> {
    let proof =
        Proof { approver: body.approver, passphrase: body.passphrase, passkey: body.passkey, digest: body.digest };
    let session = lookup::session(body.session_id, body.channel);
    let target = run_target(&app, &session, body.goal_id.as_deref(), body.task_id.as_deref()).await?;
    let name = channel.verified(&app, name, proof).await?;
    let answer = accepted(app.submit(&session, Input::StartRun { target }, &name)).await?;
    let after = state(&app, &session).await?;
    let run = answer.run.as_ref().and_then(|run| after.run(run));
    let missing = || Refusal::new(RefusalCode::Internal, "The run is not found after its start.");
    Ok((StatusCode::CREATED, Json(RunView::of(&after, run.ok_or_else(missing)?))))
}

/// What a run is started for.
pub(in crate::http::api) async fn run_target(
    app: &App,
    session: &SessionIdentity,
    goal: Option<&str>,
    task: Option<&str>,
) -> ApiResult<StartTarget> {
    let state = state(app, session).await?;
    Ok(match (goal, task) {
        (_, Some(task)) => {
            let task = state.find_task(task)?;
            let goal = goal.map(|goal| state.find_goal(goal)).transpose()?;
            if goal.is_some_and(|goal| task.goal.as_ref() != Some(&goal.id)) {
                return Err(Refusal::invalid("The task does not belong to this goal.").into());
            }
            StartTarget::Task(task.id.clone())
        }
        (Some(goal), None) => StartTarget::Goal(state.find_goal(goal)?.id.clone()),
        (None, None) => StartTarget::Current,
    })
}

/// Look at a run
#[utoipa::path(get, path = "/api/runs/{id}", tag = "auto",
    params(ItemId, OfSession),
    responses((status = 200, description = "The run", body = RunView, example = json!(run_example())),
        (status = 404, description = "There is no such run in this session", body = ProblemBody)))]
async fn show(
    State(app): State<App>,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
) -> ApiResult<Json<RunView>> {
    let session = of.session();
    app.agent().note_interrupted_runs(&session).await?;
    find(&app, &session, &id).await.map(Json)
}

/// End a run
///
/// The turn that it has open ends, too.
#[utoipa::path(post, path = "/api/runs/{id}/stop", tag = "auto",
    params(ItemId, OfSession),
    responses((status = 200, description = "The run", body = RunView, example = json!(run_example())),
        (status = 404, description = "There is no such run in this session", body = ProblemBody),
        (status = 409, description = "It is over", body = ProblemBody)))]
async fn stop(
    State(app): State<App>,
    name: RequestContext,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
) -> ApiResult<Json<RunView>> {
    let session = of.session();
    let run = state(&app, &session).await?.find_run(&id)?.id().clone();
    accepted(app.submit(&session, Input::StopRuns { run: Some(run) }, &name)).await?;
    find(&app, &session, &id).await.map(Json)
}

/// Let a run continue
///
/// For a run that is paused or interrupted. Its budget counts from now on.
#[utoipa::path(post, path = "/api/runs/{id}/resume", tag = "auto",
    params(ItemId, OfSession), request_body(content = Option<Proof>),
    responses((status = 200, description = "The run", body = RunView, example = json!(run_example())),
        (status = 404, description = "There is no such run in this session", body = ProblemBody),
        (status = 409, description = "It runs or is over, or something waits for a person", body = ProblemBody)))]
async fn resume(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Path(ItemId { id }): Path<ItemId>,
    Query(of): Query<OfSession>,
    Body(proof): Body<Option<Proof>>,
) -> ApiResult<Json<RunView>> {
    let session = of.session();
    let name = channel.verified(&app, name, proof.unwrap_or_default()).await?;
    let run = state(&app, &session).await?.find_run(&id)?.id().clone();
    accepted(app.submit(&session, Input::ResumeRun { run }, &name)).await?;
    find(&app, &session, &id).await.map(Json)
}

async fn find(app: &App, session: &SessionIdentity, id: &str) -> ApiResult<RunView> {
    let state = state(app, session).await?;
    Ok(RunView::of(&state, state.find_run(id)?))
}
