//! `/api/acts`: what a passkey signs for an act that is no approval of a plan.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use planwright_core::ask::Grant;
use planwright_core::auto::NewSchedule;
use planwright_core::command::StuckChoice;
use planwright_core::ids::{AskId, MemoryId, PlanId};
use planwright_core::plan::Digest;
use planwright_core::plan::execution::Execution;
use planwright_core::presence::{Act, ActKind};
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::approvers::PasskeyView;
use super::asks::asking;
use super::auto::{goal_id, run_target, state};
use super::lookup::{SessionQuery, session};
use super::mcp_servers::server_name;
use super::passphrase::{ActView, named};
use crate::http::app::App;
use crate::http::extract::Body;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(challenge))
}

/// What is to be done, as the call that does it says it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ActToSign, example = json!({ "kind": "resume", "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11" }))]
struct ActBody {
    kind: ActKind,
    /// The id of the plan, run, schedule, memory or ask, or the name of the MCP server.
    #[schema(max_length = 512)]
    id: Option<String>,
    /// Of what the person was shown. `permit` and `accept_tools` need it; anything else is refused if it has changed since then.
    digest: Option<Digest>,
    /// For `permit`.
    grant: Option<Grant>,
    /// For `permit`: what the call is to be made with instead of the arguments that were shown.
    #[schema(value_type = Option<Object>)]
    arguments: Option<Map<String, Value>>,
    /// For `release`: the step that the person looked at, from 1.
    #[schema(minimum = 1, maximum = 500)]
    after_step: Option<u32>,
    /// For `start_run` and `add_schedule`.
    #[schema(min_length = 1, max_length = 128)]
    goal_id: Option<String>,
    /// For `start_run`.
    #[schema(min_length = 1, max_length = 128)]
    task_id: Option<String>,
    /// For `add_schedule`.
    schedule: Option<ScheduleTerms>,
    /// The approver who signs it; it may be left out if there is one.
    #[schema(min_length = 1, max_length = 64)]
    approver: Option<String>,
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScheduleTerms {
    #[schema(min_length = 9, max_length = 256)]
    cron: String,
    #[schema(min_length = 1, max_length = 64)]
    time_zone: Option<String>,
    #[schema(min_length = 1, max_length = 16384)]
    title: String,
    #[schema(minimum = 1, maximum = 4294967295_i64)]
    max_executions: Option<u32>,
}

/// What a passkey signs for exactly this act.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ActChallenge)]
struct ActChallengeView {
    approver: String,
    /// The hash of the canonical act, in base64url.
    challenge: String,
    act: ActView,
    at: Timestamp,
    nonce: String,
    /// The passkeys that may sign it.
    passkeys: Vec<PasskeyView>,
}

/// Ask for what a passkey signs to do something
///
/// Send the call that does it with the passkey's answer as `passkey`, within an hour. Nothing is decided by this.
#[utoipa::path(post, path = "/api/acts/challenge", tag = "approvers", request_body = ActBody,
    responses((status = 200, description = "What to sign", body = ActChallengeView, example = json!({ "approver": "ada",
            "challenge": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
            "act": { "kind": "resume", "subject": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
                "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" },
            "at": "2026-03-01T12:03:00Z", "nonce": "00ff", "passkeys": [] })),
        (status = 404, description = "There is no such thing, approver or passkey", body = ProblemBody),
        (status = 409, description = "The plan did not stop at a step, or `digest` is of an earlier state", body = ProblemBody)))]
async fn challenge(State(app): State<App>, Body(body): Body<ActBody>) -> ApiResult<Json<ActChallengeView>> {
    let approver = named(&app, body.approver.as_deref()).await?;
    app.engine().approvals().passkeys_of(&approver).await?;
    // What a permission and an acceptance sign is made of the digest: the call that does it compares it.
    let shown = body.digest.filter(|_| !matches!(body.kind, ActKind::Permit | ActKind::AcceptTools));
    let (session, act) = body.act(&app).await?;
    if shown.is_some_and(|shown| shown.to_string() != act.digest) {
        return Err(Refusal::stale("It is not what was shown any more. Look at it again.").into());
    }
    let asked = app.engine().approvals().act_challenge(&approver, session.as_ref(), act).await?;
    Ok(Json(ActChallengeView {
        approver: asked.approver,
        challenge: asked.challenge,
        act: asked.unsigned.act.into(),
        at: asked.unsigned.at,
        nonce: asked.unsigned.nonce,
        passkeys: asked.passkeys.iter().map(PasskeyView::from).collect(),
    }))
}

