//! Makes the recorded calls of an approved plan or round, as far as this program makes them.

use planwright_core::actor::Actor;
use planwright_core::command::{AfterApproval, Command, ExecutionCommand};
use planwright_core::ids::StepId;
use planwright_core::plan::content::CallRunner;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::{Channel, SessionIdentity, TransportChat};
use planwright_engine::ledger::{LedgerError, LedgerResult};

use super::Gateway;
use crate::execution::{READ_ONLY_RULE, only_reads};
use crate::session::input::{Approving, ChatLocation, Input, Request};

impl Gateway {
    /// Makes the recorded calls of the active plan and of its round once they are approved. Another process that does so at
    /// the same time has the session's lease, and each call is made once. Returns whether there was a call to make: then the
    /// caller tries again later, because that other process may have ended in the middle.
    pub async fn carry_out(&self, session: &SessionIdentity) -> LedgerResult<bool> {
        let snapshot = self.agent.engine().sessions().snapshot(session).await?;
        let mut made = false;
        for plan in snapshot.active().into_iter().chain(snapshot.round()) {
            if plan.style() == PlanStyle::Collect {
                made |= self.carry_out_plan(session, plan).await?;
            }
        }
        Ok(made)
    }

    async fn carry_out_plan(&self, session: &SessionIdentity, plan: &Plan) -> LedgerResult<bool> {
        let engine = self.agent.engine();
        // A call that only reads is in a round because a rule of the person asks about it.
        if plan.status == PlanStatus::Ready && plan.round.is_none() && only_reads(&self.agent.context, plan) {
            return self.approve_by_rule(session, plan).await;
        }
        let Some(next) = self.next_call(plan) else { return Ok(false) };
        if engine.history().external_author(plan).await?.is_none() {
            return Ok(false);
        }
        let by = Actor::system(Channel::Mcp.as_str());
        if plan.status == PlanStatus::Approved {
            tracing::debug!(session_identity = %session, step = %next, "the calls of an approved plan begin");
            let start = Command::Execution(ExecutionCommand::Start { plan: plan.id.clone() });
            match engine.submit(session, &by, start).await {
                Ok(_) => {}
                // Another process was faster, or the approval does not permit it any more.
                Err(LedgerError::Refused(refusal)) => {
                    tracing::debug!(%refusal, "the calls of an approved plan do not begin here");
                }
                Err(error) => return Err(error),
            }
        }
        let place = ChatLocation::new(TransportChat(format!("mcp:{session}")), session.clone());
        let outcome = self.agent.submit(Input::ResumeExecution, Request::new(place, by)).outcome().await;
        outcome.map(|_| true)
    }

    /// A rule of the settings approves plans whose every call only reads. Returns whether it did.
    async fn approve_by_rule(&self, session: &SessionIdentity, plan: &Plan) -> LedgerResult<bool> {
        if self.agent.engine().history().external_author(plan).await?.is_none() {
            return Ok(false);
        }
        let plans = self.agent.engine().plans();
        let rule = Actor::policy(READ_ONLY_RULE, session.channel.as_str());
        let (digest, approving) = (plan.digest(), Approving::default());
        match plans.approve_with(session, &rule, &plan.id, digest, approving, AfterApproval::Wait).await {
            Ok(_) => Ok(true),
            // A person was faster, the plan changed, or the policy asks for more.
            Err(LedgerError::Refused(refusal)) => {
                tracing::debug!(%refusal, "the rule does not approve the plan");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The next call of a plan, if it is one that this program makes and has the tool for.
    fn next_call(&self, plan: &Plan) -> Option<StepId> {
        let (_, next) = plan.next_recorded_call()?;
        (next.runner == CallRunner::Planwright && self.agent.context.toolbox.get(&next.tool).is_some())
            .then(|| next.id.clone())
    }
}
