//! What a person decides about a plan in a conversation. An approval is for the version they were shown there last.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::command::StuckChoice;
use planwright_core::ids::PlanId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::{Execution, StepRun, StepStatus};
use planwright_core::plan::lifecycle::Action;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Digest, Plan, PlanStatus, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;

use super::Answer;
use super::standing::{line, title};
use crate::agent::executing::summary;
use crate::agent::outcome::PlanCard;
use crate::agent::{Agent, Place, Progress, Seen, Watcher};
use crate::ledger::{LedgerError, LedgerResult};

impl Agent {
    pub(super) async fn approve_shown(
        &self,
        place: &Place,
        by: &Actor,
        plan: Option<&PlanReference>,
        approving: Approving,
        watcher: &Watcher,
    ) -> LedgerResult<Answer> {
        let session = &place.session;
        let plan = self.engine().find_plan(session, plan).await?;
        // What cannot be approved is refused without being sent: meanwhile it might have become what can.
        plan.permits(Action::Approve)?;
        let shown = match &place.seen {
            Seen::KnownToSession => self.engine().session(session).await?.shown,
            Seen::KnownHere(shown) => shown.clone(),
        };
        let shown = shown.filter(|shown| shown.plan == plan.id);
        let Some(digest) = shown.map(|shown| shown.digest) else {
            return self.show_first(session, by, &plan, "You have not seen this version here yet.").await;
        };
        match self.approve(session, by, &plan.id, digest, approving, watcher).await {
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::StaleApproval => {
                let plan = self.engine().plan(session, &plan.id).await?;
                self.show_first(session, by, &plan, "It has changed since you saw it.").await
            }
            outcome => outcome,
        }
    }

    /// Approves exactly the version with this digest and carries it out. When this answers, the work is over, or waits for
    /// a person; that it is approved is told on the way.
    pub async fn approve(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        digest: Digest,
        approving: Approving,
        watcher: &Watcher,
    ) -> LedgerResult<Answer> {
        let approved = self.approve_first(session, by, plan, digest, approving).await?;
        if let Some(left) = approved.left {
            return Ok(Answer::words(session, format!("{}\n\n{left}", approved.words)));
        }
        watcher.tell(Progress::Said(approved.words.clone()));
        let answer = if approved.plan.status == PlanStatus::Executing {
            self.carry_out(session, by, plan, watcher).await?
        } else {
            // Every step was ticked in the text already.
            Answer::words(session, summary(&approved.plan))
        };
        Ok(Answer { decided: Some(approved.words), ..answer })
    }

    /// The same, and answers as soon as it is approved. If the plan is `EXECUTING` then, its work is owed: whoever calls this
    /// has it carried out, or another process does after a crash.
    pub async fn approve_first(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        digest: Digest,
        approving: Approving,
    ) -> LedgerResult<Approved> {
        let Approving { selection, note } = approving;
        let engine = self.engine();
        let found = engine.plan(session, plan).await?;
        // A selection that does not fit is refused with the approval.
        let left_out = selection.over(&found.content.steps()).map(|selected| selected.skipped).unwrap_or_default();
        let left = match engine.drafted_elsewhere(&found).await? {
            Some(by) => Some(format!(
                "Its work is done by whoever drafted it, {by}. `/plan resume {}` has it done here instead.",
                found.number
            )),
            None => {
                let unable = self.check_able_without(&found, &left_out).err();
                unable.map(|unable| format!("It cannot be carried out here: {}", unable.message))
            }
        };
        let plan = match left {
            Some(_) => engine.approve(session, by, plan, digest, selection, note).await?,
            None => engine.approve_and_begin(session, by, plan, digest, selection, note).await?,
        };
        Ok(Approved { words: approved(&plan), plan, left })
    }

    /// Nothing is decided: the plan is shown, and the person is asked to say it again.
    async fn show_first(&self, session: &SessionIdentity, by: &Actor, plan: &Plan, why: &str) -> LedgerResult<Answer> {
        let card = PlanCard::from(plan);
        self.show(session, by, &card).await?;
        let reply = format!("{why} Nothing was approved. Read it, then type `/plan approve {}` again.", plan.number);
        Ok(Answer::refusal(session, RefusalCode::StaleApproval, reply).with_plan(card))
    }

    pub(super) async fn reject(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: Option<&PlanReference>,
        reason: Option<String>,
    ) -> LedgerResult<Answer> {
        let plan = self.engine().find_plan(session, plan).await?;
        let plan = self.engine().reject(session, by, &plan.id, reason).await?;
        Ok(Answer::words(session, format!("{} `/plan on` begins a new one.", line(&plan))))
    }

    /// Asks for changes, and has the agent make them.
    pub(super) async fn revise(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: Option<&PlanReference>,
        feedback: String,
        watcher: &Watcher,
    ) -> LedgerResult<Answer> {
        let plan = self.engine().find_plan(session, plan).await?;
        let asked = self.revise_first(session, by, &plan.id, feedback).await?;
        Ok(self.send(session, by, &asked.message, watcher).await?.into())
    }

    /// Asks for changes. The agent makes them when it is sent the message.
    pub async fn revise_first(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        feedback: String,
    ) -> LedgerResult<RevisionAsked> {
        self.check_room(session, &feedback).await?;
        let revised = self.engine().revise(session, by, plan, feedback.clone()).await?;
        self.shared.slots.stop_work_on(session, plan).await;
        let message = format!("Revise plan {}: {feedback}", revised.number);
        Ok(RevisionAsked { plan: revised, message })
    }

