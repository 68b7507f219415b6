//! What a process that ended, or another one, was carrying out: going on with it, and stopping it.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, RunCommand, TurnCommand};
use planwright_core::ids::{ExecutionId, PlanId};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::turn::OpenTurn;

use super::{document, summary, uncertain};
use crate::agent::Agent;
use crate::agent::lease::is_over_or_taken;
use crate::ledger::{Leasing, LedgerError, LedgerResult};
use crate::session::outcome::Answer;
use crate::session::progress::Progress;
use crate::session::task::InputContext;
use crate::submitter::SubmitRequest;

impl Agent {
    /// Goes on with what a process that ended was carrying out in the session, if there is such a plan.
    pub(in crate::agent) async fn resume_execution(&self, context: &InputContext) -> LedgerResult<Option<Answer>> {
        let session = context.session();
        let active = self.engine().sessions().get(session).await?.plan_mode.active_plan;
        for plan in self.engine().plans().executing(session).await? {
            let owed = match plan.style() {
                PlanStyle::Document => active.as_ref() == Some(&plan.id) && document::is_to_begin(&plan),
                PlanStyle::Collect | PlanStyle::Build => {
                    let waits = plan.execution.as_ref().is_some_and(|execution| uncertain(&execution.steps).is_some());
                    let paused = plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
                    !waits && !paused && self.check_able(&plan).is_ok()
                }
            };
            let ours = owed && self.engine().history().external_author(&plan).await?.is_none();
            if ours && self.check_author(&plan).await.is_ok() {
                return Ok(Some(Box::pin(self.carry_out_plan(&plan.id, context)).await?));
            }
        }
        Ok(None)
    }

    /// Ends executions that this process does not carry out. What they are in the middle of is uncertain then.
    pub(in crate::agent) async fn stop_executions(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<bool> {
        let mut stopped = false;
        for plan in self.engine().plans().executing(session).await? {
            let Some(running) = &plan.execution else { continue };
            let (id, execution) = (plan.id.clone(), running.id.clone());
            let command = match plan.style() {
                // Its text is worked on in the conversation, and a later message may continue it.
                PlanStyle::Document => RunCommand::Pause { plan: id, execution },
                PlanStyle::Collect | PlanStyle::Build => RunCommand::Finish { plan: id, execution },
            };
            match self.engine().submit(session, by, Command::Run(command)).await {
                Ok(committed) => stopped |= !committed.events.is_empty(),
                Err(error) if is_over_or_taken(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(stopped)
    }

    /// An execution that was interrupted in the middle of a step goes on before anything else happens in the session. If
    /// it cannot go on here, the turn of its step ends, so that it blocks nobody.
    pub(in crate::agent) async fn finish_execution(
        &self,
        open: &OpenTurn,
        (plan, execution): (&PlanId, &ExecutionId),
        context: &InputContext,
    ) -> LedgerResult<()> {
        let session = context.session();
        let by = Actor::system(session.channel.as_str());
        let found = self.engine().plans().get(session, plan).await?;
        let running = found.execution.as_ref().filter(|_| found.status == PlanStatus::Executing);
        let able = match self.check_author(&found).await {
            Err(LedgerError::Refused(refusal)) => Err(refusal),
            Err(error) => return Err(error),
            Ok(()) => self.check_able(&found),
        };
        if running.is_some_and(|running| running.id == *execution) && able.is_ok() {
            let plan = Box::pin(self.execute(&by, plan, context)).await?;
            context.progress.send(Progress::Said(summary(&plan)));
            return Ok(());
        }
        let resume = Command::Turn(TurnCommand::Resume { turn: open.id.clone() });
        let held = match self.take(session, &by, &resume, context).await {
            Ok((_, held)) => held,
            // Whoever held the session ended it.
            Err(error) if is_over_or_taken(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        let (request, leasing) = (self.engine().submitter().next_request(), Leasing::LetGo(held.lease().clone()));
        held.stop_renewing();
        let asking = SubmitRequest { session, by: &by, id: request, leasing, turn: None };
        self.engine().submitter().submit_as(asking, Command::Turn(TurnCommand::Stop)).await?;
        if let Err(unable) = able {
            let words = format!("Plan {} cannot go on here: {}", found.number, unable.message);
            context.progress.send(Progress::Said(words));
        }
        Ok(())
    }
}
