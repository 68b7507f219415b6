//! Carrying out an approved plan. The intent is on disk before a step begins and the outcome after it.
//!
//! - `recorded`: exactly the recorded calls, with exactly the recorded arguments, in order
//! - `author`: whose plans the built-in rehearsal carries out
//! - `built`: each step by the specialist it names, in a turn of its own
//! - `document`: a turn of the conversation that works from the text
//! - `left`: what a process that ended, or another one, was carrying out
//! - `standing`: plans that a rule approves
//! - `outcome`: what it came to, counted

mod author;
mod built;
mod document;
mod left;
mod outcome;
mod recorded;
mod standing;

use std::sync::Arc;

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::{Command, Decision, EndedStep, RunCommand, StuckChoice};
use planwright_core::gate::ToolEffect;
use planwright_core::ids::{ExecutionId, PlanId, StepId};
use planwright_core::plan::approval::SkippedStep;
use planwright_core::plan::content::{PlanContent, RecordedCall};
use planwright_core::plan::execution::{StepRun, StepStatus};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::policy::OnFailure;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;

use super::Agent;
use crate::agent::lease::is_over_or_taken;
use crate::ledger::{Committed, Lease, Leasing, LedgerError, LedgerResult};
use crate::session::lease::LeaseGuard;
use crate::session::outcome::Answer;
use crate::session::shutdown::shutting_down;
use crate::session::task::InputContext;
use crate::submitter::SubmitRequest;

pub(super) use outcome::summary;

impl Agent {
    /// Carries the plan out, or continues it from the first step not done, and says what it came to.
    pub(super) async fn carry_out_plan(&self, plan: &PlanId, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let found = self.engine().plans().get(session, plan).await?;
        self.check_author(&found).await?;
        match found.style() {
            PlanStyle::Document => Box::pin(self.work_on_document(plan, context)).await,
            PlanStyle::Collect | PlanStyle::Build => {
                // What was interrupted in the middle of a step may be this very execution, which is resumed below.
                let open = self.open_turn(session).await?;
                if open.is_none_or(|open| open.purpose.plan() != Some(plan)) {
                    Box::pin(self.finish_first(context)).await?;
                }
                let plan = Box::pin(self.execute(context.by(), plan, context)).await?;
                Ok(Answer::words(session, summary(&plan)))
            }
        }
    }

    pub(super) async fn execute(&self, by: &Actor, plan: &PlanId, context: &InputContext) -> LedgerResult<Arc<Plan>> {
        let session = context.session();
        let mut plan = self.engine().plans().get(session, plan).await?;
        // Only a person has an execution begin.
        if plan.status != PlanStatus::Executing && by.kind != ActorKind::Person {
            return Ok(plan);
        }
        self.check_able(&plan)?;
        self.check_author(&plan).await?;
        let (committed, held) = loop {
            let error = match self.take(session, by, &beginning(&plan), context).await {
                Ok(taken) => break taken,
                Err(error) => error,
            };
            if !is_over_or_taken(&error) || context.work.stop.is_cancelled() {
                return Err(error);
            }
            // Somebody else was faster. What they began and left is taken up; what they came to is the answer.
            let now = self.engine().plans().get(session, &plan.id).await?;
            let begun = |plan: &Plan| plan.execution.as_ref().map(|execution| execution.id.clone());
            let moved = (now.status, begun(&now)) != (plan.status, begun(&plan));
            let executing = now.status == PlanStatus::Executing;
            if moved && executing {
                plan = now;
            } else if moved || executing {
                return Ok(now);
            } else {
                return Err(error);
            }
        };
        let plan = named(&committed, &plan.id)?;
        let id = plan.execution.as_ref().map(|execution| execution.id.clone());
        let id = id.ok_or_else(|| LedgerError::Internal(format!("plan {} is not carried out", plan.number)))?;
        self.fence_files(session, &held).await?;
        context.work.carries_out(Some(&plan.id));
        context.work.holds_lease.cancel();
        let mut execution = Execution {
            agent: self,
            actor: Actor::system(session.channel.as_str()),
            session: session.clone(),
            by: by.clone(),
            id,
            plan,
            held: Arc::new(held),
            context,
        };
        Box::pin(execution.work()).await
    }

    /// Whether a step can simply be done again, whatever became of it.
    pub(super) fn may_repeat(&self, plan: &Plan, run: &StepRun) -> bool {
        let call = calls_of(plan).iter().find(|call| call.id == run.step);
        let tool = call.and_then(|call| self.shared.toolbox.get(&call.tool));
        tool.is_some_and(|tool| tool.effect() != ToolEffect::Changes)
    }

