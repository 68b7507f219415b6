//! A person's decisions about a plan. The answer comes as soon as the decision is on disk; its work runs afterwards.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use planwright_agent::session::input::{Approving, BeginWork, Changes, Input, Worker};
use planwright_agent::session::progress::DecidedPlan;
use planwright_core::approval::PasskeyAssertion;
use planwright_core::command::StuckChoice;
use planwright_core::ids::PlanId;
use planwright_core::plan::Digest;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::review::Review;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_engine::approvals::SignedByPasskey;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::approvers::PasskeyView;
use crate::http::api::lookup::SessionQuery;
use crate::http::api::passphrase::{Passphrase, PassphraseChannel, Proof, SignedAct, in_hex, named, verified};
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::input::decided;
use crate::http::openapi::ProblemBody;
use crate::http::problem::{ApiProblem, ApiResult};
use crate::wire::PlanView;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(approve))
        .routes(routes!(challenge))
        .routes(routes!(reject))
        .routes(routes!(revise))
        .routes(routes!(cancel))
        .routes(routes!(resume))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
struct Approval {
    /// The digest of the version that the person was shown.
    digest: Digest,
    /// The positions of the steps to be done, from 1; the others are not.
    #[schema(value_type = Option<Vec<u32>>, min_items = 1, max_items = 500)]
    only: Option<BTreeSet<u32>>,
    /// The positions of the steps not to be done, from 1.
    #[schema(value_type = Option<Vec<u32>>, max_items = 500)]
    skip: Option<BTreeSet<u32>>,
    #[schema(max_length = 16384)]
    note: Option<String>,
    /// Whether the comments of the draft go with it, as notes.
    review: Option<bool>,
    /// Only approve; `resume` starts the work.
    later: Option<bool>,
    /// The approver who signs it; it may be left out if there is one.
    #[schema(min_length = 1, max_length = 64)]
    approver: Option<String>,
    /// The approver's passphrase. It is taken from this machine or over HTTPS only, and without an `Idempotency-Key`.
    #[schema(value_type = Option<String>, max_length = 4096)]
    passphrase: Option<Passphrase>,
    /// The answer of an approver's passkey to the challenge for the same call.
    passkey: Option<PasskeyAnswer>,
    /// Pause after each step until a person has looked at it.
    step_by_step: Option<bool>,
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

impl Approval {
    fn approving(&mut self) -> Result<Approving, Refusal> {
        let positions = |steps: BTreeSet<u32>| steps.into_iter().map(|step| step as usize).collect();
        let selection = match (self.only.take(), self.skip.take()) {
            (None, None) => Selection::All,
            (Some(only), None) => Selection::Only(positions(only)),
            (None, Some(skip)) => Selection::Skip(positions(skip)),
            (Some(_), Some(_)) => return Err(Refusal::invalid("Say `only` or `skip`, not both.")),
        };
        let step_by_step = self.step_by_step == Some(true);
        Ok(Approving { selection, note: self.note.take(), step_by_step, ..Approving::default() })
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ApprovedPlanView {
    #[serde(flatten)]
    plan: PlanView,
    /// Why the server does not carry the plan out now, although it was asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    not_carried_out: Option<String>,
}

/// Approve a plan
///
/// Approves exactly the version with this digest, all of its steps or some, and carries it out. The work runs after the
/// answer; the plan says how far it is. If the plan has changed, nothing is approved and the answer shows the new version.
#[utoipa::path(post, path = "/api/plans/{id}/approve", tag = "plans", params(SessionQuery), request_body = Approval,
    responses((status = 200, description = "It is approved", body = ApprovedPlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It changed since it was shown, or is in another status", body = ProblemBody)))]
async fn approve(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(mut approval): Body<Approval>,
) -> ApiResult<Json<ApprovedPlanView>> {
    let of = SessionQuery::new(approval.session_id.take(), approval.channel).or(of)?;
    let (session, plan) = of.address(&app, &id).await?;
    let approving = approval.approving()?;
    let review = drafted(&app, &session, &plan, approval.review).await?;
    let mut approving = Approving { review, ..approving };
    let mut name = name;
    match (approval.passphrase, approval.passkey) {
        (None, None) => {}
        (Some(passphrase), None) => {
            let approver = approval.approver.as_deref();
            let key = channel.unlock(&app, &name.person(&app), approver, &passphrase).await?;
            let signed = app.engine().plans().get(&session, &plan).await?;
            let signature = app.engine().approvals().sign(&key, &signed, approval.digest, &approving).await?;
            approving.signature = Some(signature);
            name.approver = Some(verified(&app, key.approver()));
        }
        (None, Some(answer)) => {
            let signed = answer.signed()?;
            name.approver = Some(verified(&app, &signed.approver));
            approving.signature = Some(signed.into());
        }
        (Some(_), Some(_)) => return Err(Refusal::invalid("Give a passphrase or a passkey, not both.").into()),
    }
    let begin = if approval.later == Some(true) { BeginWork::Later } else { BeginWork::Now };
    let input = Input::Approve { plan: plan.clone(), digest: approval.digest, approving, begin };
    match decided(app.submit(&session, input, &name)).await {
        Err(problem) if problem.code() == RefusalCode::StaleApproval => {
            Err(stale(&app, &session, &plan, problem).await)
        }
        approved => {
            let DecidedPlan { plan, left } = approved?;
            Ok(Json(ApprovedPlanView { plan: plan.as_ref().into(), not_carried_out: left }))
        }
    }
}

/// The answer of a passkey to a challenge. The texts but `clientData` are in base64url.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PasskeyAnswer {
    /// From the challenge.
    #[schema(min_length = 1, max_length = 64)]
    approver: String,
    /// From the challenge.
    #[schema(maximum = 9007199254740991_i64)]
    seq: u64,
    /// From the challenge.
    valid_until: Option<Timestamp>,
    /// From the challenge.
    #[schema(min_length = 1, max_length = 64)]
    nonce: String,
    #[schema(min_length = 1, max_length = 2048)]
    credential: String,
    /// The browser's `clientDataJSON`, as text.
    #[schema(max_length = 4096)]
    client_data: String,
    #[schema(max_length = 4096)]
    authenticator_data: String,
    #[schema(max_length = 4096)]
    signature: String,
}

impl PasskeyAnswer {
    fn signed(self) -> Result<SignedByPasskey, Refusal> {
        let assertion = PasskeyAssertion {
            authenticator_data: in_hex(&self.authenticator_data)?,
            credential: self.credential,
            client_data: self.client_data,
        };
        let signature = in_hex(&self.signature)?;
        let Self { approver, seq, valid_until, nonce, .. } = self;
        Ok(SignedByPasskey { approver, seq, valid_until, nonce, assertion, signature })
    }
}

/// What a passkey signs to approve exactly this.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyChallenge)]
struct PasskeyChallengeView {
    approver: String,
    /// The hash of the canonical approval, in base64url.
    challenge: String,
    seq: u64,
    #[schema(required = true)]
    valid_until: Option<Timestamp>,
    nonce: String,
    /// The passkeys that may sign it.
    passkeys: Vec<PasskeyView>,
}

/// Ask for what a passkey signs to approve a plan
///
/// Repeat the call to `approve` with the passkey's answer as `passkey`. Nothing is decided by this.
#[utoipa::path(post, path = "/api/plans/{id}/approve/challenge", tag = "plans", params(SessionQuery), request_body = Approval,
    responses((status = 200, description = "What to sign", body = PasskeyChallengeView, example = json!({ "approver": "ada",
            "challenge": "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg", "seq": 7, "validUntil": null, "nonce": "00ff", "passkeys": [] })),
        (status = 404, description = "There is no such plan, approver or passkey", body = ProblemBody),
        (status = 409, description = "It changed since it was shown, or others approved something else", body = ProblemBody)))]
async fn challenge(
    State(app): State<App>,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(mut approval): Body<Approval>,
) -> ApiResult<Json<PasskeyChallengeView>> {
    let of = SessionQuery::new(approval.session_id.take(), approval.channel).or(of)?;
    let plan = of.plan(&app, &id).await?;
    if plan.digest() != approval.digest {
        let problem = Refusal::stale(format!("Plan {} has changed since it was shown.", plan.number)).into();
        return Err(stale(&app, &plan.session, &plan.id, problem).await);
    }
    let approving = approval.approving()?;
    let review = drafted(&app, &plan.session, &plan.id, approval.review).await?;
    let approving = Approving { review, ..approving };
    let approver = named(&app, approval.approver.as_deref()).await?;
    let asked = app.engine().approvals().passkey_challenge(&approver, &plan, approval.digest, &approving).await?;
    Ok(Json(PasskeyChallengeView {
        approver: asked.approver,
        challenge: asked.challenge,
        seq: asked.seq,
        valid_until: asked.valid_until,
        nonce: asked.nonce,
        passkeys: asked.passkeys.iter().map(PasskeyView::from).collect(),
    }))
}

/// The comments that wait to be sent, if they are to be sent now.
async fn drafted(
    app: &App,
    session: &SessionIdentity,
    plan: &PlanId,
    wanted: Option<bool>,
) -> ApiResult<Option<Review>> {
    if wanted != Some(true) {
        return Ok(None);
    }
    let plan = app.engine().plans().get(session, plan).await?;
    let draft = app.engine().reviews().draft(&plan, &app.person()).await?;
    Ok(Some(draft).filter(|draft| !draft.comments.is_empty()))
}

/// Submits a decision about a plan and answers with the plan once the decision is on disk.
async fn decide(
    app: &App,
    name: &RequestContext,
    session: &SessionIdentity,
    input: Input,
) -> ApiResult<Json<PlanView>> {
    let decided = decided(app.submit(session, input, name)).await?;
    Ok(Json(decided.plan.as_ref().into()))
}

/// The refusal of an approval, with the plan as it is now.
async fn stale(app: &App, session: &SessionIdentity, plan: &PlanId, problem: ApiProblem) -> ApiProblem {
    match app.engine().plans().get(session, plan).await {
        Ok(now) => match super::queries::plan_view(app, &now).await {
            Ok(view) => problem.with("plan", json!(view)),
            Err(_) => problem,
        },
        Err(_) => problem,
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "reason": "too risky" }))]
struct Reason {
    #[schema(max_length = 16384)]
    reason: Option<String>,
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

/// Reject a plan
#[utoipa::path(post, path = "/api/plans/{id}/reject", tag = "plans", params(SessionQuery),
    request_body(content = Option<Reason>),
    responses((status = 200, description = "It is rejected", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status", body = ProblemBody)))]
async fn reject(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(body): Body<Reason>,
) -> ApiResult<Json<PlanView>> {
    let of = SessionQuery::new(body.session_id, body.channel).or(of)?;
    let (session, plan) = of.address(&app, &id).await?;
    decide(&app, &name, &session, Input::Reject { plan, reason: body.reason }).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "feedback": "use a view" }))]
