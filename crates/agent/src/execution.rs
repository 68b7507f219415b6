//! Executions: approved plans, carried out. The intent of a step is on disk before the step begins, its outcome after it.
//!
//! - `runner`: one execution under way
//! - `collect`: exactly the recorded calls, with exactly the recorded arguments, in order
//! - `build`: each step by the specialist it names, in a turn of its own
//! - `document`: a turn of the conversation that works from the text
//! - `progress`: the progress of steps
//! - `author`: which plans the built-in rehearsal carries out
//! - `interrupted`: executions that another process left or still runs
//! - `standing_approval`: plans that a rule approves
//! - `summary`: the result, counted

mod author;
mod build;
mod collect;
mod document;
mod interrupted;
mod progress;
mod runner;
mod standing_approval;
mod summary;

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::choices::WaitingAsk;
use planwright_core::command::{Command, Decision, ExecutionCommand};
use planwright_core::gate::ToolEffect;
use planwright_core::ids::{ExecutionId, PlanId, RequestId, StepId};
use planwright_core::plan::approval::SkippedStep;
use planwright_core::plan::content::{CallRunner, PlanContent, RecordedCall};
use planwright_core::plan::execution::{StepState, StepStatus};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::OpenTurn;
use planwright_core::visible::quoted;
use planwright_engine::ledger::{Committed, LedgerError, LedgerResult};
use planwright_engine::lookup::named;
use tracing::Instrument as _;

use super::agent_context::AgentContext;
use super::leases::{Leases, Taken, is_over_or_taken};
use super::turn::{InterruptedSteps, Turns, approved};
use crate::session::lease::LeaseGuard;
use crate::session::outcome::{Answer, TurnOutcome};
use crate::session::work::{InputContext, Running};

use document::DocumentWork;
use runner::{ExecutionRunner, ExecutionState};

pub(super) use standing_approval::{READ_ONLY_RULE, only_reads};
pub(super) use summary::summary;