    /// A plan whose tools or agents are not here cannot be carried out here; it stays as it is.
    pub(super) fn check_able(&self, plan: &Plan) -> Result<(), Refusal> {
        let left_out = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
        self.check_able_without(plan, left_out)
    }

    /// The same for a plan of which these steps are not done.
    pub(super) fn check_able_without(&self, plan: &Plan, left_out: &[SkippedStep]) -> Result<(), Refusal> {
        let run = |step: &StepId| plan.execution.as_ref().and_then(|execution| execution.run(step));
        let over = |step: &StepId| {
            run(step).is_some_and(|run| matches!(run.status, StepStatus::Completed | StepStatus::Skipped))
        };
        let approved = |step: &StepId| left_out.iter().all(|skip| skip.step != *step) && !over(step);
        match &plan.content {
            PlanContent::Document(_) => Ok(()),
            PlanContent::Collect(collected) => {
                let calls = collected.steps.iter().filter(|call| approved(&call.id));
                let missing = calls.map(|call| &call.tool).find(|tool| self.shared.toolbox.get(tool).is_none());
                missing.map_or(Ok(()), |tool| {
                    let message =
                        format!("Plan {} calls {}, and there is no such tool here.", plan.number, quoted(tool));
                    Err(Refusal::new(RefusalCode::Unavailable, message))
                })
            }
            PlanContent::Build(built) => {
                let agents = &self.engine().policy().agents;
                let mut steps = built.steps.iter().filter(|step| approved(&step.id));
                steps.try_for_each(|step| agents.assignable(&step.agent).map(drop))
            }
        }
    }
}

/// What is written first. Of an execution that goes on nothing is: only the lease is taken.
fn beginning(plan: &Plan) -> Command {
    match plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing) {
        Some(running) => Command::Run(RunCommand::Advance {
            plan: plan.id.clone(),
            execution: running.id.clone(),
            ended: Vec::new(),
            begun: Vec::new(),
        }),
        None => Command::Decide(Decision::Resume { plan: plan.id.clone() }),
    }
}

fn named(committed: &Committed, id: &PlanId) -> LedgerResult<Arc<Plan>> {
    let plan = committed.snapshot.plans.get(id).cloned();
    plan.ok_or_else(|| LedgerError::Internal(format!("plan {id} is not on the snapshot")))
}

fn uncertain(steps: &[StepRun]) -> Option<&StepRun> {
    steps.iter().find(|run| run.status == StepStatus::Uncertain)
}

/// Everything that carries out one plan.
#[derive(Debug)]
struct Execution<'a> {
    agent: &'a Agent,
    actor: Actor,
    session: SessionIdentity,
    /// Who asked for it.
    by: Actor,
    id: ExecutionId,
    /// As of the last thing that was written.
    plan: Arc<Plan>,
    held: Arc<LeaseGuard>,
    context: &'a InputContext,
}

/// Why no further step is begun.
#[derive(Debug)]
enum ExecutionAbort {
    /// A person said stop.
    Stopped,
    /// The plan was cancelled, superseded or taken over elsewhere. Nothing more is written.
    Elsewhere,
    /// The process is to end; the next one goes on.
    Left,
    Ledger(LedgerError),
}

impl From<LedgerError> for ExecutionAbort {
    fn from(error: LedgerError) -> Self {
        if is_over_or_taken(&error) { Self::Elsewhere } else { Self::Ledger(error) }
    }
}

