//! A plan continues: from its first open step, after a look at a step, or after a decision about the step it stopped at.

use std::sync::Arc;

use planwright_core::choices::choices;
use planwright_core::command::StuckChoice;
use planwright_core::plan::execution::{Execution, Pause, StepState, StepStatus};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::plan_status::{choice_list, one_line, short_status};

use super::Decisions;
use crate::execution::summary;
use crate::session::input::Worker;
use crate::session::outcome::Answer;
use crate::session::work::InputContext;

/// The part of a request that continues an execution.
const RESUME: &str = "resume";

/// How a plan continues.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resuming {
    pub(crate) choice: Option<StuckChoice>,
    pub(crate) worker: Worker,
    /// The step that the person looked at, by its 1-based index, if the surface says so.
    pub(crate) after_step: Option<usize>,
}

impl Decisions {
    /// Continues a plan, after settling the step that it stopped at.
    pub(crate) async fn resume_or_settle(
        &self,
        found: Arc<Plan>,
        resuming: Resuming,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let (session, plan) = (context.session(), &found.id.clone());
        if resuming.choice != Some(StuckChoice::Stop) {
            self.check_step_was_seen(&found, context).await?;
        }
        if let Some(left) = self.resume_for_drafter(&found, resuming, context).await? {
            return Ok(left);
        }
        // The request was carried out before; what it resumed is not resumed again.
        if let Some(answer) = Box::pin(self.executions.document_answer_before(plan, context)).await? {
            context.progress.decide(&self.agent.engine().plans().get(session, plan).await?, None);
            return Ok(answer);
        }
        let settled = match context.find_committed(self.agent.engine()).await? {
            // The step was settled when the request was sent before.
            Some(_) => Settled::of(self.agent.engine().plans().get(session, plan).await?),
            None => self.settle_stuck(found, resuming.choice, context).await?,
        };
        let plan = match settled {
            Settled::NeedsChoice(question) => return Ok(Answer::refusal(session, RefusalCode::WrongStatus, question)),
            Settled::Over(plan) => {
                context.progress.decide(&plan, None);
                return Ok(Answer::text(session, summary(&plan)));
            }
            Settled::Continues(plan) => plan,
        };
        if let Some(answer) = self.begin_again_here(&plan, resuming.after_step, context).await? {
            return Ok(answer);
        }
        let plan = self.begin_again(plan, resuming.after_step, context).await?;
        context.progress.decide(&plan, None);
        if plan.status == PlanStatus::Executing {
            return Box::pin(self.executions.carry_out(&plan.id, context)).await;
        }
        // Another process was faster and is done, or the request was sent again after the work.
        Ok(Answer::text(session, summary(&plan)))
    }

    /// Refuses to release a step for a person who spoke before the last one ended: they have not seen it.
    async fn check_step_was_seen(&self, plan: &Plan, context: &InputContext) -> LedgerResult<()> {
        let pause = plan.execution.as_ref().and_then(|execution| execution.pause);
        let Some(Pause::Paused { at, after_step: Some(after), .. }) = pause else { return Ok(()) };
        if context.request.received_at.is_none_or(|received| received >= at) {
            return Ok(());
        }
        // A request that is sent again gets the outcome of the first time.
        if let Some(part) = context.request.part(RESUME)
            && self.agent.engine().ledger().find_request(context.session(), &part).await?.is_some()
        {
            return Ok(());
        }
        let message = format!(
            "Step {} of plan {} has ended since you said that. Look at it, then resume the plan again.",
            after.step, plan.number
        );
        Err(Refusal::stale(message).into())
    }

    /// Continues a plan for the agent of another program that drafted it: a document, and a plan of another style whose last
    /// step that agent reported. `None` if this process continues it.
    async fn resume_for_drafter(
        &self,
        found: &Plan,
        resuming: Resuming,
        context: &InputContext,
    ) -> LedgerResult<Option<Answer>> {
        let (session, engine) = (context.session(), self.agent.engine());
        if resuming.choice.is_some() {
            return Ok(None);
        }
        // The agent that reported the step also does the next one.
        let reported = found.execution.as_ref().and_then(Execution::step_pause).is_some_and(|pause| pause.external);
        if resuming.worker == Worker::ThisProcess && !reported {
            return Ok(None);
        }
        let drafter = engine.history().external_author(found).await?;
        let is_theirs = reported || found.style() == PlanStyle::Document;
        let Some(drafter) = drafter.filter(|_| is_theirs) else { return Ok(None) };
        let plan =
            context.engine(engine).plans().resume_after(session, context.by(), &found.id, resuming.after_step).await?;
        let left = format!("The agent that drafted it, {drafter}, carries it out.");
        let message = format!("{} {left}", short_status(&plan));
        context.progress.decide(&plan, Some(left));
        Ok(Some(Answer::text(session, message)))
    }

