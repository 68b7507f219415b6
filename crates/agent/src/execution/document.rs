//! A document is carried out in the conversation: a turn that works from the text and reports on its steps.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::PlanId;
use planwright_core::plan::execution::Pause;
use planwright_core::plan::{Execution, Plan, PlanStatus};
use planwright_core::prompt::specialist;
use planwright_core::turn::TurnEnd;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::plan_status::{execution_choices, progress_line};

use super::{Executions, summary, uncertain};
use crate::leases::is_over_or_taken;
use crate::session::outcome::{Answer, TurnOutcome};
use crate::session::progress::Progress;
use crate::session::work::InputContext;
use crate::turn::{AnswerDelivery, Begins, Begun, TurnMessage};

/// The name of the part of a request that begins the nth turn on a document.
fn turn_part(number: u32) -> String {
    if number == 1 { "turn".to_owned() } else { format!("turn-{number}") }
}

/// The work on one document for one input.
pub(super) struct DocumentWork<'a> {
    executions: &'a Executions,
    plan: &'a PlanId,
    context: &'a InputContext,
}

impl<'a> DocumentWork<'a> {
    pub(super) fn new(executions: &'a Executions, plan: &'a PlanId, context: &'a InputContext) -> Self {
        Self { executions, plan, context }
    }

    /// Begins the work on an approved document, or continues it.
    pub(super) async fn run(&self) -> LedgerResult<Answer> {
        let Self { plan, context, .. } = *self;
        let session = context.session();
        // The interrupted turn may be the work on this document.
        match self.executions.turns.open_turn(session).await? {
            Some(open) if open.purpose.plan() == Some(plan) => {
                if let Some(outcome) =
                    Box::pin(self.executions.turns.finish_open(&open, AnswerDelivery::Answer, context)).await?
                {
                    return Ok(outcome.into());
                }
            }
            Some(_) | None => {}
        }
        let before = self.engine().plans().get(session, plan).await?.status;
        Box::pin(self.executions.turns.finish_first(context, self.executions)).await?;
        let now = self.engine().plans().get(session, plan).await?;
        // The interrupted turn worked on this plan and finished it.
        if before == PlanStatus::Executing && now.status != PlanStatus::Executing {
            return Ok(Answer::text(session, summary(&now)));
        }
        match Box::pin(self.work()).await {
            // Another process finished it meanwhile.
            Err(error) if is_over_or_taken(&error) => {
                let now = self.engine().plans().get(session, plan).await?;
                let over = now.status != before && now.status != PlanStatus::Executing;
                if over { Ok(Answer::text(session, summary(&now))) } else { Err(error) }
            }
            answer => answer,
        }
    }

    async fn work(&self) -> LedgerResult<Answer> {
        let Self { plan, context, .. } = *self;
        let session = context.session();
        let mut found = self.start().await?;
        if found.is_paused() {
            // Another process carried out this request, and its turn left steps open. Only a person resumes that.
            return match self.answer_before().await? {
                Some(answer) => Ok(answer),
                None => self.with_pause(Answer::text(session, String::new())).await,
            };
        }
        // The turns belong to the request, so that sent again it finds them.
        let mut turns = 1;
        let mut request = context.part(self.engine(), &turn_part(turns)).submitter().next_request();
        loop {
            let text = match &found.execution {
                // A person's own turn between two of these resets the count of idle ones.
                Some(execution)
                    if turns == 1
                        && execution.number == 1
                        && !execution.is_touched()
                        && execution.idle_turns() == 0 =>
                {
                    specialist::approved_document(&found)
                }
                Some(_) | None => specialist::open_document(&found),
            };
            let seen = found.execution.as_ref().and_then(|execution| execution.pause);
            let begins = Begins::Document { plan: plan.clone(), seen };
            let message = TurnMessage { request: request.clone(), text: &text, begins };
            let system = Actor::system(session.channel.as_str());
            let snapshot = self.executions.turns.snapshot(session).await?;
            let prepared = self.executions.turns.prepare(&snapshot, message).await?;
            let outcome =
                match Box::pin(self.executions.turns.begin_turn(&system, &prepared, context, self.executions)).await? {
                    Begun::New(mut turn) => Box::pin(turn.finish_turn()).await?,
                    Begun::Replayed { turn, seq } => {
                        return Ok(Box::pin(self.executions.turns.outcome_of(&turn, seq, context)).await?.into());
                    }
                };
            match self.to_nudge(&outcome).await? {
                Some(open) => {
                    context.progress.send(Progress::Finished(Box::new(outcome)));
                    found = open;
                    turns += 1;
                    request = context.part(self.engine(), &turn_part(turns)).submitter().next_request();
                }
                None => return self.with_pause(outcome.into()).await,
            }
        }
    }

