//! Carrying out an approved plan of recorded calls: exactly those calls, with exactly those arguments, in order. The
//! intent is on disk before a call begins and the outcome after it.

mod outcome;
mod steps;

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::command::{Command, Decision, Outcome, RunCommand};
use planwright_core::ids::{ExecutionId, PlanId};
use planwright_core::plan::content::{PlanContent, RecordedCall};
use planwright_core::plan::execution::{StepRun, StepStatus};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::commands::Answer;
use super::holding::{Held, is_not_ours};
use super::progress::Watcher;
use super::sessions::Place;
use super::slots::{Running, Served};
use crate::engine::Asking;
use crate::ledger::{Committed, Leasing, LedgerError, LedgerResult};

pub(super) use outcome::summary;

impl Agent {
    /// Carries the plan out, or goes on with it from the first step not done, and gives it as it is afterwards. It waits
    /// until everything before it in the session is done. Whoever stops waiting does not end it; [`Agent::stop`] does.
    pub async fn carry_out_plan(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        watcher: &Watcher,
    ) -> LedgerResult<Arc<Plan>> {
        let (agent, session, by) = (self.clone(), session.clone(), by.clone());
        let (plan, watcher) = (plan.clone(), watcher.clone());
        let queued = self.shared.slots.queue_up(&session).await;
        let work = async move {
            let served = queued.served().await;
            agent.finish_first(&session, &served, &watcher).await?;
            let mut execution = agent.begin_execution(&session, &by, &plan, &served, &watcher).await?;
            execution.work().await
        };
        super::running::finish(tokio::spawn(work)).await
    }

    /// Goes on with what a process that ended was carrying out in the session, if there is such a plan.
    pub async fn resume_execution(&self, place: &Place, by: &Actor, watcher: &Watcher) -> LedgerResult<Option<Answer>> {
        const RECENT: u32 = 20;
        let session = &place.session;
        let page = self.engine().plans(session, None, RECENT).await?;
        for found in page.items.iter().filter(|plan| plan.status == PlanStatus::Executing) {
            let plan = self.engine().plan(session, &found.id).await?;
            let waits = plan.execution.as_ref().is_some_and(|execution| uncertain(&execution.steps).is_some());
            if calls_of(&plan).is_ok() && !waits {
                let plan = self.carry_out_plan(session, by, &found.id, watcher).await?;
                return Ok(Some(Answer::words(session, summary(&plan))));
            }
        }
        Ok(None)
    }

    async fn begin_execution<'a>(
        &'a self,
        session: &SessionIdentity,
        by: &Actor,
        id: &PlanId,
        served: &'a Served,
        watcher: &'a Watcher,
    ) -> LedgerResult<Execution<'a>> {
        let plan = self.engine().plan(session, id).await?;
        self.check_tools(&plan)?;
        let stop = &served.running.stop;
        let (plan, held) = if plan.status == PlanStatus::Executing {
            let held = self.hold(session, stop, watcher).await?;
            // Whoever held it may have come to its end.
            (self.engine().plan(session, id).await?, held)
        } else {
            let resume = Command::Decide(Decision::Resume { plan: id.clone() });
            let (committed, held) = self.take(session, by, &resume, stop, watcher).await?;
            (named(&committed, id)?, held)
        };
        served.running.held.cancel();
        let execution = plan.execution.as_ref().map(|execution| execution.id.clone());
        let id = execution.ok_or_else(|| LedgerError::Internal(format!("plan {} is not carried out", plan.number)))?;
        Ok(Execution {
            agent: self,
            actor: Actor::system(session.channel.as_str()),
            session: session.clone(),
            id,
            plan,
            held: Some(held),
            running: &served.running,
            watcher,
        })
    }

    /// A plan whose tools are not here cannot be carried out here; it stays approved.
    fn check_tools(&self, plan: &Plan) -> Result<(), Refusal> {
        let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
        let approved = calls_of(plan)?.iter().filter(|call| skipped.iter().all(|skip| skip.step != call.id));
        let missing = approved.map(|call| call.tool.as_str()).find(|tool| self.shared.toolbox.get(tool).is_none());
        match missing {
            Some(tool) => Err(Refusal::new(
                RefusalCode::Unavailable,
                format!("Plan {} calls {}, and there is no such tool here.", plan.number, quoted(tool)),
            )),
            None => Ok(()),
        }
    }
}

