//! Plans: decisions about them, how they are found, and what happens with one right now.

mod activity;
mod decision;

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::command::{AfterApproval, Command, Decision, DraftCommand, ExecutionCommand, StuckChoice};
use planwright_core::ids::{PlanId, StepId};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::review::Review;
use planwright_core::plan::{ApprovalSignature, Digest, Plan, PlanStatus};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;

use crate::approval_records;
use crate::history::History;
use crate::ledger::{Ledger, LedgerResult, Page, PlanSummary};
use crate::lookup::{self, no_plan};
use crate::plan_watch::PlanWatch;
use crate::submitter::Submitter;

pub use decision::{Approving, Changes};
pub use planwright_core::choices::Activity;

/// The number of plans that are read at once.
const PAGE: u32 = 200;

#[derive(Debug, Clone)]
pub struct Plans {
    submitter: Submitter,
    history: History,
}

impl Plans {
    pub(crate) fn new(submitter: Submitter, history: History) -> Self {
        Self { submitter, history }
    }

    /// Approves exactly the text with this digest, all of its steps or some. The execution starts later.
    pub async fn approve(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        digest: Digest,
        selection: Selection,
        note: Option<String>,
    ) -> LedgerResult<Arc<Plan>> {
        let approving = Approving { selection, note, ..Approving::default() };
        self.approve_with(session, by, plan, digest, approving, AfterApproval::Wait).await
    }

    /// Approves a plan with an approver's signature.
    pub async fn approve_signed(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        digest: Digest,
        signature: ApprovalSignature,
    ) -> LedgerResult<Arc<Plan>> {
        let approving = Approving { signature: Some(signature), ..Approving::default() };
        self.approve_with(session, by, plan, digest, approving, AfterApproval::Wait).await
    }

    /// With [`AfterApproval::CarryOut`] its execution starts in the same entry. The caller carries the plan out; after a
    /// crash another process does.
    pub async fn approve_with(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        digest: Digest,
        approving: Approving,
        then: AfterApproval,
    ) -> LedgerResult<Arc<Plan>> {
        let Approving { selection, note, review, step_by_step, signature } = approving;
        let decision = Decision::Approve { plan: plan.clone(), digest, selection, note, step_by_step, then };
        let decision = reviewed(decision, review);
        let decision = match signature {
            Some(signature) => Decision::Signed { decision: Box::new(decision), signature },
            None => decision,
        };
        self.decide(session, by, decision).await
    }

    /// Settles a step whose result is unknown, or that failed.
    pub async fn settle(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        step: &StepId,
        choice: StuckChoice,
    ) -> LedgerResult<Arc<Plan>> {
        self.decide(session, by, Decision::Settle { plan: plan.clone(), step: step.clone(), choice }).await
    }

    pub async fn reject(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        reason: Option<String>,
    ) -> LedgerResult<Arc<Plan>> {
        self.decide(session, by, Decision::Reject { plan: plan.clone(), reason }).await
    }

    /// Puts a person's text in the place of the active document. Returns the plan that has it: the same one, or its successor.
    pub async fn edit_document(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        markdown: &str,
    ) -> LedgerResult<Arc<Plan>> {
        let edit = DraftCommand::SetContent { markdown: markdown.to_owned(), title: None };
        self.submitter.submit(session, by, Command::Draft(edit)).await?;
        self.active(session).await
    }

    /// Asks for changes. Returns the plan that the agent now works on: the same one, or its successor.
    pub async fn revise(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        changes: impl Into<Changes>,
    ) -> LedgerResult<Arc<Plan>> {
        let Changes { feedback, review } = changes.into();
        let decision = Decision::Revise { plan: plan.clone(), feedback };
        let plan = self.decide(session, by, reviewed(decision, review)).await?;
        match &plan.superseded_by {
            Some(successor) => self.get(session, successor).await,
            None => Ok(plan),
        }
    }

    pub async fn cancel(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        reason: Option<String>,
    ) -> LedgerResult<Arc<Plan>> {
        self.decide(session, by, Decision::Cancel { plan: plan.clone(), reason }).await
    }

    pub async fn resume(&self, session: &SessionIdentity, by: &Actor, plan: &PlanId) -> LedgerResult<Arc<Plan>> {
        self.resume_after(session, by, plan, None).await
    }

    /// Resumes a plan that is approved step by step, after a look at one of its steps. It is refused if another step
    /// ended since.
    pub async fn resume_after(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        after_step: Option<usize>,
    ) -> LedgerResult<Arc<Plan>> {
        self.decide(session, by, Decision::Resume { plan: plan.clone(), after_step }).await
    }

    /// Ends an execution with the steps that are done so far.
    pub async fn finish_execution(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &Plan,
    ) -> LedgerResult<Arc<Plan>> {
        let Some(execution) = &plan.execution else { return Err(no_plan(session, &plan.id).into()) };
        let finish =
            ExecutionCommand::Finish { plan: plan.id.clone(), execution: execution.id.clone(), ended: Vec::new() };
        let committed = self.submitter.submit(session, by, Command::Execution(finish)).await?;
        lookup::named(&committed.snapshot, &plan.id)
    }

