//! Inputs of sessions, from every endpoint: submitted to the agent, and their outcome as clients get it.

use planwright_agent::session::input::{ChatLocation, Input, Request};
use planwright_agent::session::outcome::{Answer, Outcome};
use planwright_agent::session::progress::{Decided, DecidedPlan, Progress, ProgressStream, ProgressUpdate};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use serde_json::Value;
use tokio::sync::mpsc;

use super::app::App;
use super::idempotency::RequestContext;
use super::problem::{ApiProblem, ApiResult};
use crate::wire::{AnswerView, PlanCardView, ProgressView};

/// How many progress messages a client that waits for the answer may be behind before it misses some.
pub(crate) const PROGRESS_BACKLOG: usize = 1024;

/// Where the progress of a request goes, and the session it happens in.
pub(crate) type ProgressTap = mpsc::Sender<(SessionIdentity, Progress)>;

impl App {
    /// Submits an input. When this returns, the input has its place among everything that is submitted to the session.
    pub(crate) fn submit(&self, session: &SessionIdentity, input: Input, name: &RequestContext) -> ProgressStream {
        self.agent().submit(input, self.request(session, name))
    }

    /// Submits an input to a session that has to exist.
    pub(crate) fn submit_to_existing(
        &self,
        session: &SessionIdentity,
        input: Input,
        name: &RequestContext,
    ) -> ProgressStream {
        self.agent().submit(input, self.request(session, name).in_existing_session())
    }

    fn request(&self, session: &SessionIdentity, name: &RequestContext) -> Request {
        // The session knows which version of a plan was shown in it last.
        let place = ChatLocation::new(name.client.transport(), session.clone());
        Request::new(place, name.person(self)).named(name.id.clone())
    }

    /// Submits what a person typed: a message, or a command. A session has to be opened before.
    pub(crate) async fn submit_text(
        &self,
        session: &SessionIdentity,
        text: &str,
        name: &RequestContext,
    ) -> ApiResult<ProgressStream> {
        self.engine().sessions().get(session).await?;
        Ok(self.submit(session, Input::typed(text), name))
    }
}

/// Waits for the answer. Progress goes to `tap` as far as its reader keeps up.
pub(crate) async fn answer(
    mut stream: ProgressStream,
    session: &SessionIdentity,
    tap: Option<&ProgressTap>,
) -> ApiResult<Value> {
    loop {
        match stream.next().await {
            ProgressUpdate::Progress(progress) => {
                if let Some(tap) = tap {
                    let _ = tap.try_send((session.clone(), progress));
                }
            }
            ProgressUpdate::Outcome(outcome) => return outcome_view(outcome?),
        }
    }
}

/// Waits until the decision about a plan is on disk. The work that it leads to continues afterwards.
pub(crate) async fn decided(stream: ProgressStream) -> ApiResult<DecidedPlan> {
    match decision(stream).await? {
        Decided::Plan(decided) => Ok(decided),
        Decided::Ask(_) => Err(undecided()),
    }
}

/// Waits until an answer to an agent is on disk, and gives what a person reads about it.
pub(crate) async fn answered(stream: ProgressStream) -> ApiResult<String> {
    match decision(stream).await? {
        Decided::Ask(message) => Ok(message),
        Decided::Plan(_) => Err(undecided()),
    }
}

async fn decision(stream: ProgressStream) -> ApiResult<Decided> {
    match stream.decision().await? {
        Ok(decided) => Ok(decided),
        Err(outcome) => unless_refused(outcome).and_then(|_| Err(undecided())),
    }
}

fn undecided() -> ApiProblem {
    Refusal::new(RefusalCode::Internal, "The input ended without a decision.").into()
}

/// Progress as every endpoint sends it.
pub(crate) fn progress_view(progress: &Progress) -> Option<Value> {
    serde_json::to_value(ProgressView::of(progress)).ok()
}

/// Waits for the answer. A refusal is a problem.
pub(crate) async fn accepted(stream: ProgressStream) -> ApiResult<Answer> {
    unless_refused(stream.outcome().await?)
}

fn outcome_view(outcome: Outcome) -> ApiResult<Value> {
    Ok(serde_json::to_value(AnswerView::from(unless_refused(outcome)?)).unwrap_or_default())
}

fn unless_refused(outcome: Outcome) -> ApiResult<Answer> {
    let answer = match outcome {
        Outcome::Answer(answer) => *answer,
        Outcome::NothingToDo => return Err(Refusal::not_found("There is nothing to do.").into()),
    };
    match answer.refusal {
        None => Ok(answer),
        Some(code) => Err(refused(code, answer)),
    }
}

fn refused(code: RefusalCode, answer: Answer) -> ApiProblem {
    let problem = ApiProblem::new(Refusal::new(code, answer.reply));
    match answer.plan.and_then(|plan| serde_json::to_value(PlanCardView::from(plan)).ok()) {
        Some(plan) => problem.with("plan", plan),
        None => problem,
    }
}