impl ActBody {
    /// The act, and the session that it belongs to.
    async fn act(self, app: &App) -> ApiResult<(Option<SessionIdentity>, Act)> {
        let (session, act) = match self.kind {
            ActKind::Resume | ActKind::Release => return self.about_plan(app, None).await,
            ActKind::Retry => return self.about_plan(app, Some(StuckChoice::Retry)).await,
            ActKind::Skip => return self.about_plan(app, Some(StuckChoice::Skip)).await,
            ActKind::AcceptTools => {
                let server = server_name(self.id()?)?;
                return Ok((None, Act::accept_tools(&server, given("digest", self.digest)?)));
            }
            ActKind::Permit => {
                let ask = AskId::new(self.id()?)?;
                let (digest, grant) = (given("digest", self.digest)?, given("grant", self.grant)?);
                let session = asking(app, &ask, self.session_id, self.channel).await?;
                (session, Act::permit(&ask, digest, grant, self.arguments.map(Value::Object).as_ref()))
            }
            ActKind::Promote => {
                let (session, memory) = (self.session()?, MemoryId::new(self.id()?)?);
                (session.clone(), Act::promote(&app.engine().memories().get(&session, &memory).await?))
            }
            ActKind::StartRun => {
                let session = self.session()?;
                let target = run_target(app, &session, self.goal_id.as_deref(), self.task_id.as_deref()).await?;
                let act = Act::start_run(&target, &state(app, &session).await?)?;
                (session, act)
            }
            ActKind::ResumeRun => {
                let session = self.session()?;
                let state = state(app, &session).await?;
                (session, Act::resume_run(state.find_run(self.id()?)?, &state))
            }
            ActKind::AddSchedule => {
                let (session, terms) = (self.session()?, given("schedule", self.schedule)?);
                let new = NewSchedule {
                    expression: terms.cron,
                    zone: terms.time_zone,
                    title: terms.title,
                    goal: goal_id(app, &session, self.goal_id).await?,
                    max_executions: terms.max_executions,
                };
                let act = Act::add_schedule(&new, &state(app, &session).await?)?;
                (session, act)
            }
            ActKind::ResumeSchedule => {
                let session = self.session()?;
                let state = state(app, &session).await?;
                (session, Act::resume_schedule(state.find_schedule(self.id()?)?, &state))
            }
        };
        Ok((Some(session), act))
    }

    /// A plan continues, or the step that it stopped at is settled.
    async fn about_plan(self, app: &App, choice: Option<StuckChoice>) -> ApiResult<(Option<SessionIdentity>, Act)> {
        let id = PlanId::new(self.id()?)?;
        let plan = SessionQuery::new(self.session_id, self.channel).plan(app, &id).await?;
        let act = match choice {
            None => Act::resume(&plan, self.after_step.map(|step| step as usize)),
            Some(choice) => {
                let stuck = plan.execution.as_ref().and_then(Execution::stuck_at);
                let nothing = || Refusal::wrong_status(format!("Plan {} did not stop at a step.", plan.number));
                stuck.and_then(|(_, run)| Act::settle(&plan, &run.step, choice)).ok_or_else(nothing)?
            }
        };
        Ok((Some(plan.session.clone()), act))
    }

    fn id(&self) -> Result<&str, Refusal> {
        self.id.as_deref().ok_or_else(|| Refusal::invalid("`id` is missing."))
    }

    fn session(&self) -> Result<SessionIdentity, Refusal> {
        Ok(session(given("sessionId", self.session_id.clone())?, self.channel))
    }
}

fn given<T>(name: &str, value: Option<T>) -> Result<T, Refusal> {
    value.ok_or_else(|| Refusal::invalid(format!("`{name}` is missing.")))
}
