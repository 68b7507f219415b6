//! One execution under way: the steps, the lease, and the end.

use std::sync::Arc;

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::{Command, Decision, EndedStep, ExecutionCommand, StuckChoice};
use planwright_core::copy_on_write::CopyOnWrite;
use planwright_core::ids::{ExecutionId, PlanId, StepId};
use planwright_core::plan::execution::{StepPause, StepState, StepStatus};
use planwright_core::plan::{Execution, Plan, PlanStatus, PlanStyle};
use planwright_core::policy::OnFailure;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_core::workspace::Workspace;
use planwright_engine::ledger::{Lease, Leasing, LedgerError, LedgerResult};
use planwright_engine::lookup::named;
use planwright_engine::submitter::SubmitRequest;

use super::{Executions, uncertain};
use crate::agent_context::AgentContext;
use crate::leases::is_over_or_taken;
use crate::session::lease::LeaseGuard;
use crate::session::shutdown::shutting_down;
use crate::session::work::InputContext;

/// Carries out one plan.
#[derive(Debug)]
pub(super) struct ExecutionRunner<'a> {
    pub(super) agent: &'a AgentContext,
    pub(super) executions: &'a Executions,
    pub(super) actor: Actor,
    pub(super) session: SessionIdentity,
    /// The actor that asked for the execution.
    pub(super) by: Actor,
    pub(super) plan: PlanId,
    pub(super) id: ExecutionId,
    pub(super) held: Arc<LeaseGuard>,
    /// The folder that recorded calls work in.
    pub(super) workspace: Workspace,
    pub(super) context: &'a InputContext,
}

/// The plan and its session after the last entry. A command that is submitted takes it and returns the next one, because the
/// store changes a plan in place only if no other part of the process holds it.
#[derive(Debug)]
pub(super) struct ExecutionState {
    pub(super) plan: Arc<Plan>,
    pub(super) session: Option<CopyOnWrite<Session>>,
}

impl ExecutionState {
    pub(super) fn of(plan: &PlanId, snapshot: Snapshot) -> LedgerResult<Self> {
        Ok(Self { plan: named(&snapshot, plan)?, session: snapshot.session })
    }

    pub(super) fn runs(&self) -> &[StepState] {
        self.plan.execution.as_ref().map(|execution| execution.steps.as_slice()).unwrap_or_default()
    }

    /// Whether a person looks after each step.
    pub(super) fn is_step_by_step(&self) -> bool {
        self.plan.approval.as_ref().is_some_and(|approval| approval.step_by_step)
    }

    /// The step that a person looks at before the next one begins.
    pub(super) fn step_pause(&self) -> Option<StepPause> {
        self.plan.execution.as_ref().and_then(Execution::step_pause)
    }

    /// Whether no step begins because a person looks first: at a step that ended before, or at one of these.
    pub(super) fn waits_for_look(&self, ended: &[EndedStep]) -> bool {
        let ends = ended.iter().any(|ended| ended.outcome.status.is_settled());
        self.step_pause().is_some() || ends && self.is_step_by_step()
    }
}

/// Why no further step begins.
#[derive(Debug)]
pub(super) enum ExecutionAbort {
    /// A person said stop.
    Stopped,
    /// The plan was cancelled or superseded, or another process took it over. Nothing more is written.
    LeaseLost,
    /// The turn of a step waits for a person's answer, and the execution with it.
    Asks,
    /// The process is shutting down; another one resumes the execution.
    ShuttingDown,
    Ledger(LedgerError),
}

impl From<LedgerError> for ExecutionAbort {
    fn from(error: LedgerError) -> Self {
        if is_over_or_taken(&error) { Self::LeaseLost } else { Self::Ledger(error) }
    }
}