impl Execution<'_> {
    async fn work(&mut self) -> LedgerResult<Arc<Plan>> {
        let outcome = match self.steps().await {
            // A step that nobody knows the end of waits for a person; the execution stays open.
            Ok(()) if uncertain(self.runs()).is_some() => self.pause().await,
            Ok(()) | Err(ExecutionAbort::Stopped) => self.finish().await,
            Err(halt) => Err(halt),
        };
        // The entry that ends or pauses it released the session.
        let paused = self.plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
        if self.plan.status == PlanStatus::Executing && !paused {
            self.agent.release(&self.held).await;
        }
        match outcome {
            Ok(()) => Ok(Arc::clone(&self.plan)),
            Err(ExecutionAbort::Elsewhere | ExecutionAbort::Stopped) => {
                self.agent.engine().plans().get(&self.session, &self.plan.id).await
            }
            Err(ExecutionAbort::Left) => Err(shutting_down()),
            Err(ExecutionAbort::Ledger(error)) => Err(error),
        }
    }

    async fn steps(&mut self) -> Result<(), ExecutionAbort> {
        self.retry_what_may_be().await?;
        match self.plan.style() {
            PlanStyle::Collect => self.recorded_calls().await,
            PlanStyle::Build => self.built_steps().await,
            PlanStyle::Document => Ok(()),
        }
    }

    /// What was left in the middle and may be repeated needs nobody's decision.
    async fn retry_what_may_be(&mut self) -> Result<(), ExecutionAbort> {
        if self.by.kind != ActorKind::Person {
            return Ok(());
        }
        let repeatable = |run: &&StepRun| run.status == StepStatus::Uncertain && self.agent.may_repeat(&self.plan, run);
        let steps: Vec<_> = self.runs().iter().filter(repeatable).map(|run| run.step.clone()).collect();
        for step in steps {
            let choice = StuckChoice::Retry;
            let settle = Command::Decide(Decision::Settle { plan: self.plan.id.clone(), step, choice });
            let by = self.by.clone();
            self.submit(&by, settle).await?;
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<(), ExecutionAbort> {
        let finish = RunCommand::Finish { plan: self.plan.id.clone(), execution: self.id.clone() };
        self.held.stop_renewing();
        self.submit_under(Leasing::LetGo, &self.actor.clone(), Command::Run(finish)).await
    }

    /// A step whose result is unknown waits for a person, and the execution with it.
    async fn pause(&mut self) -> Result<(), ExecutionAbort> {
        let pause = RunCommand::Pause { plan: self.plan.id.clone(), execution: self.id.clone() };
        self.held.stop_renewing();
        self.submit_under(Leasing::LetGo, &self.actor.clone(), Command::Run(pause)).await
    }

    /// Writes outcomes down, and what is begun next.
    async fn advance(&mut self, ended: Vec<EndedStep>, begun: Vec<StepId>) -> Result<(), ExecutionAbort> {
        if ended.is_empty() && begun.is_empty() {
            return Ok(());
        }
        let (plan, execution) = (self.plan.id.clone(), self.id.clone());
        let advance = RunCommand::Advance { plan, execution, ended, begun };
        self.submit(&self.actor.clone(), Command::Run(advance)).await
    }

    async fn submit(&mut self, by: &Actor, command: Command) -> Result<(), ExecutionAbort> {
        self.submit_under(Leasing::Held, by, command).await
    }

    async fn submit_under(
        &mut self,
        leasing: fn(Lease) -> Leasing,
        by: &Actor,
        command: Command,
    ) -> Result<(), ExecutionAbort> {
        let engine = self.agent.engine();
        let (request, leasing) = (engine.submitter().next_request(), leasing(self.held.lease().clone()));
        let asking = SubmitRequest { session: &self.session, by, id: request, leasing, turn: None };
        let committed = engine.submitter().submit_as(asking, command).await?;
        self.plan = named(&committed, &self.plan.id)?;
        Ok(())
    }

    /// Whether a step failed after which nothing more is begun, also when the process that saw it fail is gone.
    fn ends_at_a_failure(&self) -> bool {
        let failed = self.runs().iter().any(|run| run.status == StepStatus::Failed);
        failed && self.agent.engine().policy().on_failure == OnFailure::Stop
    }

    fn runs(&self) -> &[StepRun] {
        self.plan.execution.as_ref().map(|execution| execution.steps.as_slice()).unwrap_or_default()
    }

    /// Why nothing more is begun, if that is so.
    fn is_to_end(&self) -> Option<ExecutionAbort> {
        if self.context.work.stop.is_cancelled() {
            return Some(ExecutionAbort::Stopped);
        }
        self.agent.shared.shutdown.is_requested().then_some(ExecutionAbort::Left)
    }

    /// Whether the session is known to be leased to this process. Nothing is called without that.
    async fn check_lease(&self) -> Result<(), ExecutionAbort> {
        let is_ours = self.held.confirm(self.agent.engine().ledger().as_ref()).await?;
        if is_ours { Ok(()) } else { Err(ExecutionAbort::Elsewhere) }
    }

    /// Ready when the work is to stop, and why.
    async fn interrupted(&self) -> ExecutionAbort {
        tokio::select! {
            biased;
            () = self.context.work.stop.cancelled() => ExecutionAbort::Stopped,
            () = self.held.lost() => ExecutionAbort::Elsewhere,
            () = self.agent.shared.shutdown.immediate() => ExecutionAbort::Left,
        }
    }
}

fn calls_of(plan: &Plan) -> &[RecordedCall] {
    match &plan.content {
        PlanContent::Collect(collected) => &collected.steps,
        PlanContent::Document(_) | PlanContent::Build(_) => &[],
    }
}