    pub(super) async fn cancel(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: Option<&PlanReference>,
        reason: Option<String>,
    ) -> LedgerResult<Answer> {
        let plan = self.engine().find_plan(session, plan).await?;
        let plan = self.cancel_plan(session, by, &plan.id, reason).await?;
        Ok(Answer::words(session, line(&plan)))
    }

    /// Cancels the plan and stops whoever works on it here.
    pub async fn cancel_plan(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        reason: Option<String>,
    ) -> LedgerResult<Arc<Plan>> {
        let cancelled = self.engine().cancel(session, by, plan, reason).await?;
        self.shared.slots.stop_work_on(session, plan).await;
        Ok(cancelled)
    }

    /// Goes on with a plan, and says what becomes of the step it stopped at if that needs to be said.
    pub async fn resume_plan(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        choice: Option<StuckChoice>,
        watcher: &Watcher,
    ) -> LedgerResult<Answer> {
        match self.settle_stuck(session, by, plan, choice).await? {
            Settled::ToBeSaid(question) => Ok(Answer::refusal(session, RefusalCode::WrongStatus, question)),
            Settled::Over(plan) => Ok(Answer::words(session, summary(&plan))),
            Settled::GoesOn(plan) => self.carry_out(session, by, &plan.id, watcher).await,
        }
    }

    /// The same, and answers as soon as the work is begun. If the plan is `EXECUTING` then, whoever calls this has it
    /// carried out.
    pub async fn resume_first(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        choice: Option<StuckChoice>,
    ) -> LedgerResult<Arc<Plan>> {
        let plan = match self.settle_stuck(session, by, plan, choice).await? {
            Settled::ToBeSaid(question) => return Err(Refusal::wrong_status(question).into()),
            Settled::Over(plan) => return Ok(plan),
            Settled::GoesOn(plan) => plan,
        };
        let active = self.engine().session(session).await?.plan_mode.active_plan;
        let parked = plan.style() == PlanStyle::Document && active.as_ref() != Some(&plan.id);
        let paused = plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
        if plan.status == PlanStatus::Executing && !parked && !paused {
            return Ok(plan);
        }
        self.engine().resume(session, by, &plan.id).await
    }

    /// What becomes of the step that a plan stopped at, if there is one.
    async fn settle_stuck(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: &PlanId,
        choice: Option<StuckChoice>,
    ) -> LedgerResult<Settled> {
        let plan = self.engine().plan(session, plan).await?;
        match choice {
            None | Some(StuckChoice::Retry) => self.check_able(&plan)?,
            Some(StuckChoice::Skip | StuckChoice::Stop) => {}
        }
        let stuck = plan.execution.as_ref().and_then(Execution::stuck_at);
        match (choice, stuck) {
            (None, Some((position, run))) if run.status == StepStatus::Uncertain && !self.may_repeat(&plan, run) => {
                Ok(Settled::ToBeSaid(ask_what_to_do(&plan, position, run)))
            }
            (Some(choice), Some((_, run))) => {
                let settled = self.engine().settle(session, by, &plan.id, &run.step, choice).await?;
                let over = choice == StuckChoice::Stop || settled.status != PlanStatus::Executing;
                Ok(if over { Settled::Over(settled) } else { Settled::GoesOn(settled) })
            }
            (Some(StuckChoice::Stop), None) if plan.status == PlanStatus::Executing => {
                Ok(Settled::Over(self.engine().finish_execution(session, by, &plan).await?))
            }
            (Some(choice), None) => {
                let message =
                    format!("Plan {} did not stop at a step; there is nothing to {}.", plan.number, choice.as_str());
                Err(Refusal::wrong_status(message).into())
            }
            (None, Some(_) | None) => Ok(Settled::GoesOn(plan)),
        }
    }
}

/// What an approval came to.
#[derive(Debug, Clone)]
pub struct Approved {
    pub plan: Arc<Plan>,
    /// What was decided, in Markdown.
    pub words: String,
    /// Why its work is not begun here, if it cannot be.
    pub left: Option<String>,
}

/// A request for changes that is on disk.
#[derive(Debug, Clone)]
pub struct RevisionAsked {
    /// The plan that the agent works on now: the same one, or the one that took its place.
    pub plan: Arc<Plan>,
    /// What the agent is to be sent.
    pub message: String,
}

/// What becomes of a plan that is to go on.
enum Settled {
    /// A person has to say first what becomes of a step.
    ToBeSaid(String),
    Over(Arc<Plan>),
    GoesOn(Arc<Plan>),
}

/// What a person approves besides the text: which steps, and with what note.
#[derive(Debug, Clone, Default)]
pub struct Approving {
    pub selection: Selection,
    pub note: Option<String>,
}

/// What is known about a step that nobody knows the end of, and what can be said.
fn ask_what_to_do(plan: &Plan, position: usize, run: &StepRun) -> String {
    let known = run.note.as_deref().map_or_else(String::new, |note| format!(" What is known: {}.", title(note)));
    format!(
        "Nobody knows whether step {position} of plan {} was done: {}.{known}\n\n\
         - `/plan resume {number} retry` does it again\n\
         - `/plan resume {number} skip` goes on without it\n\
         - `/plan resume {number} stop` ends the execution there\n\
         - `/plan revise {number} WHAT TO CHANGE` plans anew",
        plan.number,
        title(&run.description),
        number = plan.number,
    )
}

fn approved(plan: &Plan) -> String {
    let mut text = format!("Plan {} is approved: {}.", plan.number, title(&plan.display_title()));
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let steps = plan.content.steps();
    for skip in skipped {
        let words =
            steps.get(skip.position.saturating_sub(1)).map_or_else(String::new, |step| title(&step.description));
        text.push_str(&format!("\n- step {} will not be done ({}): {words}", skip.position, skip.why));
    }
    text
}
