//! Decisions of a person about a plan. An approval in a conversation is for the version that was shown there last.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::command::{AfterApproval, StuckChoice};
use planwright_core::event::{Event, PlanEvent};
use planwright_core::ids::PlanId;
use planwright_core::plan::execution::{Execution, StepRun, StepStatus};
use planwright_core::plan::lifecycle::Action;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Digest, Plan, PlanStatus, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;

use super::show;
use crate::agent::agent_context::AgentContext;
use crate::agent::execution::{Executions, summary};
use crate::agent::replies::Replies;
use crate::agent::turn::RequestBuilder;
use crate::ledger::{LedgerError, LedgerResult};
use crate::plan_status::{one_line, plan_line, short_status};
use crate::session::input::{Approving, BeginWork, Changes, SeenPlan, Worker};
use crate::session::outcome::{Answer, PlanCard};
use crate::session::progress::{Decided, Progress};
use crate::session::task::{InputContext, Running};

/// Decisions of a person about plans.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Decisions {
    agent: Arc<AgentContext>,
    requests: RequestBuilder,
    executions: Executions,
    replies: Replies,
}

impl Decisions {
    pub(super) fn new(
        agent: &Arc<AgentContext>,
        requests: RequestBuilder,
        executions: Executions,
        replies: Replies,
    ) -> Self {
        Self { agent: Arc::clone(agent), requests, executions, replies }
    }

    pub(super) async fn approve_shown(
        &self,
        plan: Option<&PlanReference>,
        approving: Approving,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        if let Some(approved) = self.approved_before(context).await? {
            return Box::pin(self.carry_out_approved(approved, context)).await;
        }
        let plan = self.agent.engine().plans().find(session, plan).await?;
        // A plan that cannot be approved now is refused here: it might become one that can before the command arrives.
        plan.permits(Action::Approve)?;
        let shown = match &context.request.location.seen {
            SeenPlan::InSession => self.agent.engine().sessions().get(session).await?.shown,
            SeenPlan::AtSurface(shown) => shown.clone(),
        };
        let shown = shown.filter(|shown| shown.plan == plan.id);
        let Some(digest) = shown.map(|shown| shown.digest) else {
            return self.show_first(session, by, &plan, "You have not seen this version here yet.").await;
        };
        match Box::pin(self.approve(&plan.id, digest, approving, BeginWork::Now, context)).await {
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::StaleApproval => {
                let plan = self.agent.engine().plans().get(session, &plan.id).await?;
                self.show_first(session, by, &plan, "It has changed since you saw it.").await
            }
            outcome => outcome,
        }
    }

    /// The plan that this request approved before.
    async fn approved_before(&self, context: &InputContext) -> LedgerResult<Option<Approved>> {
        let Some(committed) = context.find_committed(self.agent.engine()).await? else { return Ok(None) };
        let approved = committed.events.iter().find_map(|event| match event {
            Event::Plan { id, event: PlanEvent::Approved { .. } } => Some(id),
            _ => None,
        });
        let Some(id) = approved else { return Ok(None) };
        let plan = self.agent.engine().plans().get(context.session(), id).await?;
        Ok(Some(Approved { words: approval_words(&plan), plan, left: None }))
    }

    /// Approves exactly the version with this digest and, unless it is left to others or for later, carries it out. That
    /// it is approved is sent as progress.
    pub(in crate::agent) async fn approve(
        &self,
        plan: &PlanId,
        digest: Digest,
        approving: Approving,
        begin: BeginWork,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let approved = self.decide_approval(plan, digest, approving, begin, context).await?;
        Box::pin(self.carry_out_approved(approved, context)).await
    }

    async fn carry_out_approved(&self, approved: Approved, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let Approved { plan, words, left } = approved;
        context.progress.send(Progress::Decided(Decided { plan: Arc::clone(&plan), left: left.clone() }));
        if let Some(left) = left {
            return Ok(Answer::words(session, format!("{words}\n\n{left}")));
        }
        context.progress.send(Progress::Said(words.clone()));
        let answer = if plan.status == PlanStatus::Executing {
            Box::pin(self.executions.carry_out(&plan.id, context)).await?
        } else if let Some(outcome) = Box::pin(self.executions.document_turn_before(context)).await? {
            // The request was sent again after the work.
            outcome.into()
        } else {
            // Every step was ticked in the text already, or there was no turn to be answered.
            Answer::words(session, summary(&plan))
        };
        Ok(Answer { decided: Some(words), ..answer })
    }

