//! What a person decides about a plan in a conversation. An approval is for the version they were shown there last.

use planwright_core::actor::Actor;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::lifecycle::Action;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;

use super::Answer;
use super::plans::{line, title};
use crate::agent::executing::summary;
use crate::agent::outcome::PlanCard;
use crate::agent::{Agent, Place, Seen, Watcher};
use crate::ledger::{LedgerError, LedgerResult};

impl Agent {
    pub(super) async fn approve_shown(
        &self,
        place: &Place,
        by: &Actor,
        plan: Option<&PlanReference>,
        selection: Selection,
        note: Option<String>,
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
        match self.engine().approve(session, by, &plan.id, digest, selection, note).await {
            Ok(plan) => Ok(Answer::words(session, approved(&plan))),
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::StaleApproval => {
                let plan = self.engine().plan(session, &plan.id).await?;
                self.show_first(session, by, &plan, "It has changed since you saw it.").await
            }
            Err(error) => Err(error),
        }
    }

    /// Nothing is decided: the plan is shown, and the person is asked to say it again.
    async fn show_first(&self, session: &SessionIdentity, by: &Actor, plan: &Plan, why: &str) -> LedgerResult<Answer> {
        let card = PlanCard::from(plan);
        self.show(session, by, &card).await?;
        let reply = format!("{why} Nothing was approved. Read it, then type `/plan approve {}` again.", plan.number);
        Ok(Answer::refusal(session, reply).with_plan(card))
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
        self.check_room(session, &feedback).await?;
        let plan = self.engine().revise(session, by, &plan.id, feedback.clone()).await?;
        let message = format!("Revise plan {}: {feedback}", plan.number);
        Ok(self.send(session, by, &message, watcher).await?.into())
    }

    pub(super) async fn cancel(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: Option<&PlanReference>,
        reason: Option<String>,
    ) -> LedgerResult<Answer> {
        let plan = self.engine().find_plan(session, plan).await?;
        let plan = self.engine().cancel(session, by, &plan.id, reason).await?;
        Ok(Answer::words(session, line(&plan)))
    }

    pub(super) async fn resume_plan(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        plan: Option<&PlanReference>,
        watcher: &Watcher,
    ) -> LedgerResult<Answer> {
        let plan = self.engine().find_plan(session, plan).await?;
        if plan.style() == PlanStyle::Document {
            let plan = self.engine().resume(session, by, &plan.id).await?;
            return Ok(Answer::words(session, format!("{} Say `go on` and the agent begins.", line(&plan))));
        }
        let plan = self.carry_out_plan(session, by, &plan.id, watcher).await?;
        Ok(Answer::words(session, summary(&plan)))
    }
}

fn approved(plan: &Plan) -> String {
    let mut text = line(plan);
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let steps = plan.content.steps();
    for skip in skipped {
        let words =
            steps.get(skip.position.saturating_sub(1)).map_or_else(String::new, |step| title(&step.description));
        text.push_str(&format!("\n- step {} will not be done ({}): {words}", skip.position, skip.why));
    }
    text.push_str(&match plan.style() {
        PlanStyle::Document => "\n\nSay `go on` and the agent begins.".to_owned(),
        PlanStyle::Collect => format!("\n\n`/plan resume {}` carries it out.", plan.number),
        PlanStyle::Build => "\n\nThis version of Planwright does not carry out such plans by itself yet.".to_owned(),
    });
    text
}
