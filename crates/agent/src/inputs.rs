//! The dispatch of inputs. The session's task calls it in the order of arrival.

use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::ids::PlanId;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::RefusalCode;
use planwright_core::slash::{AutoSubcommand, PlanCommand, SlashCommand};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::LedgerResult;

use super::agent_context::AgentContext;
use super::commands::{self, Commands, Leave, REVISION, Resuming, refusal_as_answer};
use super::execution::Executions;
use super::leases::Leases;
use super::runs::Runs;
use super::turn::Turns;
use crate::session::input::{BeginWork, Input};
use crate::session::outcome::{Answer, Outcome};
use crate::session::work::{InputContext, InputHandler, Interruption, Running};

/// Gives each input to the service that carries it out.
#[derive(Debug)]
pub(super) struct InputDispatcher {
    agent: Arc<AgentContext>,
    turns: Turns,
    executions: Executions,
    auto_runs: Runs,
    commands: Commands,
}

#[async_trait]
impl InputHandler for InputDispatcher {
    async fn handle(&self, input: Input, context: &InputContext) -> LedgerResult<Outcome> {
        let is_tick = matches!(input, Input::Tick { .. });
        let outcome = Box::pin(self.carry_out(input, context)).await;
        // A run that waits for a person may continue after what the person did.
        if !is_tick {
            self.agent.runs.wake(context.session());
        }
        outcome
    }

    async fn interrupt(&self, input: Input, context: &InputContext, running: &Running) -> LedgerResult<Interruption> {
        let session = context.session();
        let waits = |input| Ok(Interruption::Continues(Box::new(input), context.request.id.clone()));
        match input {
            Input::Stop => Ok(Interruption::Finished(self.stop_running(context, running).await?)),
            Input::StopHere => {
                running.stop().await;
                Ok(finished(Answer::text(session, "Stopped.")))
            }
            Input::StopRuns { run } => Ok(finished(self.commands.auto.stop(run, context, running).await?)),
            Input::Command(SlashCommand::Auto(AutoSubcommand::Off { run })) => {
                let outcome = self.commands.auto.off(run.as_deref(), context, running).await;
                refusal_as_answer(session, outcome).map(finished)
            }
            Input::Command(SlashCommand::Stop) => Ok(finished(self.commands.stop(context, running).await?)),
            Input::Command(SlashCommand::Reset) => {
                let outcome = refusal_as_answer(session, self.commands.reset(context, running).await);
                outcome.map(finished)
            }
            Input::Delete => {
                self.executions.stop_session(session, context.by(), running).await?;
                waits(Input::Delete)
            }
            Input::Cancel { plan, reason } => match self.runs(&plan, context, running).await {
                true => Ok(finished(self.commands.decisions.cancel(&plan, reason, context, running).await?)),
                false => waits(Input::Cancel { plan, reason }),
            },
            Input::Revise { plan, changes, begin } => match (self.runs(&plan, context, running).await, begin) {
                (true, BeginWork::Now) => {
                    let message = self.commands.decisions.ask_for_changes(&plan, changes, context, running).await?;
                    let message = Box::new(Input::Message(message));
                    Ok(Interruption::Continues(message, context.request.part(REVISION)))
                }
                (true, BeginWork::Later) => {
                    Ok(finished(self.commands.decisions.note_changes(&plan, changes, context, running).await?))
                }
                (false, _) => waits(Input::Revise { plan, changes, begin }),
            },
            Input::Command(SlashCommand::Plan(command)) => {
                match self.interrupt_plan(&command, context, running).await {
                    Ok(Some(interruption)) => Ok(interruption),
                    Ok(None) => waits(Input::Command(SlashCommand::Plan(command))),
                    Err(error) => refusal_as_answer(session, Err(error)).map(finished),
                }
            }
            input @ (Input::Message(_)
            | Input::Command(_)
            | Input::Mistake(_)
            | Input::Approve { .. }
            | Input::Reject { .. }
            | Input::Answer { .. }
            | Input::ResumePlan { .. }
            | Input::Undo { .. }
            | Input::UndoLastTurn
            | Input::WriteDocument { .. }
            | Input::ResumeTurn
            | Input::ResumeExecution
            | Input::Tick { .. }
            | Input::FireSchedules
            | Input::ResumeRun { .. }
            | Input::StartRun { .. }) => waits(input),
        }
    }
}