    /// Records the approval. This is the one place that decides who carries the plan out: this process, in the entry of the
    /// approval; the external agent that drafted the plan; or no process until the plan is resumed.
    async fn decide_approval(
        &self,
        plan: &PlanId,
        digest: Digest,
        approving: Approving,
        begin: BeginWork,
        context: &InputContext,
    ) -> LedgerResult<Approved> {
        let (session, by) = (context.session(), context.by());
        let found = self.agent.engine().plans().get(session, plan).await?;
        // A selection that does not fit is refused with the approval.
        let left_out =
            approving.selection.over(&found.content.steps()).map(|selected| selected.skipped).unwrap_or_default();
        let resume = format!("`/plan resume {}`", found.number);
        let left = match (begin, self.agent.engine().history().external_author(&found).await?) {
            (BeginWork::Later, _) => Some(format!("{resume} begins the work.")),
            (BeginWork::Now, Some(by)) => Some(format!(
                "The agent that drafted it, {by}, carries it out. {resume} has it carried out here instead."
            )),
            (BeginWork::Now, None) => {
                let able = match self.executions.check_author(&found).await {
                    Err(LedgerError::Refused(refusal)) => Err(refusal),
                    Err(error) => return Err(error),
                    Ok(()) => self.executions.check_able_without(&found, &left_out),
                };
                able.err().map(|unable| format!("It cannot be carried out here: {}", unable.message))
            }
        };
        let engine = context.engine(self.agent.engine());
        let then = if left.is_some() { AfterApproval::Wait } else { AfterApproval::CarryOut };
        let plan = engine.plans().approve_with(session, by, plan, digest, approving, then).await?;
        Ok(Approved { words: approval_words(&plan), plan, left })
    }

    /// Nothing is decided: the plan is shown, and the person is asked to approve it again.
    async fn show_first(&self, session: &SessionIdentity, by: &Actor, plan: &Plan, why: &str) -> LedgerResult<Answer> {
        let card = PlanCard::from(plan);
        show(self.agent.engine(), session, by, &card).await?;
        let reply = format!("{why} Nothing was approved. Read it, then type `/plan approve {}` again.", plan.number);
        Ok(Answer::refusal(session, RefusalCode::StaleApproval, reply).with_plan(card))
    }

    pub(in crate::agent) async fn reject(
        &self,
        plan: &PlanId,
        reason: Option<String>,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let session = context.session();
        let plan = context.engine(self.agent.engine()).plans().reject(session, context.by(), plan, reason).await?;
        context.progress.send(Progress::decided(&plan));
        Ok(Answer::words(session, format!("{} `/plan on` begins a new one.", plan_line(&plan))))
    }

    /// Asks for changes, and has the agent make them now or when it works on the plan next.
    pub(in crate::agent) async fn revise(
        &self,
        plan: &PlanId,
        changes: Changes,
        begin: BeginWork,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        if begin == BeginWork::Later {
            return self.note_changes(plan, changes, context, &Running::NOTHING).await;
        }
        let message = self.ask_for_changes(plan, changes, context, &Running::NOTHING).await?;
        let request = context.part(self.agent.engine(), REVISION).submitter().next_request();
        Ok(Box::pin(self.replies.answer_message(request, &message, context)).await?.into())
    }

