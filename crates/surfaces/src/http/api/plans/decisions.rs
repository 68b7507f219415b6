//! What a person decides about a plan. An answer comes as soon as the decision is on disk; the work it leads to goes on.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use planwright_core::command::StuckChoice;
use planwright_core::ids::PlanId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Digest, Plan, PlanStatus};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{Channel, ConversationKey};
use planwright_engine::agent::{Agent, Approving};
use planwright_engine::ledger::LedgerError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::lookup::SessionQuery;
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::hearing::told_to_lookers;
use crate::http::idempotency::Asked;
use crate::http::openapi::ProblemBody;
use crate::http::problem::{ApiResult, Problem};
use crate::wire::PlanView;
use crate::wire::schemas::{ChannelSchema, StuckChoiceSchema};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(approve))
        .routes(routes!(reject))
        .routes(routes!(revise))
        .routes(routes!(cancel))
        .routes(routes!(resume))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
struct Approval {
    /// Of the text that was shown.
    #[schema(value_type = String, pattern = "^(sha256:)?[0-9a-fA-F]{64}$", min_length = 64, max_length = 71)]
    digest: Digest,
    /// The positions of the steps to be done, from 1; the others are not.
    #[schema(value_type = Option<Vec<u32>>, min_items = 1, max_items = 500)]
    only: Option<BTreeSet<u32>>,
    /// The positions of the steps not to be done, from 1.
    #[schema(value_type = Option<Vec<u32>>, max_items = 500)]
    skip: Option<BTreeSet<u32>>,
    #[schema(max_length = 16384)]
    note: Option<String>,
    /// The work does not begin with the approval; `resume` begins it.
    later: Option<bool>,
    #[schema(value_type = Option<String>, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    session_id: Option<ConversationKey>,
    #[schema(value_type = Option<ChannelSchema>)]
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
        Ok(Approving { selection, note: self.note.take() })
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
/// Exactly the version with this digest, all of its steps or some, and has it carried out. The work goes on after the
/// answer; the plan says how far it is. If the plan changed since, nothing is approved and the answer shows it as it is.
#[utoipa::path(post, path = "/api/plans/{id}/approve", tag = "plans", params(SessionQuery), request_body = Approval,
    responses((status = 200, description = "It is approved", body = ApprovedPlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It changed since it was shown, or is in another status", body = ProblemBody)))]
async fn approve(
    State(app): State<App>,
    asked: Asked,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(mut approval): Body<Approval>,
) -> ApiResult<Json<ApprovedPlanView>> {
    let of = SessionQuery::new(approval.session_id.take(), approval.channel).or(of)?;
    let plan = of.plan(&app, &id).await?;
    let approving = approval.approving()?;
    let (agent, person) = (asked.agent(&app), app.person());
    let approved = if approval.later == Some(true) {
        let Approving { selection, note } = approving;
        let approved = agent.engine().approve(&plan.session, &person, &plan.id, approval.digest, selection, note).await;
        approved.map(|plan| (plan, None))
    } else {
        let approved = agent.approve_first(&plan.session, &person, &plan.id, approval.digest, approving).await;
        approved.map(|approved| (approved.plan, approved.left))
    };
    match approved {
        Err(error) if error.code() == RefusalCode::StaleApproval => Err(stale(&app, &plan, error).await),
        approved => {
            let (approved, not_carried_out) = approved?;
            carry_out(&app, agent, &approved);
            Ok(Json(ApprovedPlanView { plan: approved.as_ref().into(), not_carried_out }))
        }
    }
}

async fn stale(app: &App, plan: &Plan, error: LedgerError) -> Problem {
    let problem = Problem::from(error);
    match app.engine().plan(&plan.session, &plan.id).await {
        Ok(now) => problem.with("plan", json!(PlanView::from(now.as_ref()))),
        Err(_) => problem,
    }
}

/// The work of a plan that a person had begun goes on when they are answered.
fn carry_out(app: &App, agent: Agent, plan: &Arc<Plan>) {
    if plan.status != PlanStatus::Executing {
        return;
    }
    let (watcher, person) = (told_to_lookers(app, &plan.session), app.person());
    let plan = Arc::clone(plan);
    app.tasks().spawn(async move {
        if let Err(error) = agent.carry_out(&plan.session, &person, &plan.id, &watcher).await {
            // What was begun is in the journal, and goes on with the next process that looks after it.
            tracing::warn!(session_identity = %plan.session, event = "carrying_out_failed", %error);
        }
    });
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "reason": "too risky" }))]
struct Reason {
    #[schema(max_length = 16384)]
    reason: Option<String>,
    #[schema(value_type = Option<String>, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    session_id: Option<ConversationKey>,
    #[schema(value_type = Option<ChannelSchema>)]
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
    asked: Asked,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(said): Body<Reason>,
) -> ApiResult<Json<PlanView>> {
    let plan = SessionQuery::new(said.session_id, said.channel).or(of)?.plan(&app, &id).await?;
    let engine = asked.agent(&app).engine().clone();
    let rejected = engine.reject(&plan.session, &app.person(), &plan.id, said.reason).await?;
    Ok(Json(rejected.as_ref().into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "feedback": "use a view" }))]
