//! A document is carried out in the conversation: a turn that works from the text and reports on its steps.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::PlanId;
use planwright_core::plan::execution::Pause;
use planwright_core::plan::{Execution, Plan, PlanStatus};
use planwright_core::prompt::specialist;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::TurnEnd;

use super::{summary, uncertain};
use crate::agent::Agent;
use crate::agent::commands::standing;
use crate::agent::lease::is_over_or_taken;
use crate::agent::turn::{Begins, Begun, Delivery, Message};
use crate::ledger::{LedgerError, LedgerResult};
use crate::session::outcome::{Answer, TurnOutcome};
use crate::session::progress::Progress;
use crate::session::task::InputContext;

/// The part of a request that has a document carried out.
const TURN: &str = "turn";

impl Agent {
    /// Begins the work on an approved document, or continues it.
    pub(super) async fn work_on_document(&self, plan: &PlanId, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        // What was interrupted may be the work on this very document.
        match self.open_turn(session).await? {
            Some(open) if open.purpose.plan() == Some(plan) => {
                if let Some(outcome) = Box::pin(self.finish_turn(&open, Delivery::Answer, context)).await? {
                    return Ok(outcome.into());
                }
            }
            Some(_) | None => {}
        }
        let before = self.engine().plans().get(session, plan).await?.status;
        Box::pin(self.finish_first(context)).await?;
        let now = self.engine().plans().get(session, plan).await?;
        // What was interrupted was this very plan, and it has come to its end.
        if before == PlanStatus::Executing && now.status != PlanStatus::Executing {
            return Ok(Answer::words(session, summary(&now)));
        }
        match Box::pin(self.turn_on_document(plan, context)).await {
            // Another process came to its end with it meanwhile.
            Err(error) if is_over_or_taken(&error) => {
                let now = self.engine().plans().get(session, plan).await?;
                let over = now.status != before && now.status != PlanStatus::Executing;
                if over { Ok(Answer::words(session, summary(&now))) } else { Err(error) }
            }
            answer => answer,
        }
    }

    async fn turn_on_document(&self, plan: &PlanId, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let mut found = self.begun_document(session, context.by(), plan).await?;
        if is_paused(&found) {
            // Another process carried out this request, and its turn left steps open. Only a person resumes that.
            let answer = match Box::pin(self.document_turn_before(context)).await? {
                Some(outcome) => outcome.into(),
                None => Answer::words(session, String::new()),
            };
            return self.with_pause(answer, plan, session).await;
        }
        // The first turn belongs to the request, so that sent again it finds the turn.
        let mut request = context.part(self.engine(), TURN).submitter().next_request();
        loop {
            let text = match &found.execution {
                Some(execution) if execution.number == 1 && !execution.is_touched() && execution.idle_turns() == 0 => {
                    specialist::approved_document(&found)
                }
                Some(_) | None => specialist::open_document(&found),
            };
            let seen = found.execution.as_ref().and_then(|execution| execution.pause);
            let begins = Begins::Document { plan: plan.clone(), seen };
            let message = Message { request: request.clone(), text: &text, begins };
            let system = Actor::system(session.channel.as_str());
            let outcome = match Box::pin(self.begin(&system, message, context)).await? {
                Begun::Now(mut turn) => Box::pin(turn.finish_turn()).await?,
                Begun::Before { turn, seq } => {
                    return Ok(Box::pin(self.outcome_of_turn(&turn, seq, context)).await?.into());
                }
            };
            match self.to_nudge(&outcome, plan, context).await? {
                Some(open) => {
                    context.progress.send(Progress::Finished(Box::new(outcome)));
                    found = open;
                    request = self.engine().submitter().next_request();
                }
                None => return self.with_pause(outcome.into(), plan, session).await,
            }
        }
    }

    /// The answer says how far the document is if its execution is paused now, and how it continues.
    async fn with_pause(&self, mut answer: Answer, plan: &PlanId, session: &SessionIdentity) -> LedgerResult<Answer> {
        let Some(open) = self.active_document(session, plan).await? else { return Ok(answer) };
        if is_paused(&open) {
            let far = standing(&open);
            if !answer.reply.contains(&far) {
                let gap = if answer.reply.is_empty() { "" } else { "\n\n" };
                answer.reply.push_str(&format!("{gap}{far}"));
            }
            answer.reply.push_str(&format!(" It is paused; `/plan resume {}` continues it.", open.number));
        }
        Ok(answer)
    }

    /// The document, if the turn that ended left steps open and the agent is to be reminded of them. Only a turn that
    /// ended in the model's own words is followed by another one, and only so often without any recorded progress.
    async fn to_nudge(
        &self,
        outcome: &TurnOutcome,
        plan: &PlanId,
        context: &InputContext,
    ) -> LedgerResult<Option<Arc<Plan>>> {
        let is_to_end = context.work.stop.is_cancelled() || self.shared.shutdown.is_requested();
        if outcome.end != TurnEnd::Answered || is_to_end {
            return Ok(None);
        }
        let Some(open) = self.active_document(context.session(), plan).await? else { return Ok(None) };
        let waits = |execution: &Execution| {
            execution.idle_turns() > self.engine().policy().nudges || uncertain(&execution.steps).is_some()
        };
        Ok(Some(open).filter(|open| open.execution.as_ref().is_some_and(|execution| !waits(execution))))
    }

    /// The outcome of the turn that this very request had the document carried out in.
    pub(in crate::agent) async fn document_turn_before(
        &self,
        context: &InputContext,
    ) -> LedgerResult<Option<TurnOutcome>> {
        let Some(id) = context.request.part(TURN) else { return Ok(None) };
        let Some(committed) = self.engine().submitter().find_request(context.session(), context.by(), &id).await?
        else {
            return Ok(None);
        };
        let turn = committed.events.iter().find_map(|event| match event {
            Event::Turn { id, event: TurnEvent::Begun { .. } } => Some(id),
            _ => None,
        });
        let Some(turn) = turn else { return Ok(None) };
        self.outcome_of_turn(turn, committed.seq, context).await.map(Some)
    }

    /// The document as it is carried out. Its execution begins now if no process has begun it.
    async fn begun_document(&self, session: &SessionIdentity, by: &Actor, plan: &PlanId) -> LedgerResult<Arc<Plan>> {
        if let Some(found) = self.active_document(session, plan).await? {
            return Ok(found);
        }
        match self.engine().plans().resume(session, by, plan).await {
            // Another process began it first.
            Err(error @ LedgerError::Refused(_)) => self.active_document(session, plan).await?.ok_or(error),
            resumed => resumed,
        }
    }

    async fn active_document(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<Option<Arc<Plan>>> {
        let snapshot = self.engine().ledger().snapshot(session, Some(plan)).await?;
        let active = snapshot.active().filter(|active| active.id == *plan && active.status == PlanStatus::Executing);
        Ok(active.cloned().map(Arc::new))
    }
}

fn is_paused(plan: &Plan) -> bool {
    plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some())
}

/// Whether a person asked for the work and no turn has begun it yet. One whose turn ended is paused.
pub(super) fn is_to_begin(plan: &Plan) -> bool {
    plan.execution.as_ref().is_some_and(|execution| match execution.pause {
        Some(Pause::Paused { .. }) => false,
        Some(Pause::Resumed { .. }) => true,
        None => !execution.is_touched(),
    })
}