    /// The answer to this request, if it had the document carried out before.
    pub(super) async fn answer_before(&self) -> LedgerResult<Option<Answer>> {
        match Box::pin(turn_before(self.executions, self.context)).await? {
            Some(outcome) => self.with_pause(outcome.into()).await.map(Some),
            None => Ok(None),
        }
    }

    /// The answer says how far the document is if its execution is paused now, and how it continues.
    async fn with_pause(&self, mut answer: Answer) -> LedgerResult<Answer> {
        let Some(open) = self.active().await? else { return Ok(answer) };
        // A turn that asks something goes on with the answer.
        if open.is_paused() && answer.ask.is_none() {
            let braked = open.execution.as_ref().and_then(|execution| self.engine().policy().brakes(execution));
            let why = braked.map(|why| format!("Planwright does not continue by itself: {why}."));
            for text in [Some(progress_line(&open)), execution_choices(&open), why].into_iter().flatten() {
                if !answer.reply.contains(&text) {
                    let gap = if answer.reply.is_empty() { "" } else { "\n\n" };
                    answer.reply.push_str(&format!("{gap}{text}"));
                }
            }
        }
        Ok(answer)
    }

    /// The document, if the turn that ended left steps open and the agent is to be reminded of them. Only a turn that
    /// ended in the model's own words is followed by another one, and only so often without any recorded progress.
    async fn to_nudge(&self, outcome: &TurnOutcome) -> LedgerResult<Option<Arc<Plan>>> {
        let is_to_end = self.context.work.stop.is_cancelled() || self.executions.agent.shutdown.is_requested();
        if outcome.end != Some(TurnEnd::Answered) || is_to_end {
            return Ok(None);
        }
        let Some(open) = self.active().await? else { return Ok(None) };
        let waits = |execution: &Execution| {
            self.engine().policy().brakes(execution).is_some()
                || uncertain(&execution.steps).is_some()
                || execution.step_pause().is_some()
        };
        Ok(Some(open).filter(|open| open.execution.as_ref().is_some_and(|execution| !waits(execution))))
    }

    /// The document as it is carried out. Its execution begins now if no process has begun it.
    async fn start(&self) -> LedgerResult<Arc<Plan>> {
        if let Some(found) = self.active().await? {
            return Ok(found);
        }
        match self.engine().plans().resume(self.context.session(), self.context.by(), self.plan).await {
            // Another process began it first.
            Err(error @ LedgerError::Refused(_)) => self.active().await?.ok_or(error),
            resumed => resumed,
        }
    }

    /// The document, if it is the active plan and being carried out.
    async fn active(&self) -> LedgerResult<Option<Arc<Plan>>> {
        let snapshot = self.engine().ledger().snapshot(self.context.session(), Some(self.plan)).await?;
        let active =
            snapshot.active().filter(|active| active.id == *self.plan && active.status == PlanStatus::Executing);
        Ok(active.cloned().map(Arc::new))
    }

    fn engine(&self) -> &'a Engine {
        self.executions.agent.engine()
    }
}

/// The outcome of the last turn in which this request had the document carried out before.
pub(super) async fn turn_before(executions: &Executions, context: &InputContext) -> LedgerResult<Option<TurnOutcome>> {
    let (ledger, mut last) = (executions.agent.engine().ledger(), None);
    for number in 1.. {
        let Some(id) = context.request.part(&turn_part(number)) else { break };
        let Some(committed) = ledger.find_request(context.session(), &id).await? else { break };
        last = Some(committed);
    }
    let Some(committed) = last else { return Ok(None) };
    let turn = committed.events.iter().find_map(|event| match event {
        Event::Turn { id, event: TurnEvent::Begun { .. } } => Some(id),
        _ => None,
    });
    let Some(turn) = turn else { return Ok(None) };
    executions.turns.outcome_of(turn, committed.seq, context).await.map(Some)
}

/// Whether a person asked for the work and no turn has begun it yet. One whose turn ended is paused.
pub(super) fn is_to_begin(plan: &Plan) -> bool {
    plan.execution.as_ref().is_some_and(|execution| match execution.pause {
        Some(Pause::Paused { .. } | Pause::Working { .. }) => false,
        Some(Pause::Resumed { .. }) => true,
        None => !execution.is_touched(),
    })
}
