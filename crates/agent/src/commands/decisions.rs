//! Decisions of a person about a plan. An approval in a conversation is for the version that was shown there last.
//!
//! - `resume`: a plan continues, after a look at a step or a decision about one

mod resume;

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::command::AfterApproval;
use planwright_core::event::{Event, PlanEvent};
use planwright_core::ids::PlanId;
use planwright_core::plan::lifecycle::Action;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Digest, Plan, PlanStatus};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::plan_status::{one_line, plan_line};

use super::show;
use crate::agent_context::AgentContext;
use crate::execution::{Executions, summary};
use crate::session::input::{Approving, BeginWork, Changes, SeenPlan};
use crate::session::outcome::{Answer, PlanCard};
use crate::session::progress::Progress;
use crate::session::work::{InputContext, Running};
use crate::turn::RequestBuilder;

pub(crate) use resume::Resuming;

/// Decisions of a person about plans.
#[derive(Debug, Clone)]
pub(crate) struct Decisions {
    agent: Arc<AgentContext>,
    requests: RequestBuilder,
    executions: Executions,
}

impl Decisions {
    pub(super) fn new(agent: &Arc<AgentContext>, requests: RequestBuilder, executions: Executions) -> Self {
        Self { agent: Arc::clone(agent), requests, executions }
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
        match Box::pin(self.approve(Arc::clone(&plan), digest, approving, BeginWork::Now, context)).await {
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
            Event::Plan { id, event: PlanEvent::Approved { .. } | PlanEvent::ApprovalSigned { .. } } => Some(id),
            _ => None,
        });
        let Some(id) = approved else { return Ok(None) };
        let plan = self.agent.engine().plans().get(context.session(), id).await?;
        Ok(Some(Approved { message: approval_text(&plan), left: waiting_text(&plan), plan }))
    }

    /// Approves exactly the version with this digest and, unless it is left to others or for later, carries it out. That
    /// it is approved is sent as progress.
    pub(crate) async fn approve(
        &self,
        plan: Arc<Plan>,
        digest: Digest,
        approving: Approving,
        begin: BeginWork,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let approved = self.decide_approval(&plan, digest, approving, begin, context).await?;
        Box::pin(self.carry_out_approved(approved, context)).await
    }

    async fn carry_out_approved(&self, approved: Approved, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let Approved { plan, message, left } = approved;
        context.progress.decide(&plan, left.clone());
        if let Some(left) = left {
            return Ok(Answer::text(session, format!("{message}\n\n{left}")));
        }
        context.progress.send(Progress::Said(message.clone()));
        let answer = if plan.status == PlanStatus::Executing {
            Box::pin(self.executions.carry_out(&plan.id, context)).await?
        } else if let Some(outcome) = Box::pin(self.executions.document_turn_before(context)).await? {
            // The request was sent again after the work.
            outcome.into()
        } else {
            // Every step was ticked in the text already, or there was no turn to be answered.
            Answer::text(session, summary(&plan))
        };
        Ok(Answer { decided: Some(message), ..answer })
    }

    /// Records the approval. This is the one place that decides who carries the plan out: this process, in the entry of the
    /// approval; the external agent that drafted the plan; or no process until the plan is resumed.
    async fn decide_approval(
        &self,
        found: &Plan,
        digest: Digest,
        approving: Approving,
        begin: BeginWork,
        context: &InputContext,
    ) -> LedgerResult<Approved> {
        let (session, by) = (context.session(), context.by());
        // A selection that does not fit is refused with the approval.
        let left_out =
            approving.selection.over(&found.content.steps()).map(|selected| selected.skipped).unwrap_or_default();
        let resume = format!("`/plan resume {}`", found.number);
        let left = match begin {
            BeginWork::Later => Some(format!("{resume} begins the work.")),
            BeginWork::Now => match self.agent.engine().history().external_author(found).await? {
                Some(by) if found.content.is_made_by_planwright() => Some(format!(
                    "The `planwright mcp` of the agent that drafted it, {by}, makes its calls. {resume} has them made here \
                     instead."
                )),
                Some(by) => Some(format!(
                    "The agent that drafted it, {by}, carries it out. {resume} has it carried out here instead."
                )),
                None => {
                    let able = match self.executions.check_author(found).await {
                        Err(LedgerError::Refused(refusal)) => Err(refusal),
                        Err(error) => return Err(error),
                        Ok(()) => self.executions.check_able_without(found, &left_out),
                    };
                    able.err().map(|unable| format!("It cannot be carried out here: {}", unable.message))
                }
            },
        };
        let engine = context.engine(self.agent.engine());
        let then = if left.is_some() { AfterApproval::Wait } else { AfterApproval::CarryOut };
        let plan = engine.plans().approve_with(session, by, &found.id, digest, approving, then).await?;
        Ok(Approved { message: approval_text(&plan), left: waiting_text(&plan).or(left), plan })
    }

    /// Nothing is decided: the plan is shown, and the person is asked to approve it again.
    async fn show_first(&self, session: &SessionIdentity, by: &Actor, plan: &Plan, why: &str) -> LedgerResult<Answer> {
        let card = PlanCard::of(plan, None);
        show(self.agent.engine(), session, by, &card).await??;
        let reply = format!("{why} Nothing was approved. Read it, then type `/plan approve {}` again.", plan.number);
        Ok(Answer::refusal(session, RefusalCode::StaleApproval, reply).with_plan(card))
    }

    pub(crate) async fn reject(
        &self,
        plan: &PlanId,
        reason: Option<String>,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let session = context.session();
        let plan = context.engine(self.agent.engine()).plans().reject(session, context.by(), plan, reason).await?;
        context.progress.decide(&plan, None);
        Ok(Answer::text(session, format!("{} `/plan on` begins a new one.", plan_line(&plan))))
    }

    /// Asks for changes, and has the agent make them now or when it works on the plan next.
    pub(crate) async fn revise(
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
        Ok(Box::pin(self.executions.answer_message(request, &message, context)).await?.into())
    }

    /// Asks for changes and stops the work on the plan. The agent reads them when it works on the plan next.
    pub(crate) async fn note_changes(
        &self,
        plan: &PlanId,
        changes: Changes,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Answer> {
        let (session, engine) = (context.session(), context.engine(self.agent.engine()));
        let revised = engine.plans().revise(session, context.by(), plan, changes).await?;
        running.stop_work_on(plan).await;
        context.progress.decide(&revised, None);
        Ok(Answer::text(session, plan_line(&revised)))
    }

    /// Asks for changes and stops the work on the plan. Returns the message to the agent that asks for them.
    pub(crate) async fn ask_for_changes(
        &self,
        plan: &PlanId,
        changes: Changes,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<String> {
        let session = context.session();
        let commented = self.agent.engine().plans().get(session, plan).await?;
        let message = changes.to_text(&commented);
        self.requests.check_room(&self.agent.engine().sessions().snapshot(session).await?, &message).await?;
        let engine = context.engine(self.agent.engine());
        let revised = engine.plans().revise(session, context.by(), plan, changes).await?;
        running.stop_work_on(plan).await;
        context.progress.decide(&revised, None);
        Ok(format!("Revise plan {}: {message}", revised.number))
    }

    /// Cancels the plan and stops the work on it in this process.
    pub(crate) async fn cancel(
        &self,
        plan: &PlanId,
        reason: Option<String>,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Answer> {
        let session = context.session();
        let cancelled = context.engine(self.agent.engine()).plans().cancel(session, context.by(), plan, reason).await?;
        running.stop_work_on(plan).await;
        context.progress.decide(&cancelled, None);
        Ok(Answer::text(session, plan_line(&cancelled)))
    }
}

/// The part of a request for changes that gives them to the agent.
pub(crate) const REVISION: &str = "message";

/// A plan that is approved.
#[derive(Debug, Clone)]
struct Approved {
    plan: Arc<Plan>,
    /// What was decided, in Markdown.
    message: String,
    /// Why this process does not carry it out, if it does not.
    left: Option<String>,
}

/// Why nothing begins although a person approved the plan: others have to, too.
fn waiting_text(plan: &Plan) -> Option<String> {
    plan.incomplete_approval.as_ref().map(|_| "Nothing begins before they have approved it, too.".to_owned())
}

fn approval_text(plan: &Plan) -> String {
    if let Some(waiting) = plan.incomplete_approval.as_deref() {
        return format!("Plan {} is not approved yet: {waiting}.", plan.number);
    }
    let mut text = format!("Plan {} is approved: {}.", plan.number, one_line(&plan.display_title()));
    if plan.approval.as_ref().is_some_and(|approval| approval.step_by_step) {
        text.push_str(" It pauses after each step, so that you can look at it.");
    }
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let steps = plan.content.steps();
    for skip in skipped {
        let message =
            steps.get(skip.position.saturating_sub(1)).map_or_else(String::new, |step| one_line(&step.description));
        text.push_str(&format!("\n- step {} will not be done ({}): {message}", skip.position, skip.why));
    }
    text
}