fn calls_of(plan: &Plan) -> Result<&[RecordedCall], Refusal> {
    match &plan.content {
        PlanContent::Collect(collected) => Ok(&collected.steps),
        PlanContent::Document(_) | PlanContent::Build(_) => Err(Refusal::new(
            RefusalCode::Unavailable,
            format!(
                "Plan {} is of style {}, and only recorded calls are carried out by Planwright itself.",
                plan.number,
                plan.style()
            ),
        )),
    }
}

fn named(committed: &Committed, id: &PlanId) -> LedgerResult<Arc<Plan>> {
    let plan = committed.desk.plans.get(id).cloned();
    plan.ok_or_else(|| LedgerError::Internal(format!("plan {id} is not on the desk")))
}

fn uncertain(steps: &[StepRun]) -> Option<usize> {
    steps.iter().position(|run| run.status == StepStatus::Uncertain)
}

/// Everything that carries out one plan.
#[derive(Debug)]
struct Execution<'a> {
    agent: &'a Agent,
    actor: Actor,
    session: SessionIdentity,
    id: ExecutionId,
    /// As of the last thing that was written.
    plan: Arc<Plan>,
    held: Option<Held>,
    running: &'a Running,
    watcher: &'a Watcher,
}

/// Why no further step is begun.
#[derive(Debug)]
enum Halt {
    /// A person said stop.
    Stopped,
    /// The plan was cancelled, superseded or taken over elsewhere. Nothing more is written.
    Elsewhere,
    Ledger(LedgerError),
}

impl From<LedgerError> for Halt {
    fn from(error: LedgerError) -> Self {
        if is_not_ours(&error) { Self::Elsewhere } else { Self::Ledger(error) }
    }
}

impl Execution<'_> {
    async fn work(&mut self) -> LedgerResult<Arc<Plan>> {
        let outcome = match self.steps().await {
            // A step that nobody knows the end of waits for a person; the execution stays open.
            Ok(()) if uncertain(self.runs()).is_some() => Ok(()),
            Ok(()) | Err(Halt::Stopped) => self.finish().await,
            Err(halt) => Err(halt),
        };
        if let Some(held) = self.held.take() {
            self.agent.let_go(held).await;
        }
        match outcome {
            Ok(()) => Ok(Arc::clone(&self.plan)),
            Err(Halt::Elsewhere | Halt::Stopped) => self.agent.engine().plan(&self.session, &self.plan.id).await,
            Err(Halt::Ledger(error)) => Err(error),
        }
    }

    async fn finish(&mut self) -> Result<(), Halt> {
        let command = RunCommand::Finish { plan: self.plan.id.clone(), execution: self.id.clone() };
        self.submit(command).await
    }

    async fn end_step(&mut self, run: &StepRun, outcome: Outcome) -> Result<(), Halt> {
        let (plan, execution, step) = (self.plan.id.clone(), self.id.clone(), run.step.clone());
        self.submit(RunCommand::EndStep { plan, execution, step, outcome }).await
    }

    async fn submit(&mut self, command: RunCommand) -> Result<(), Halt> {
        let Some(held) = &self.held else { return Err(Halt::Elsewhere) };
        let engine = self.agent.engine();
        let (request, leasing) = (engine.next_request(), Leasing::Held(held.lease.clone()));
        let asking = Asking { session: &self.session, by: &self.actor, request, leasing, turn: None };
        let committed = engine.submit_as(asking, Command::Run(command)).await?;
        self.plan = named(&committed, &self.plan.id)?;
        Ok(())
    }

    fn runs(&self) -> &[StepRun] {
        self.plan.execution.as_ref().map(|execution| execution.steps.as_slice()).unwrap_or_default()
    }

    /// Ready when the work is to stop, and why.
    async fn interrupted(&self) -> Halt {
        let lost = self.held.as_ref().map_or_else(CancellationToken::new, |held| held.lost.clone());
        tokio::select! {
            () = self.running.stop.cancelled() => Halt::Stopped,
            () = lost.cancelled() => Halt::Elsewhere,
        }
    }
}
