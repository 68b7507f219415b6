//! What a person decides about a plan. An answer comes as soon as the decision is on disk; the work it leads to goes on.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use planwright_core::command::StuckChoice;
use planwright_core::ids::PlanId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Digest, Plan};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{Channel, ConversationKey};
use planwright_engine::session::input::{Approving, BeginWork, Input};
use planwright_engine::view::PlanView;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::naming::InSession;
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestName;
use crate::http::input::decided;
use crate::http::openapi::ProblemBody;
use crate::http::problem::{Answered, Problem};

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

/// Approve a plan
///
/// Exactly the version with this digest, all of its steps or some, and has it carried out. The work goes on after the
/// answer; the plan says how far it is. If the plan changed since, nothing is approved and the answer shows it as it is.
#[utoipa::path(post, path = "/api/plans/{id}/approve", tag = "plans", params(InSession), request_body = Approval,
    responses((status = 200, description = "It is approved", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It changed since it was shown, or is in another status", body = ProblemBody)))]
async fn approve(
    State(app): State<App>,
    name: RequestName,
    Path(id): Path<PlanId>,
    Query(of): Query<InSession>,
    Body(mut approval): Body<Approval>,
) -> Answered<Json<PlanView>> {
    let of = InSession::new(approval.session_id.take(), approval.channel).or(of)?;
    let plan = of.plan(&app, &id).await?;
    let approving = approval.approving()?;
    let begin = if approval.later == Some(true) { BeginWork::Later } else { BeginWork::Now };
    let input = Input::Approve { plan: plan.id.clone(), digest: approval.digest, approving, begin };
    match decided(app.submit(&plan.session, input, &name)).await {
        Err(problem) if problem.code() == RefusalCode::StaleApproval => Err(stale(&app, &plan, problem).await),
        approved => Ok(Json(approved?.as_ref().into())),
    }
}

/// The refusal of an approval, with the plan as it is now.
async fn stale(app: &App, plan: &Plan, problem: Problem) -> Problem {
    match app.engine().plan(&plan.session, &plan.id).await {
        Ok(now) => problem.with("plan", json!(PlanView::from(now.as_ref()))),
        Err(_) => problem,
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "reason": "too risky" }))]
struct Reason {
    #[schema(max_length = 16384)]
    reason: Option<String>,
    #[schema(value_type = Option<String>, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

/// Reject a plan
#[utoipa::path(post, path = "/api/plans/{id}/reject", tag = "plans", params(InSession),
    request_body(content = Option<Reason>),
    responses((status = 200, description = "It is rejected", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status", body = ProblemBody)))]
async fn reject(
    State(app): State<App>,
    name: RequestName,
    Path(id): Path<PlanId>,
    Query(of): Query<InSession>,
    Body(said): Body<Reason>,
) -> Answered<Json<PlanView>> {
    let plan = InSession::new(said.session_id, said.channel).or(of)?.plan(&app, &id).await?;
    let input = Input::Reject { plan: plan.id.clone(), reason: said.reason };
    let rejected = decided(app.submit(&plan.session, input, &name)).await?;
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
    channel: Option<Channel>,
}

/// Ask for changes
///
/// The agent works on them after the answer, which is the plan that it works on: the same one, or the one that took its
/// place.
#[utoipa::path(post, path = "/api/plans/{id}/revise", tag = "plans", params(InSession), request_body = Feedback,
    responses((status = 200, description = "The words have reached the agent", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status", body = ProblemBody)))]
async fn revise(
    State(app): State<App>,
    name: RequestName,
    Path(id): Path<PlanId>,
    Query(of): Query<InSession>,
    Body(said): Body<Feedback>,
) -> Answered<Json<PlanView>> {
    let plan = InSession::new(said.session_id, said.channel).or(of)?.plan(&app, &id).await?;
    let input = Input::Revise { plan: plan.id.clone(), feedback: said.feedback };
    let revised = decided(app.submit(&plan.session, input, &name)).await?;
    Ok(Json(revised.as_ref().into()))
}

/// Cancel a plan
///
/// Whatever carries it out is stopped.
#[utoipa::path(post, path = "/api/plans/{id}/cancel", tag = "plans", params(InSession),
    request_body(content = Option<Reason>),
    responses((status = 200, description = "It is cancelled", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status", body = ProblemBody)))]
async fn cancel(
    State(app): State<App>,
    name: RequestName,
    Path(id): Path<PlanId>,
    Query(of): Query<InSession>,
    Body(said): Body<Reason>,
) -> Answered<Json<PlanView>> {
    let plan = InSession::new(said.session_id, said.channel).or(of)?.plan(&app, &id).await?;
    let input = Input::Cancel { plan: plan.id.clone(), reason: said.reason };
    let cancelled = decided(app.submit(&plan.session, input, &name)).await?;
    Ok(Json(cancelled.as_ref().into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "choice": "retry" }))]
struct Resuming {
    /// What becomes of the step that the plan stopped at.
    choice: Option<StuckChoice>,
    #[schema(value_type = Option<String>, pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    session_id: Option<ConversationKey>,
    channel: Option<Channel>,
}

/// Go on with a plan
///
/// From the first step not done. Where nobody knows whether a step was done, a person says what becomes of it. The work
/// goes on after the answer.
#[utoipa::path(post, path = "/api/plans/{id}/resume", tag = "plans", params(InSession),
    request_body(content = Option<Resuming>),
    responses((status = 200, description = "It goes on, or ends where it stopped", body = PlanView, example = json!(example())),
        (status = 404, description = "There is no such plan", body = ProblemBody),
        (status = 409, description = "It is in another status, or something has to be said first", body = ProblemBody)))]
async fn resume(
    State(app): State<App>,
    name: RequestName,
    Path(id): Path<PlanId>,
    Query(of): Query<InSession>,
    Body(said): Body<Resuming>,
) -> Answered<Json<PlanView>> {
    let plan = InSession::new(said.session_id, said.channel).or(of)?.plan(&app, &id).await?;
    let input = Input::ResumePlan { plan: plan.id.clone(), choice: said.choice };
    let resumed = decided(app.submit(&plan.session, input, &name)).await?;
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
