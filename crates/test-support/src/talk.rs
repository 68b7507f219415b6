//! Talking to an agent in tests: each call submits one input and waits for its outcome.

use planwright_agent::Agent;
use planwright_agent::session::input::{Approving, BeginWork, ChatLocation, Input, Request, Worker};
use planwright_agent::session::outcome::{Answer, Outcome, TurnOutcome};
use planwright_agent::session::progress::{Progress, ProgressStream, ProgressUpdate};
use planwright_core::actor::Actor;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::plan::Digest;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::LedgerResult;
use tokio::sync::mpsc;

/// Where the progress of a call goes.
#[derive(Debug, Clone, Default)]
pub struct Watcher {
    to: Option<mpsc::UnboundedSender<Progress>>,
}

impl Watcher {
    pub fn none() -> Self {
        Self::default()
    }

    pub fn new() -> (Self, mpsc::UnboundedReceiver<Progress>) {
        let (to, progress) = mpsc::unbounded_channel();
        (Self { to: Some(to) }, progress)
    }

    async fn outcome(&self, mut stream: ProgressStream) -> LedgerResult<Outcome> {
        loop {
            match stream.next().await {
                ProgressUpdate::Progress(progress) => self.tell(progress),
                ProgressUpdate::Outcome(outcome) => return outcome,
            }
        }
    }

    fn tell(&self, progress: Progress) {
        if let Some(to) = &self.to {
            let _ = to.send(progress);
        }
    }
}

pub trait Talk {
    fn submit_and_wait(
        &self,
        input: Input,
        request: Request,
        watcher: &Watcher,
    ) -> impl Future<Output = LedgerResult<Outcome>> + Send;

    fn send(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        text: &str,
        watcher: &Watcher,
    ) -> impl Future<Output = LedgerResult<TurnOutcome>> + Send
    where
        Self: Sync,
    {
        self.send_as(None, session, by, text, watcher)
    }

    /// Sends a message as a request with an id.
    fn send_as(
        &self,
        id: Option<RequestId>,
        session: &SessionIdentity,
        by: &Actor,
        text: &str,
        watcher: &Watcher,
    ) -> impl Future<Output = LedgerResult<TurnOutcome>> + Send
    where
        Self: Sync,
    {
        async move {
            let request = in_session(session, by).named(id);
            let outcome = self.submit_and_wait(Input::Message(text.to_owned()), request, watcher).await?;
            Ok(turn(outcome.answer().expect("a message is answered")))
        }
    }

    fn type_text(
        &self,
        place: &ChatLocation,
        by: &Actor,
        text: &str,
        watcher: &Watcher,
    ) -> impl Future<Output = LedgerResult<Answer>> + Send
    where
        Self: Sync,
    {
        async move {
            let request = Request::new(place.clone(), by.clone());
            let outcome = self.submit_and_wait(Input::typed(text), request, watcher).await?;
            Ok(outcome.answer().expect("what is typed is answered"))
        }
    }

    fn resume(
        &self,
        session: &SessionIdentity,
        watcher: &Watcher,
    ) -> impl Future<Output = LedgerResult<Option<TurnOutcome>>> + Send
    where
        Self: Sync,
    {
        async move {
            let by = Actor::system(session.channel.as_str());
            let outcome = self.submit_and_wait(Input::ResumeTurn, in_session(session, &by), watcher).await?;
            Ok(outcome.answer().map(turn))
        }
    }

    fn resume_plan(
        &self,
        place: &ChatLocation,
        by: &Actor,
        watcher: &Watcher,
    ) -> impl Future<Output = LedgerResult<Option<Answer>>> + Send
    where
        Self: Sync,
    {
        async move {
            let request = Request::new(place.clone(), by.clone());
            Ok(self.submit_and_wait(Input::ResumeExecution, request, watcher).await?.answer())
        }
    }

    fn carry_out(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        watcher: &Watcher,
    ) -> impl Future<Output = LedgerResult<Answer>> + Send
    where
        Self: Sync,
    {
        async move {
            let input =
                Input::ResumePlan { plan: plan.clone(), choice: None, worker: Worker::ThisProcess, after_step: None };
            let outcome = self.submit_and_wait(input, in_session(session, by), watcher).await?;
            Ok(outcome.answer().expect("a plan that is carried out has an outcome"))
        }
    }

    fn approve(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        digest: Digest,
        approving: Approving,
        watcher: &Watcher,
    ) -> impl Future<Output = LedgerResult<Answer>> + Send
    where
        Self: Sync,
    {
        async move {
            let input = Input::Approve { plan: plan.clone(), digest, approving, begin: BeginWork::Now };
            let outcome = self.submit_and_wait(input, in_session(session, by), watcher).await?;
            Ok(outcome.answer().expect("an approval is answered"))
        }
    }

    /// Says whether there was something to stop.
    fn stop(&self, session: &SessionIdentity, by: &Actor) -> impl Future<Output = LedgerResult<bool>> + Send
    where
        Self: Sync,
    {
        async move {
            let outcome = self.submit_and_wait(Input::Stop, in_session(session, by), &Watcher::none()).await?;
            Ok(outcome != Outcome::NothingToDo)
        }
    }

    fn stop_here(&self, session: &SessionIdentity) -> impl Future<Output = ()> + Send
    where
        Self: Sync,
    {
        async move {
            let by = Actor::system(session.channel.as_str());
            let stopped = self.submit_and_wait(Input::StopHere, in_session(session, &by), &Watcher::none()).await;
            assert!(stopped.is_ok(), "{stopped:?}");
        }
    }

    fn delete(&self, session: &SessionIdentity, by: &Actor) -> impl Future<Output = LedgerResult<()>> + Send
    where
        Self: Sync,
    {
        async move {
            let deleted = self.submit_and_wait(Input::Delete, in_session(session, by), &Watcher::none()).await;
            deleted.map(drop)
        }
    }
}

impl Talk for Agent {
    async fn submit_and_wait(&self, input: Input, request: Request, watcher: &Watcher) -> LedgerResult<Outcome> {
        watcher.outcome(self.submit(input, request)).await
    }
}

fn in_session(session: &SessionIdentity, by: &Actor) -> Request {
    Request::new(ChatLocation::new(TransportChat(format!("test:{session}")), session.clone()), by.clone())
}

fn turn(answer: Answer) -> TurnOutcome {
    let Answer { session, end, ask, reply, plan, planner, turn, .. } = answer;
    let stats = turn.expect("there was a turn");
    TurnOutcome {
        session,
        turn: stats.turn,
        end,
        ask,
        reply,
        plan,
        planner,
        usage: stats.usage,
        model_calls: stats.model_calls,
        tool_calls: stats.tool_calls,
    }
}