    /// Begins a recorded or built plan again and carries it out. `None` if it is under way, or if this process cannot begin
    /// it now.
    async fn begin_again_here(
        &self,
        plan: &Plan,
        after_step: Option<usize>,
        context: &InputContext,
    ) -> LedgerResult<Option<Answer>> {
        let is_to_begin = match plan.status {
            PlanStatus::Approved | PlanStatus::PartiallyCompleted => true,
            PlanStatus::Executing => plan.is_paused() || after_step.is_some(),
            PlanStatus::Collecting
            | PlanStatus::Ready
            | PlanStatus::Completed
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded => false,
        };
        if !is_to_begin || plan.style() == PlanStyle::Document {
            return Ok(None);
        }
        let request = context.request.part(RESUME);
        let request = request.unwrap_or_else(|| self.agent.engine().submitter().next_request());
        Box::pin(self.executions.resume_and_carry_out(plan, after_step, request, context)).await
    }

    /// The plan as it is carried out. One that is not under way, or a document that is parked, is begun again now.
    async fn begin_again(
        &self,
        plan: Arc<Plan>,
        after_step: Option<usize>,
        context: &InputContext,
    ) -> LedgerResult<Arc<Plan>> {
        let session = context.session();
        let parked = plan.style() == PlanStyle::Document && {
            let active = self.agent.engine().sessions().get(session).await?.plan_mode.active_plan;
            active.as_ref() != Some(&plan.id)
        };
        if plan.status == PlanStatus::Executing && !parked && !plan.is_paused() && after_step.is_none() {
            return Ok(plan);
        }
        let engine = context.part(self.agent.engine(), RESUME);
        match engine.plans().resume_after(session, context.by(), &plan.id, after_step).await {
            Err(LedgerError::Refused(refusal)) => {
                let now = self.agent.engine().plans().get(session, &plan.id).await?;
                if now.status == plan.status { Err(refusal.into()) } else { Ok(now) }
            }
            resumed => resumed,
        }
    }

    /// Settles the step that a plan stopped at, if there is one.
    async fn settle_stuck(
        &self,
        plan: Arc<Plan>,
        choice: Option<StuckChoice>,
        context: &InputContext,
    ) -> LedgerResult<Settled> {
        let (session, by) = (context.session(), context.by());
        if choice != Some(StuckChoice::Stop) {
            self.executions.check_author(&plan).await?;
        }
        match choice {
            None | Some(StuckChoice::Retry) => self.executions.check_able(&plan)?,
            Some(StuckChoice::Skip | StuckChoice::Stop) => {}
        }
        let stuck = plan.execution.as_ref().and_then(Execution::stuck_at);
        let looks = plan.execution.as_ref().and_then(Execution::step_pause).is_some();
        match (choice, stuck) {
            (Some(StuckChoice::Stop), _) if looks && plan.status == PlanStatus::Executing => Ok(Settled::Over(
                context.engine(self.agent.engine()).plans().finish_execution(session, by, &plan).await?,
            )),
            (None, Some((position, run)))
                if run.status == StepStatus::Uncertain && !self.executions.may_repeat(&plan, run) =>
            {
                Ok(Settled::NeedsChoice(ask_what_to_do(&plan, position, run)))
            }
            (Some(choice), Some((_, run))) => {
                let engine = context.engine(self.agent.engine());
                let settled = engine.plans().settle(session, by, &plan.id, &run.step, choice).await?;
                let over = choice == StuckChoice::Stop || settled.status != PlanStatus::Executing;
                Ok(if over { Settled::Over(settled) } else { Settled::Continues(settled) })
            }
            (Some(StuckChoice::Stop), None) if plan.status == PlanStatus::Executing => Ok(Settled::Over(
                context.engine(self.agent.engine()).plans().finish_execution(session, by, &plan).await?,
            )),
            (Some(choice), None) => {
                let message =
                    format!("Plan {} did not stop at a step; there is nothing to {}.", plan.number, choice.as_str());
                Err(Refusal::wrong_status(message).into())
            }
            (None, Some(_) | None) => Ok(Settled::Continues(plan)),
        }
    }
}

/// The state of a plan after its stuck step was settled.
enum Settled {
    /// A person has to choose first; the question.
    NeedsChoice(String),
    Over(Arc<Plan>),
    Continues(Arc<Plan>),
}

impl Settled {
    fn of(plan: Arc<Plan>) -> Self {
        if plan.status == PlanStatus::Executing { Self::Continues(plan) } else { Self::Over(plan) }
    }
}

/// The question about a step whose result is unknown, with the possible answers.
fn ask_what_to_do(plan: &Plan, position: usize, run: &StepState) -> String {
    let known = run.note.as_deref().map_or_else(String::new, |note| format!(" What is known: {}.", one_line(note)));
    format!(
        "The result of step {position} is unknown (plan {}: {}).{known}\n\n\
         {}",
        plan.number,
        one_line(&run.description),
        choice_list(&choices(plan, None).list),
    )
}
