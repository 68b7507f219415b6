//! One person in one session, for a program with a user interface of its own.

use planwright_core::actor::Actor;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::LedgerResult;

use crate::agent::Agent;
use crate::session::input::{Approving, BeginWork, Changes, ChatLocation, Input, Request};
use crate::session::outcome::{Answer, PlanCard};

/// A session, and the person who talks in it. Each call waits for its outcome; [`Agent::submit`] also gives the progress on the way.
///
/// A decision is for the plan as the program showed it. If the plan has changed since, the decision is refused
/// (`LedgerError::Refused`) and nothing happens.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    agent: Agent,
    session: SessionIdentity,
    by: Actor,
}

impl SessionHandle {
    /// The session with this name, such as `web:ada-and-her-blog`: a channel, and a key that has at least 8 characters where the
    /// session is new. It begins if it does not exist. `by` is who talks, as the program recognised them.
    pub async fn open(agent: &Agent, session: &str, by: Actor) -> LedgerResult<Self> {
        let session: SessionIdentity = session.parse()?;
        agent.engine().sessions().open(&session, &by).await?;
        Ok(Self { agent: agent.clone(), session, by })
    }

    pub fn identity(&self) -> &SessionIdentity {
        &self.session
    }

    /// Sends what the person typed: a message, or a command such as `/plan status`. A command that is refused says so in its answer.
    pub async fn send(&self, text: &str) -> LedgerResult<Answer> {
        self.submit(Input::typed(text)).await
    }

    /// Approves exactly the version that was shown, and carries it out.
    pub async fn approve(&self, shown: &PlanCard) -> LedgerResult<Answer> {
        let (plan, digest) = (shown.plan_id.clone(), shown.digest);
        self.submit(Input::Approve { plan, digest, approving: Approving::default(), begin: BeginWork::Now }).await
    }

    /// Rejects the plan for good.
    pub async fn reject(&self, shown: &PlanCard, reason: Option<&str>) -> LedgerResult<Answer> {
        self.submit(Input::Reject { plan: shown.plan_id.clone(), reason: reason.map(str::to_owned) }).await
    }

    /// Asks for changes. The agent's next version is in the answer.
    pub async fn revise(&self, shown: &PlanCard, feedback: &str) -> LedgerResult<Answer> {
        let changes = Changes::from(feedback.to_owned());
        self.submit(Input::Revise { plan: shown.plan_id.clone(), changes, begin: BeginWork::Now }).await
    }

    async fn submit(&self, input: Input) -> LedgerResult<Answer> {
        // The program names the session each time, so nothing needs to be kept of where the person is.
        let location =
            ChatLocation::new(TransportChat::of_connection(self.session.conversation.as_str()), self.session.clone());
        let outcome = self.agent.submit(input, Request::new(location, self.by.clone())).outcome().await?;
        Ok(outcome.answer().unwrap_or_else(|| Answer::text(&self.session, "There was nothing to do.")))
    }
}