struct Feedback {
    /// What is to be changed.
    #[schema(min_length = 1, max_length = 16384, pattern = r"\S")]
    feedback: String,
    #[schema(value_type = Option<String>, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    session_id: Option<ConversationKey>,
    #[schema(value_type = Option<ChannelSchema>)]
    channel: Option<Channel>,
}

/// Ask for changes
///
/// The agent works on them after the answer, which is the plan that it works on: the same one, or the one that took its
/// place.
#[utoipa::path(post, path = "/api/plans/{id}/revise", tag = "plans", params(SessionQuery), request_body = Feedback,
    responses((status = 200, description = "The words have reached the agent", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status", body = ProblemBody)))]
async fn revise(
    State(app): State<App>,
    asked: Asked,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(said): Body<Feedback>,
) -> ApiResult<Json<PlanView>> {
    let plan = SessionQuery::new(said.session_id, said.channel).or(of)?.plan(&app, &id).await?;
    let (agent, person) = (asked.agent(&app), app.person());
    let revision = agent.revise_first(&plan.session, &person, &plan.id, said.feedback).await?;
    let (session, watcher) = (plan.session.clone(), told_to_lookers(&app, &plan.session));
    let sender = asked.followed_by(&app, "message");
    app.tasks().spawn(async move {
        if let Err(error) = sender.send(&session, &person, &revision.message, &watcher).await {
            tracing::warn!(session_identity = %session, event = "revision_not_sent", %error);
        }
    });
    Ok(Json(revision.plan.as_ref().into()))
}

/// Cancel a plan
///
/// Whatever carries it out is stopped.
#[utoipa::path(post, path = "/api/plans/{id}/cancel", tag = "plans", params(SessionQuery),
    request_body(content = Option<Reason>),
    responses((status = 200, description = "It is cancelled", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status", body = ProblemBody)))]
async fn cancel(
    State(app): State<App>,
    asked: Asked,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(said): Body<Reason>,
) -> ApiResult<Json<PlanView>> {
    let plan = SessionQuery::new(said.session_id, said.channel).or(of)?.plan(&app, &id).await?;
    let cancelled = asked.agent(&app).cancel_plan(&plan.session, &app.person(), &plan.id, said.reason).await?;
    Ok(Json(cancelled.as_ref().into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Resuming, example = json!({ "choice": "retry" }))]
struct ResumeBody {
    /// What becomes of the step that the plan stopped at.
    #[schema(value_type = Option<StuckChoiceSchema>)]
    choice: Option<StuckChoice>,
    #[schema(value_type = Option<String>, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    session_id: Option<ConversationKey>,
    #[schema(value_type = Option<ChannelSchema>)]
    channel: Option<Channel>,
}

/// Go on with a plan
///
/// From the first step not done. Where nobody knows whether a step was done, a person says what becomes of it. The work
/// goes on after the answer.
#[utoipa::path(post, path = "/api/plans/{id}/resume", tag = "plans", params(SessionQuery),
    request_body(content = Option<ResumeBody>),
    responses((status = 200, description = "It goes on, or ends where it stopped", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status, or something has to be said first", body = ProblemBody)))]
async fn resume(
    State(app): State<App>,
    asked: Asked,
    Path(id): Path<PlanId>,
    Query(of): Query<SessionQuery>,
    Body(said): Body<ResumeBody>,
) -> ApiResult<Json<PlanView>> {
    let plan = SessionQuery::new(said.session_id, said.channel).or(of)?.plan(&app, &id).await?;
    let agent = asked.agent(&app);
    let resumed = agent.resume_first(&plan.session, &app.person(), &plan.id, said.choice).await?;
    carry_out(&app, agent, &resumed);
    Ok(Json(resumed.as_ref().into()))
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
    })
}