/// Whether this process's model may continue a turn of the session.
pub(super) async fn may_continue(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<bool> {
    author::may_continue(agent, session).await
}

/// Refuses a message that the rehearsal would answer in a session of another model.
pub(super) async fn check_message(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<()> {
    author::check_message(agent, session).await
}

/// Carries out plans, resumes and stops executions.
#[derive(Debug, Clone)]
pub(super) struct Executions {
    agent: Arc<AgentContext>,
    leases: Leases,
    turns: Turns,
}

impl Executions {
    pub(super) fn new(agent: &Arc<AgentContext>, leases: Leases, turns: Turns) -> Self {
        Self { agent: Arc::clone(agent), leases, turns }
    }

    /// Carries the plan out, or continues it from the first step that is not done.
    pub(super) async fn carry_out(&self, plan: &PlanId, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let snapshot = self.agent.engine().ledger().snapshot(session, Some(plan)).await?;
        let mut found = named(&snapshot, plan)?;
        self.check_author(&found).await?;
        self.check_approved(&snapshot, &found).await?;
        if found.style() == PlanStyle::Document {
            return Box::pin(DocumentWork::new(self, plan, context).run()).await;
        }
        // An interrupted turn may belong to this execution, which is resumed below.
        if snapshot.open_turn().is_some_and(|open| open.purpose.plan() != Some(plan)) {
            Box::pin(self.turns.finish_first(context, self)).await?;
            found = self.agent.engine().plans().get(session, plan).await?;
        }
        let plan = Box::pin(self.execute(context.by(), found, context)).await?;
        self.answer(&plan, context).await
    }

    /// Resumes a recorded or built plan with the commit that takes the lease, and carries it out. `None` if the lease cannot
    /// be taken at once or the plan cannot be resumed; nothing is written then.
    pub(super) async fn resume_and_carry_out(
        &self,
        plan: &Plan,
        after_step: Option<usize>,
        request: RequestId,
        context: &InputContext,
    ) -> LedgerResult<Option<Answer>> {
        let resume = Command::Decide(Decision::Resume { plan: plan.id.clone(), after_step });
        let taken = match self.leases.take_at_once(request, context.by(), &resume, context).await {
            Ok(taken) => taken,
            Err(LedgerError::Refused(_)) => None,
            Err(error) => return Err(error),
        };
        let Some(Taken::New(committed, held)) = taken else { return Ok(None) };
        let plan = named(&committed.snapshot, &plan.id)?;
        context.progress.decide(&plan, None);
        // The request was sent before, and the execution has ended since.
        if plan.status != PlanStatus::Executing {
            self.leases.release(&held).await;
            return Ok(Some(Answer::text(context.session(), summary(&plan))));
        }
        if let Err(error) = self.check_ready(&committed.snapshot, &plan).await {
            self.leases.release(&held).await;
            return Err(error);
        }
        // An interrupted turn is finished first, under a lease of its own.
        if committed.snapshot.open_turn().is_some_and(|open| open.purpose.plan() != Some(&plan.id)) {
            self.leases.release(&held).await;
            return self.carry_out(&plan.id, context).await.map(Some);
        }
        let plan = Box::pin(self.run(context.by(), &plan.id, committed, held, context)).await?;
        self.answer(&plan, context).await.map(Some)
    }

    async fn check_ready(&self, snapshot: &Snapshot, plan: &Plan) -> LedgerResult<()> {
        self.check_author(plan).await?;
        self.check_approved(snapshot, plan).await?;
        Ok(self.check_able(plan)?)
    }

    /// What became of the plan, and what its turn asks.
    async fn answer(&self, plan: &Plan, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let answer = Answer::text(session, summary(plan));
        let may_ask = match plan.style() {
            PlanStyle::Document | PlanStyle::Build => true,
            // Recorded calls have no turn in which an agent could ask.
            PlanStyle::Collect => false,
        };
        let open = if may_ask { self.turns.open_turn(session).await? } else { None };
        Ok(match open.and_then(|open| WaitingAsk::of(session, &open)) {
            Some(ask) => answer.with_ask(ask),
            None => answer,
        })
    }

    /// Resumes the execution of a process that ended, if the session has one.
    pub(super) async fn resume(&self, context: &InputContext) -> LedgerResult<Option<Answer>> {
        interrupted::resume(self, context).await
    }

    /// Stops the work in a session, in whichever process it runs. Returns whether there was any.
    pub(super) async fn stop_session(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        running: &Running,
    ) -> LedgerResult<bool> {
        interrupted::stop_session(self.agent.engine(), session, by, running).await
    }

    /// Stops the work for a request that may arrive twice: only its first arrival stops what runs.
    pub(super) async fn stop_once(&self, context: &InputContext, running: &Running) -> LedgerResult<bool> {
        interrupted::stop_once(self.agent.engine(), context, running).await
    }

    /// Has the agent answer a message, and carries out the plan that a rule approves then.
    pub(super) async fn answer_message(
        &self,
        request: RequestId,
        text: &str,
        context: &InputContext,
    ) -> LedgerResult<TurnOutcome> {
        let snapshot = self.turns.snapshot(context.session()).await?;
        let outcome = Box::pin(self.turns.answer(&snapshot, request, text, context, self)).await?;
        Box::pin(self.approve_by_rule(outcome, context)).await
    }

    /// Approves a plan that is ready after a turn if a rule says so, and carries it out.
    pub(super) async fn approve_by_rule(
        &self,
        outcome: TurnOutcome,
        context: &InputContext,
    ) -> LedgerResult<TurnOutcome> {
        standing_approval::approve(self, outcome, context).await
    }

    /// The outcome of the turn in which this request had a document carried out before.
    pub(super) async fn document_turn_before(&self, context: &InputContext) -> LedgerResult<Option<TurnOutcome>> {
        document::turn_before(self, context).await
    }

    /// The answer to this request, if it had the document carried out before.
    pub(super) async fn document_answer_before(
        &self,
        plan: &PlanId,
        context: &InputContext,
    ) -> LedgerResult<Option<Answer>> {
        DocumentWork::new(self, plan, context).answer_before().await
    }

    /// Refuses a plan whose approval does not permit work on it any more.
    pub(super) async fn check_approved(&self, snapshot: &Snapshot, plan: &Plan) -> LedgerResult<()> {
        approved::check(self.agent.engine(), snapshot, plan).await
    }

    /// Refuses a plan that the rehearsal must not carry out.
    pub(super) async fn check_author(&self, plan: &Plan) -> LedgerResult<()> {
        author::check(&self.agent, plan).await
    }

    /// Carries out a recorded or built plan.
    async fn execute(&self, by: &Actor, mut plan: Arc<Plan>, context: &InputContext) -> LedgerResult<Arc<Plan>> {
        let session = context.session();
        // Only a person starts an execution.
        if plan.status != PlanStatus::Executing && by.kind != ActorKind::Person {
            return Ok(plan);
        }
        self.check_able(&plan)?;
        self.check_author(&plan).await?;
        let (committed, held) = loop {
            let error = match self.leases.take(session, by, &beginning(&plan), context).await {
                Ok(taken) => break taken,
                Err(error) => error,
            };
            if !is_over_or_taken(&error) || context.work.stop.is_cancelled() {
                return Err(error);
            }
            // Another process was faster. An execution that it left is resumed; one that it ended is the answer.
            let now = self.agent.engine().plans().get(session, &plan.id).await?;
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
        self.run(by, &plan.id, committed, held, context).await
    }

    /// Runs the execution of which this process has the lease.
    async fn run(
        &self,
        by: &Actor,
        plan: &PlanId,
        committed: Committed,
        held: LeaseGuard,
        context: &InputContext,
    ) -> LedgerResult<Arc<Plan>> {
        let session = context.session();
        let state = ExecutionState::of(plan, committed.snapshot)?;
        let id = state.plan.execution.as_ref().map(|execution| execution.id.clone());
        let id = id.ok_or_else(|| LedgerError::Internal(format!("plan {} is not carried out", state.plan.number)))?;
        self.leases.fence_files(session, &held).await?;
        context.work.holds_lease_for(Some(plan));
        let workspace = state.session.as_ref().map(|session| session.workspace.clone()).unwrap_or_default();
        let runner = ExecutionRunner {
            agent: &self.agent,
            executions: self,
            actor: Actor::system(session.channel.as_str()),
            session: session.clone(),
            by: by.clone(),
            plan: plan.clone(),
            id,
            held: Arc::new(held),
            workspace,
            context,
        };
        Box::pin(runner.run(state)).instrument(tracing::error_span!("execution", plan = %plan)).await
    }

    /// Whether a step can be done again without harm.
    pub(super) fn may_repeat(&self, plan: &Plan, run: &StepState) -> bool {
        let call = calls_of(plan).iter().find(|call| call.id == run.step);
        let tool = call.and_then(|call| self.agent.toolbox.get(&call.tool));
        tool.is_some_and(|tool| tool.effect() != ToolEffect::Changes)
    }

    /// Refuses a plan whose tools or agents this process does not have. The plan stays as it is.
    pub(super) fn check_able(&self, plan: &Plan) -> Result<(), Refusal> {
        let left_out = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
        self.check_able_without(plan, left_out)
    }

    /// Checks that this process can carry the plan out, without the steps that are left out.
    pub(super) fn check_able_without(&self, plan: &Plan, left_out: &[SkippedStep]) -> Result<(), Refusal> {
        let is_over = |run: &&StepState| matches!(run.status, StepStatus::Completed | StepStatus::Skipped);
        let runs = plan.execution.iter().flat_map(|execution| &execution.steps);
        let over: BTreeSet<_> = runs.filter(is_over).map(|run| &run.step).collect();
        let approved = |step: &StepId| left_out.iter().all(|skip| skip.step != *step) && !over.contains(step);
        match &plan.content {
            PlanContent::Document(_) => Ok(()),
            PlanContent::Collect(collected) => {
                // The agent of another program makes its own calls itself.
                let ours = collected.steps.iter().filter(|call| call.runner == CallRunner::Planwright);
                let calls = ours.filter(|call| approved(&call.id));
                let missing = calls.map(|call| &call.tool).find(|tool| self.agent.toolbox.get(tool).is_none());
                missing.map_or(Ok(()), |tool| {
                    let message =
                        format!("Plan {} calls {}, and there is no such tool here.", plan.number, quoted(tool));
                    Err(Refusal::new(RefusalCode::Unavailable, message))
                })
            }
            PlanContent::Build(built) => {
                let policy = self.agent.policy_of(&plan.session);
                let mut steps = built.steps.iter().filter(|step| approved(&step.id));
                steps.try_for_each(|step| policy.agents.assignable(&step.agent).map(drop))
            }
        }
    }
}

#[async_trait]
impl InterruptedSteps for Executions {
    async fn finish_step(
        &self,
        open: &OpenTurn,
        step: (&PlanId, &ExecutionId),
        context: &InputContext,
    ) -> LedgerResult<()> {
        interrupted::finish(self, open, step, context).await
    }
}

/// The command that takes the lease. For an execution that is open already it writes nothing.
fn beginning(plan: &Plan) -> Command {
    match plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing) {
        Some(running) => Command::Execution(ExecutionCommand::Advance {
            plan: plan.id.clone(),
            execution: running.id.clone(),
            ended: Vec::new(),
            begun: Vec::new(),
        }),
        None => Command::Decide(Decision::Resume { plan: plan.id.clone(), after_step: None }),
    }
}

fn uncertain(steps: &[StepState]) -> Option<&StepState> {
    steps.iter().find(|run| run.status == StepStatus::Uncertain)
}

fn calls_of(plan: &Plan) -> &[RecordedCall] {
    match &plan.content {
        PlanContent::Collect(collected) => &collected.steps,
        PlanContent::Document(_) | PlanContent::Build(_) => &[],
    }
}