impl ExecutionRunner<'_> {
    pub(super) async fn run(&self, state: ExecutionState) -> LedgerResult<Arc<Plan>> {
        let outcome = match self.steps(state).await {
            Ok(state) => self.end(state).await,
            // The steps that were not begun stay open.
            Err(ExecutionAbort::Stopped) => self.finish(Vec::new()).await,
            Err(abort) => Err(abort),
        };
        let abort = match outcome {
            Ok(state) => return Ok(state.plan),
            Err(abort) => abort,
        };
        self.executions.leases.release(&self.held).await;
        match abort {
            ExecutionAbort::LeaseLost | ExecutionAbort::Stopped | ExecutionAbort::Asks => {
                self.agent.engine().plans().get(&self.session, &self.plan).await
            }
            ExecutionAbort::ShuttingDown => Err(shutting_down()),
            ExecutionAbort::Ledger(error) => Err(error),
        }
    }

    async fn steps(&self, state: ExecutionState) -> Result<ExecutionState, ExecutionAbort> {
        let state = self.retry_what_may_be(state).await?;
        match state.plan.style() {
            PlanStyle::Collect => self.recorded_calls(state).await,
            PlanStyle::Build => self.built_steps(state).await,
            PlanStyle::Document => Ok(state),
        }
    }

    /// What follows when no further step begins by itself: the execution ends, or waits for a person or another program.
    /// The session is released.
    async fn end(&self, state: ExecutionState) -> Result<ExecutionState, ExecutionAbort> {
        // The entry with the outcome of the last step ended it, and released the session.
        if state.plan.status != PlanStatus::Executing {
            return Ok(state);
        }
        let is_uncertain = uncertain(state.runs()).is_some();
        let ends_at_a_failure = self.ends_at_a_failure(&state);
        // The entry with the outcome of the step paused it.
        let looks = state.step_pause().is_some();
        // The agent of another program makes the next call; its report continues the execution.
        let waits = state.plan.waits_for_client() && !is_uncertain;
        if !ends_at_a_failure && (looks || waits) {
            self.executions.leases.release(&self.held).await;
            return Ok(state);
        }
        // A step whose result is unknown waits for a person; the execution stays open.
        if is_uncertain { self.pause().await } else { self.finish(Vec::new()).await }
    }

    /// Steps that were interrupted and may be repeated need no decision of a person.
    async fn retry_what_may_be(&self, mut state: ExecutionState) -> Result<ExecutionState, ExecutionAbort> {
        if self.by.kind != ActorKind::Person {
            return Ok(state);
        }
        let repeatable =
            |run: &&StepState| run.status == StepStatus::Uncertain && self.executions.may_repeat(&state.plan, run);
        let steps: Vec<_> = state.runs().iter().filter(repeatable).map(|run| run.step.clone()).collect();
        for step in steps {
            let choice = StuckChoice::Retry;
            let settle = Command::Decide(Decision::Settle { plan: self.plan.clone(), step, choice });
            drop(state);
            state = self.submit(Leasing::Held, &self.by, settle).await?;
        }
        Ok(state)
    }

    /// Ends the execution, with the outcome of its last steps if that is not written yet.
    pub(super) async fn finish(&self, ended: Vec<EndedStep>) -> Result<ExecutionState, ExecutionAbort> {
        let finish = ExecutionCommand::Finish { plan: self.plan.clone(), execution: self.id.clone(), ended };
        self.held.stop_renewing();
        self.submit(Leasing::Release, &self.actor, Command::Execution(finish)).await
    }

    /// A step whose result is unknown waits for a person, and the execution with it.
    async fn pause(&self) -> Result<ExecutionState, ExecutionAbort> {
        let pause = ExecutionCommand::Pause { plan: self.plan.clone(), execution: self.id.clone() };
        self.held.stop_renewing();
        self.submit(Leasing::Release, &self.actor, Command::Execution(pause)).await
    }

    /// Records outcomes, and the steps that begin next.
    pub(super) async fn advance(
        &self,
        state: ExecutionState,
        ended: Vec<EndedStep>,
        begun: Vec<StepId>,
    ) -> Result<ExecutionState, ExecutionAbort> {
        if ended.is_empty() && begun.is_empty() {
            return Ok(state);
        }
        drop(state);
        let (plan, execution) = (self.plan.clone(), self.id.clone());
        let advance = ExecutionCommand::Advance { plan, execution, ended, begun };
        self.submit(Leasing::Held, &self.actor, Command::Execution(advance)).await
    }

    async fn submit(
        &self,
        leasing: fn(Lease) -> Leasing,
        by: &Actor,
        command: Command,
    ) -> Result<ExecutionState, ExecutionAbort> {
        let engine = self.agent.engine();
        let stopped_by = if self.context.work.stop.is_cancelled() { self.context.work.take_stopped_by() } else { None };
        let id = stopped_by.unwrap_or_else(|| engine.submitter().next_request());
        let leasing = leasing(self.held.lease().clone());
        let request = SubmitRequest { session: &self.session, by, id, leasing, turn: None };
        let committed = engine.submitter().submit_as(request, command).await?;
        Ok(ExecutionState::of(&self.plan, committed.snapshot)?)
    }

    /// Whether a step failed after which no other one begins, also if it failed in another process.
    pub(super) fn ends_at_a_failure(&self, state: &ExecutionState) -> bool {
        let failed = state.runs().iter().any(|run| run.status == StepStatus::Failed);
        failed && self.agent.engine().policy().on_failure == OnFailure::Stop
    }

    /// The reason why no further step begins, if there is one.
    pub(super) fn is_to_end(&self) -> Option<ExecutionAbort> {
        if self.context.work.stop.is_cancelled() {
            return Some(ExecutionAbort::Stopped);
        }
        self.agent.shutdown.is_requested().then_some(ExecutionAbort::ShuttingDown)
    }

    /// Fails unless the session is known to be leased to this process. No tool is called without that.
    pub(super) async fn check_lease(&self) -> Result<(), ExecutionAbort> {
        let is_ours = self.held.confirm(self.agent.engine().ledger().as_ref()).await?;
        if is_ours { Ok(()) } else { Err(ExecutionAbort::LeaseLost) }
    }

    /// Resolves with the reason when the work has to stop.
    pub(super) async fn interrupted(&self) -> ExecutionAbort {
        tokio::select! {
            biased;
            () = self.context.work.stop.cancelled() => ExecutionAbort::Stopped,
            () = self.held.lost() => ExecutionAbort::LeaseLost,
            () = self.agent.shutdown.immediate() => ExecutionAbort::ShuttingDown,
        }
    }
}