struct Feedback {
    /// What is to be changed. It may be left out if comments go with it.
    #[serde(default)]
    #[schema(max_length = 16384, required = false)]
    feedback: String,
    /// Whether the comments of the draft go with it.
    review: Option<bool>,
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

/// Ask for changes
///
/// The agent makes them after the answer, which is the plan it works on: the same one, or the one that replaces it.
#[utoipa::path(post, path = "/api/plans/{id}/revise", tag = "plans", params(SessionQuery), request_body = Feedback,
    responses((status = 200, description = "The feedback has reached the agent", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status", body = ProblemBody)))]
async fn revise(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(body): Body<Feedback>,
) -> ApiResult<Json<PlanView>> {
    let of = SessionQuery::new(body.session_id, body.channel).or(of)?;
    let (session, plan) = of.address(&app, &id).await?;
    let review = drafted(&app, &session, &plan, body.review).await?;
    let changes = Changes { feedback: body.feedback, review };
    decide(&app, &name, &session, Input::Revise { plan, changes, begin: BeginWork::Now }).await
}

/// Cancel a plan
///
/// Its execution is stopped.
#[utoipa::path(post, path = "/api/plans/{id}/cancel", tag = "plans", params(SessionQuery),
    request_body(content = Option<Reason>),
    responses((status = 200, description = "It is cancelled", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status", body = ProblemBody)))]
async fn cancel(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(body): Body<Reason>,
) -> ApiResult<Json<PlanView>> {
    let of = SessionQuery::new(body.session_id, body.channel).or(of)?;
    let (session, plan) = of.address(&app, &id).await?;
    decide(&app, &name, &session, Input::Cancel { plan, reason: body.reason }).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Resuming, example = json!({ "choice": "retry" }))]
struct ResumeBody {
    /// What to do with the step at which the plan stopped.
    choice: Option<StuckChoice>,
    /// The step that the person looked at, from 1, of a plan that is approved step by step. It is refused if another step
    /// has ended since.
    #[schema(minimum = 1, maximum = 500)]
    after_step: Option<u32>,
    /// The passphrase of an approver, where the approval of the plan takes one. From this machine or over HTTPS only.
    #[schema(value_type = Option<String>, max_length = 1024)]
    passphrase: Option<Passphrase>,
    /// The approver; the only one if it is not said.
    #[schema(max_length = 64)]
    approver: Option<String>,
    /// The answer of an approver's passkey to the challenge of `/api/acts/challenge`.
    passkey: Option<SignedAct>,
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
    /// Of the plan that the person was shown. With `passphrase` it is what is signed, so that another plan is refused.
    digest: Option<Digest>,
}

/// Resume a plan
///
/// Continues with the first step that is not done. If the result of a step is unknown, `choice` decides about it. If the plan
/// is approved step by step, exactly one step is released; `choice: "stop"` ends the execution. The work runs after the
/// answer.
#[utoipa::path(post, path = "/api/plans/{id}/resume", tag = "plans", params(SessionQuery),
    request_body(content = Option<ResumeBody>),
    responses((status = 200, description = "The plan is executing, or has ended", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status, or something has to be said first", body = ProblemBody)))]
async fn resume(
    State(app): State<App>,
    name: RequestContext,
    passphrases: PassphraseChannel,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(body): Body<ResumeBody>,
) -> ApiResult<Json<PlanView>> {
    let of = SessionQuery::new(body.session_id, body.channel).or(of)?;
    let ResumeBody { choice, after_step, passphrase, approver, passkey, digest, .. } = body;
    let name = passphrases.verified(&app, name, Proof { approver, passphrase, passkey, digest }).await?;
    let (session, plan) = of.address(&app, &id).await?;
    let (worker, after_step) = (Worker::ThisProcess, after_step.map(|step| step as usize));
    decide(&app, &name, &session, Input::ResumePlan { plan, choice, worker, after_step }).await
}

pub(super) fn example() -> Value {
    json!({
        "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "number": 1,
        "status": "EXECUTING",
        "style": "document",
        "title": "Move the blog to a new host",
        "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "version": 1,
        "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
        "steps": [{ "id": "s1", "position": 1, "description": "copy the files", "status": "PENDING" }],
        "progress": { "done": 0, "total": 1, "next": { "step": 1, "description": "copy the files" } },
        "execution": null,
        "supersedes": null,
        "supersededBy": null,
        "feedback": null,
        "approval": null,
        "endedBecause": null,
        "createdAt": "2026-03-01T12:01:00Z",
        "updatedAt": "2026-03-01T12:06:00Z",
        "situation": "It is being carried out.",
        "choices": ["cancel"],
        "actions": [{ "name": "cancel", "label": "Cancel the plan", "command": "/plan cancel 1" }],
    })
}