impl InputDispatcher {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        let leases = Leases::new(agent);
        let turns = Turns::new(agent, leases.clone());
        let executions = Executions::new(agent, leases.clone(), turns.clone());
        let auto_runs = Runs::new(agent, turns.clone(), executions.clone());
        let commands = Commands::new(agent, leases, turns.clone(), executions.clone(), auto_runs.clone());
        Self { agent: Arc::clone(agent), turns, executions, auto_runs, commands }
    }

    async fn carry_out(&self, input: Input, context: &InputContext) -> LedgerResult<Outcome> {
        let snapshot = self.agent.engine().submitter().read_project(context.session()).await?;
        if context.request.needs_session {
            snapshot.opened()?;
        }
        self.agent.toolbox.refresh().await;
        self.carry_out_in(&snapshot, input, context).await
    }

    /// `snapshot` is the session before the input.
    async fn carry_out_in(&self, snapshot: &Snapshot, input: Input, context: &InputContext) -> LedgerResult<Outcome> {
        let session = context.session();
        Ok(match input {
            Input::Message(text) => {
                if let Some(answer) = Box::pin(self.commands.asks.answer_typed(&text, snapshot, context)).await? {
                    return Ok(answer.into());
                }
                let request = context.engine(self.agent.engine()).submitter().next_request();
                let outcome = Box::pin(self.turns.answer(snapshot, request, &text, context, &self.executions)).await?;
                Answer::from(Box::pin(self.executions.approve_by_rule(outcome, context)).await?).into()
            }
            Input::Command(command) => Box::pin(self.commands.run(command, context)).await?.into(),
            Input::Mistake(mistake) => {
                Answer::refusal(session, RefusalCode::InvalidArgument, mistake.to_string()).into()
            }
            Input::Approve { plan, digest, approving, begin } => {
                let found = self.plan_of(snapshot, &plan).await?;
                Box::pin(self.commands.decisions.approve(found, digest, approving, begin, context)).await?.into()
            }
            Input::Reject { plan, reason } => self.commands.decisions.reject(&plan, reason, context).await?.into(),
            Input::Revise { plan, changes, begin } => {
                Box::pin(self.commands.decisions.revise(&plan, changes, begin, context)).await?.into()
            }
            Input::Cancel { plan, reason } => {
                self.commands.decisions.cancel(&plan, reason, context, &Running::NOTHING).await?.into()
            }
            Input::Answer { ask, digest, answer } => {
                Box::pin(self.commands.asks.answer(&ask, digest, answer, context)).await?.into()
            }
            Input::ResumePlan { plan, choice, worker, after_step } => {
                let resuming = Resuming { choice, worker, after_step };
                let found = self.plan_of(snapshot, &plan).await?;
                Box::pin(self.commands.decisions.resume_or_settle(found, resuming, context)).await?.into()
            }
            Input::Undo { plan, step } => {
                let plan = self.agent.engine().plans().get(session, &plan).await?;
                self.commands.workspace.undo(&plan, step, context).await?.into()
            }
            Input::UndoLastTurn => self.commands.workspace.undo_last_turn(context).await?.into(),
            Input::WriteDocument { which, base_version, content } => {
                let writing = commands::write_document(self.agent.engine(), which, base_version, content, context);
                Box::pin(writing).await?.into()
            }
            Input::ResumeTurn => Box::pin(self.turns.resume_turn(context)).await?.map(Answer::from).into(),
            Input::ResumeExecution => Box::pin(self.executions.resume(context)).await?.into(),
            Input::Tick { run } => return Box::pin(self.auto_runs.tick(&run, context)).await,
            Input::FireSchedules => return self.auto_runs.fire_schedules(context).await,
            Input::StopRuns { run } => self.commands.auto.stop(run, context, &Running::NOTHING).await?.into(),
            Input::ResumeRun { run } => self.commands.auto.resume(&run, context).await?.into(),
            Input::StartRun { target } => self.commands.auto.start(target, context).await?.into(),
            Input::Stop | Input::StopHere => self.stop_running(context, &Running::NOTHING).await?,
            Input::Delete => Box::pin(self.commands.delete_session(context)).await?.into(),
        })
    }

    /// A plan of the session, from the snapshot if it is there.
    async fn plan_of(&self, snapshot: &Snapshot, id: &PlanId) -> LedgerResult<Arc<Plan>> {
        match snapshot.plans.get(id) {
            Some(found) => Ok(Arc::clone(found)),
            None => self.agent.engine().plans().get(&snapshot.identity, id).await,
        }
    }

    /// `None` if the command does not concern the running work.
    async fn interrupt_plan(
        &self,
        command: &PlanCommand,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Option<Interruption>> {
        let session = context.session();
        match command {
            PlanCommand::Cancel { plan, reason } => {
                let Some(plan) = self.running_plan(plan.as_ref(), context, running).await else { return Ok(None) };
                let cancelled = self.commands.decisions.cancel(&plan, reason.clone(), context, running).await?;
                Ok(Some(finished(cancelled)))
            }
            PlanCommand::Revise { plan, feedback } => {
                let Some(plan) = self.running_plan(plan.as_ref(), context, running).await else { return Ok(None) };
                let changes = feedback.clone().into();
                let message = self.commands.decisions.ask_for_changes(&plan, changes, context, running).await?;
                let message = Box::new(Input::Message(message));
                Ok(Some(Interruption::Continues(message, context.request.part(REVISION))))
            }
            PlanCommand::Done => {
                let active = self.agent.engine().sessions().get(session).await?.plan_mode.active_plan;
                Ok(match active {
                    Some(plan) if self.runs(&plan, context, running).await => {
                        let leaving = self.commands.plans.leave_plan_mode(Leave::Done, context, running);
                        Some(finished(leaving.await?))
                    }
                    Some(_) | None => None,
                })
            }
            PlanCommand::On { .. }
            | PlanCommand::Off
            | PlanCommand::Status
            | PlanCommand::Show { .. }
            | PlanCommand::Diff(_)
            | PlanCommand::Export { .. }
            | PlanCommand::About(_)
            | PlanCommand::Files(_)
            | PlanCommand::Approve { .. }
            | PlanCommand::Reject { .. }
            | PlanCommand::Resume { .. } => Ok(None),
        }
    }

    /// The plan that a person names, if it is being carried out. One that does not exist now may exist when the command's
    /// turn comes.
    async fn running_plan(
        &self,
        reference: Option<&PlanReference>,
        context: &InputContext,
        running: &Running,
    ) -> Option<PlanId> {
        let plan = self.agent.engine().plans().find(context.session(), reference).await.ok()?;
        self.runs(&plan.id, context, running).await.then(|| plan.id.clone())
    }

    async fn stop_running(&self, context: &InputContext, running: &Running) -> LedgerResult<Outcome> {
        let session = context.session();
        let stopped = self.executions.stop_once(context, running).await?;
        Ok(stopped.then(|| Answer::text(session, "Stopped.")).into())
    }

    /// Whether a plan is being carried out, here or in another process.
    async fn runs(&self, plan: &PlanId, context: &InputContext, running: &Running) -> bool {
        if running.carries_out(plan) {
            return true;
        }
        let found = self.agent.engine().plans().get(context.session(), plan).await;
        found.is_ok_and(|plan| plan.status == PlanStatus::Executing)
    }
}

fn finished(answer: Answer) -> Interruption {
    Interruption::Finished(answer.into())
}