    /// Asks for changes and stops the work on the plan. The agent reads them when it works on the plan next.
    pub(in crate::agent) async fn note_changes(
        &self,
        plan: &PlanId,
        changes: Changes,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Answer> {
        let (session, engine) = (context.session(), context.engine(self.agent.engine()));
        let revised = engine.plans().revise(session, context.by(), plan, changes).await?;
        running.stop_work_on(plan).await;
        context.progress.send(Progress::decided(&revised));
        Ok(Answer::words(session, plan_line(&revised)))
    }

    /// Asks for changes and stops the work on the plan. Returns the message to the agent that asks for them.
    pub(in crate::agent) async fn ask_for_changes(
        &self,
        plan: &PlanId,
        changes: Changes,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<String> {
        let session = context.session();
        let commented = self.agent.engine().plans().get(session, plan).await?;
        let words = changes.to_text(&commented);
        self.requests.check_room(session, &words).await?;
        let engine = context.engine(self.agent.engine());
        let revised = engine.plans().revise(session, context.by(), plan, changes).await?;
        running.stop_work_on(plan).await;
        context.progress.send(Progress::decided(&revised));
        Ok(format!("Revise plan {}: {words}", revised.number))
    }

    /// Cancels the plan and stops the work on it in this process.
    pub(in crate::agent) async fn cancel(
        &self,
        plan: &PlanId,
        reason: Option<String>,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Answer> {
        let session = context.session();
        let cancelled = context.engine(self.agent.engine()).plans().cancel(session, context.by(), plan, reason).await?;
        running.stop_work_on(plan).await;
        context.progress.send(Progress::decided(&cancelled));
        Ok(Answer::words(session, plan_line(&cancelled)))
    }

    /// Continues a plan, after settling the step that it stopped at.
    pub(in crate::agent) async fn resume_or_settle(
        &self,
        plan: &PlanId,
        choice: Option<StuckChoice>,
        worker: Worker,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let session = context.session();
        if let Some(left) = self.resume_for_drafter(plan, choice, worker, context).await? {
            return Ok(left);
        }
        // The request was carried out before; what it resumed is not resumed again.
        if let Some(answer) = Box::pin(self.executions.document_answer_before(plan, context)).await? {
            context.progress.send(Progress::decided(&self.agent.engine().plans().get(session, plan).await?));
            return Ok(answer);
        }
        let settled = match context.find_committed(self.agent.engine()).await? {
            // The step was settled when the request was sent before.
            Some(_) => Settled::of(self.agent.engine().plans().get(session, plan).await?),
            None => self.settle_stuck(plan, choice, context).await?,
        };
        let plan = match settled {
            Settled::NeedsChoice(question) => return Ok(Answer::refusal(session, RefusalCode::WrongStatus, question)),
            Settled::Over(plan) => {
                context.progress.send(Progress::decided(&plan));
                return Ok(Answer::words(session, summary(&plan)));
            }
            Settled::Continues(plan) => plan,
        };
        let plan = self.begin_again(plan, context).await?;
        context.progress.send(Progress::decided(&plan));
        if plan.status == PlanStatus::Executing {
            return Box::pin(self.executions.carry_out(&plan.id, context)).await;
        }
        // Another process was faster and is done, or the request was sent again after the work.
        Ok(Answer::words(session, summary(&plan)))
    }

    /// Continues a document for the agent of another program that drafted it; `None` if this process continues it.
    async fn resume_for_drafter(
        &self,
        plan: &PlanId,
        choice: Option<StuckChoice>,
        worker: Worker,
        context: &InputContext,
    ) -> LedgerResult<Option<Answer>> {
        let (session, engine) = (context.session(), self.agent.engine());
        if worker == Worker::ThisProcess || choice.is_some() {
            return Ok(None);
        }
        let found = engine.plans().get(session, plan).await?;
        let drafter = engine.history().external_author(&found).await?;
        let Some(drafter) = drafter.filter(|_| found.style() == PlanStyle::Document) else { return Ok(None) };
        let plan = context.engine(engine).plans().resume(session, context.by(), plan).await?;
        let left = format!("The agent that drafted it, {drafter}, carries it out.");
        let words = format!("{} {left}", short_status(&plan));
        context.progress.send(Progress::Decided(Decided { plan, left: Some(left) }));
        Ok(Some(Answer::words(session, words)))
    }

    /// The plan as it is carried out. One that is not under way, or a document that is parked, is begun again now.
    async fn begin_again(&self, plan: Arc<Plan>, context: &InputContext) -> LedgerResult<Arc<Plan>> {
        let session = context.session();
        let active = self.agent.engine().sessions().get(session).await?.plan_mode.active_plan;
        let parked = plan.style() == PlanStyle::Document && active.as_ref() != Some(&plan.id);
        let paused = plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
        if plan.status == PlanStatus::Executing && !parked && !paused {
            return Ok(plan);
        }
        match context.part(self.agent.engine(), "resume").plans().resume(session, context.by(), &plan.id).await {
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
        plan: &PlanId,
        choice: Option<StuckChoice>,
        context: &InputContext,
    ) -> LedgerResult<Settled> {
        let (session, by) = (context.session(), context.by());
        let plan = self.agent.engine().plans().get(session, plan).await?;
        if choice != Some(StuckChoice::Stop) {
            self.executions.check_author(&plan).await?;
        }
        match choice {
            None | Some(StuckChoice::Retry) => self.executions.check_able(&plan)?,
            Some(StuckChoice::Skip | StuckChoice::Stop) => {}
        }
        let stuck = plan.execution.as_ref().and_then(Execution::stuck_at);
        match (choice, stuck) {
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

/// The part of a request for changes that gives them to the agent.
pub(in crate::agent) const REVISION: &str = "message";

/// A plan that is approved.
#[derive(Debug, Clone)]
struct Approved {
    plan: Arc<Plan>,
    /// What was decided, in Markdown.
    words: String,
    /// Why this process does not carry it out, if it does not.
    left: Option<String>,
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
fn ask_what_to_do(plan: &Plan, position: usize, run: &StepRun) -> String {
    let known = run.note.as_deref().map_or_else(String::new, |note| format!(" What is known: {}.", one_line(note)));
    format!(
        "The result of step {position} is unknown (plan {}: {}).{known}\n\n\
         - `/plan resume {number} retry` does it again\n\
         - `/plan resume {number} skip` continues without it\n\
         - `/plan resume {number} stop` ends the execution there\n\
         - `/plan revise #{number} WHAT TO CHANGE` plans anew",
        plan.number,
        one_line(&run.description),
        number = plan.number,
    )
}

fn approval_words(plan: &Plan) -> String {
    let mut text = format!("Plan {} is approved: {}.", plan.number, one_line(&plan.display_title()));
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let steps = plan.content.steps();
    for skip in skipped {
        let words =
            steps.get(skip.position.saturating_sub(1)).map_or_else(String::new, |step| one_line(&step.description));
        text.push_str(&format!("\n- step {} will not be done ({}): {words}", skip.position, skip.why));
    }
    text
}