    pub async fn get(&self, session: &SessionIdentity, id: &PlanId) -> LedgerResult<Arc<Plan>> {
        lookup::plan(self.ledger(), session, id).await
    }

    /// The plan that a person means: the one they name, else the active one.
    pub async fn find(&self, session: &SessionIdentity, reference: Option<&PlanReference>) -> LedgerResult<Arc<Plan>> {
        let Some(reference) = reference else { return self.active(session).await };
        // A whole id is found with one read. A part of an id is compared with every plan.
        if let PlanReference::Piece(text) = reference
            && let Ok(id) = PlanId::new(text.as_str())
            && let Some(plan) = self.ledger().snapshot(session, Some(&id)).await?.plans.get(&id)
        {
            return Ok(Arc::clone(plan));
        }
        let candidates = self.ledger().candidates(session, reference).await?;
        let id = reference.choose(&candidates)?;
        self.get(session, &id).await
    }

    pub async fn active(&self, session: &SessionIdentity) -> LedgerResult<Arc<Plan>> {
        let snapshot = self.ledger().snapshot(session, None).await?;
        let opened = snapshot.opened()?;
        let active = opened.plan_mode.active_plan.as_ref().and_then(|id| snapshot.plans.get(id).cloned());
        active.ok_or_else(|| {
            let hint = hint_without_active(opened.plans_made);
            Refusal::not_found(format!("No plan is active in session {session}; {hint}.")).into()
        })
    }

    /// The plans of a session, the newest first. `before` is the `next` of the page before.
    pub async fn list(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        self.ledger().plans(session, before, limit).await
    }

    /// The plans of the session that are being carried out, the newest first.
    pub async fn executing(&self, session: &SessionIdentity) -> LedgerResult<Vec<Arc<Plan>>> {
        let mut found = Vec::new();
        let mut before = None;
        loop {
            let page = self.list(session, before, PAGE).await?;
            for summary in page.items.iter().filter(|plan| plan.status == PlanStatus::Executing) {
                found.push(self.get(session, &summary.id).await?);
            }
            before = page.next;
            if before.is_none() {
                return Ok(found);
            }
        }
    }

    /// Whether an execution is being worked on right now; `None` unless the plan is `EXECUTING`.
    pub async fn activity(&self, session: &SessionIdentity, plan: &Plan) -> LedgerResult<Option<Activity>> {
        activity::activity(self.ledger(), &self.history, session, plan).await
    }

    /// Watches the plan from now on.
    pub async fn watch(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<PlanWatch> {
        PlanWatch::start(self.submitter.clone(), session, plan).await
    }

    /// The plan to watch when a person names none: the active one, else the one that is being carried out.
    pub async fn default_to_watch(&self, session: &SessionIdentity) -> LedgerResult<Arc<Plan>> {
        let snapshot = self.ledger().snapshot(session, None).await?;
        let opened = snapshot.opened()?;
        if let Some(active) = opened.plan_mode.active_plan.as_ref().and_then(|id| snapshot.plans.get(id)) {
            return Ok(Arc::clone(active));
        }
        let executing = self.executing(session).await?;
        match executing.as_slice() {
            [plan] => Ok(Arc::clone(plan)),
            [] => {
                let hint = hint_without_active(opened.plans_made);
                Err(Refusal::not_found(format!(
                    "No plan is active in session {session} and none is being carried out; {hint}."
                ))
                .into())
            }
            several => {
                let numbers: Vec<_> = several.iter().rev().map(|plan| plan.number.to_string()).collect();
                Err(Refusal::invalid(format!(
                    "Several plans are being carried out in session {session}: {}. Name one by its number.",
                    numbers.join(", ")
                ))
                .into())
            }
        }
    }

    async fn decide(&self, session: &SessionIdentity, by: &Actor, decision: Decision) -> LedgerResult<Arc<Plan>> {
        let id = decision.plan().clone();
        let signature = if let Decision::Signed { signature, .. } = &decision { Some(signature.clone()) } else { None };
        let committed = self.submitter.submit(session, by, Command::Decide(decision)).await?;
        if let Some(signature) = signature {
            let (approver, passkey) = (&signature.approver, signature.passkey.as_ref());
            let now = || self.submitter.now();
            approval_records::record_passkey_use(self.ledger(), by, approver, passkey, now).await;
        }
        lookup::named(&committed.snapshot, &id)
    }

    fn ledger(&self) -> &dyn Ledger {
        self.submitter.ledger().as_ref()
    }
}

fn reviewed(decision: Decision, review: Option<Review>) -> Decision {
    match review {
        Some(review) => Decision::Reviewed { decision: Box::new(decision), review },
        None => decision,
    }
}

fn hint_without_active(plans_made: u32) -> &'static str {
    if plans_made == 0 { "there are none yet" } else { "name one by its number" }
}
