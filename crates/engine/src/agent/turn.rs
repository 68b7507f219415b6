//! A turn from its beginning to its end: the state machine in `core` says what comes next, this carries it out and
//! writes down what it came to before going on.

mod abort;
mod finish;
mod planner;
mod record;
mod replay;
mod since;
mod start;

pub(super) use abort::TurnAbort;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::{Conversation, CountTokens as _};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::{PlanId, RequestId, TurnId};
use planwright_core::plan::execution::Pause;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{Effect, EndReason, Purpose, Turn, TurnEnd, TurnInput, TurnLimit, TurnLimits};

use super::Agent;
use super::conversation_cache::CachedConversation;
use crate::ledger::{Committed, LedgerResult};
use crate::session::lease::LeaseGuard;
use crate::session::outcome::TurnOutcome;
use crate::session::shutdown::shutting_down;
use crate::session::task::{InputContext, Running};

impl Agent {
    /// Has the agent answer a message, after whatever a process left open in the session.
    pub(super) async fn answer_message(
        &self,
        request: RequestId,
        text: &str,
        context: &InputContext,
    ) -> LedgerResult<TurnOutcome> {
        Box::pin(self.finish_first(context)).await?;
        let message = Message { request, text, begins: Begins::Answer };
        let outcome = match Box::pin(self.begin(context.by(), message, context)).await? {
            Begun::Now(mut turn) => Box::pin(turn.finish_turn()).await?,
            Begun::Before { turn, seq } => self.outcome_of_turn(&turn, seq, context).await?,
        };
        Box::pin(self.approve_by_rule(outcome, context)).await
    }

    /// Resumes a turn of the conversation that its process left open, if there is one.
    pub(super) async fn resume_turn(&self, context: &InputContext) -> LedgerResult<Option<TurnOutcome>> {
        match self.open_turn(context.session()).await? {
            Some(open) if open.purpose.is_conversation() => {
                Box::pin(self.finish_turn(&open, Delivery::Answer, context)).await
            }
            // A turn for a step is resumed with its execution.
            Some(_) | None => Ok(None),
        }
    }

    /// Stops what runs in a session, in whichever process. Says whether there was something.
    pub(super) async fn stop_session(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        running: &Running,
    ) -> LedgerResult<bool> {
        // What only waits here waits for work in another process, and that is what runs.
        let mut stopped = !running.is_nothing();
        if !running.holds_lease() {
            let committed = self.engine().submit(session, by, Command::Turn(TurnCommand::Stop)).await?;
            stopped |= !committed.events.is_empty();
            stopped |= self.stop_executions(self.engine(), session, by).await?;
        }
        running.stop().await;
        Ok(stopped)
    }

    /// The same for a request that may arrive twice: it stops what runs when it arrives first, and nothing later.
    pub(super) async fn stop_once(&self, context: &InputContext, running: &Running) -> LedgerResult<bool> {
        if self.find_request(context).await?.is_some() {
            return Ok(true);
        }
        let (session, by) = (context.session(), context.by());
        let mut stopped = !running.is_nothing();
        if running.holds_lease() {
            running.stop_for(context.request.id.as_ref()).await;
            return Ok(stopped);
        }
        let named = || context.engine(self.engine());
        let committed = named().submit(session, by, Command::Turn(TurnCommand::Stop)).await?;
        let is_written = !committed.events.is_empty();
        // One entry has the name of the request.
        let engine = if is_written { self.engine().clone() } else { named() };
        stopped |= is_written | self.stop_executions(&engine, session, by).await?;
        running.stop().await;
        Ok(stopped)
    }

    async fn run<'a>(
        &'a self,
        id: TurnId,
        committed: Committed,
        held: LeaseGuard,
        context: &'a InputContext,
    ) -> LedgerResult<TurnRunner<'a>> {
        context.work.holds_lease.cancel();
        let (conversation, turn) = self.recall(&committed, &id).await?;
        let executing = committed.snapshot.active().filter(|plan| plan.status == PlanStatus::Executing);
        context.work.carries_out(executing.map(|plan| &plan.id));
        let limits = self.engine().policy().turn.clone();
        Ok(self.run_turn(turn, conversation, committed, Arc::new(held), limits, context))
    }

    /// A turn that is under way under this lease, wherever it stands.
    pub(super) fn run_turn<'a>(
        &'a self,
        turn: Turn,
        conversation: Conversation,
        committed: Committed,
        held: Arc<LeaseGuard>,
        limits: TurnLimits,
        context: &'a InputContext,
    ) -> TurnRunner<'a> {
        let session = committed.snapshot.identity.clone();
        TurnRunner {
            agent: self,
            actor: self.actor_for(&session, &turn.purpose),
            session,
            held: Some(held),
            begun_seq: begun_seq(&committed, &turn.id),
            turn,
            limits,
            conversation,
            seq: committed.seq,
            before: committed.snapshot.active().map(PlanState::of),
            snapshot: committed.snapshot,
            settled: None,
            resumed: false,
            delivery: Delivery::Answer,
            given_up: false,
            tightened: 0,
            started: self.engine().now(),
            context,
        }
    }
}

/// The entry that began the turn, if it was just written.
fn begun_seq(committed: &Committed, turn: &TurnId) -> Option<u64> {
    let first = committed.seq + 1 - committed.events.len() as u64;
    let begun = |event: &Event| match event {
        Event::Turn { id, event: TurnEvent::Begun { .. } } => id == turn,
        _ => false,
    };
    committed.events.iter().position(begun).map(|index| first + index as u64)
}

/// What begins a turn.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) request: RequestId,
    pub(super) text: &'a str,
    pub(super) begins: Begins,
}

/// What a message begins.
#[derive(Debug)]
pub(super) enum Begins {
    Answer,
    /// A turn that works on a document, whose execution was seen like this.
    Document {
        plan: PlanId,
        seen: Option<Pause>,
    },
}

/// A turn that was to begin.
#[derive(Debug)]
pub(super) enum Begun<'a> {
    Now(Box<TurnRunner<'a>>),
    /// The very request was sent before, and began the turn with this entry.
    Before {
        turn: TurnId,
        seq: u64,
    },
}

/// Everything one turn works with.
#[derive(Debug)]
pub(super) struct TurnRunner<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session: SessionIdentity,
    pub(super) actor: Actor,
    /// Shared with whatever the turn is a part of; the turn of a conversation has it for itself.
    pub(super) held: Option<Arc<LeaseGuard>>,
    pub(super) turn: Turn,
    pub(super) limits: TurnLimits,
    pub(super) conversation: Conversation,
    /// The last entry of the journal that the conversation knows.
    seq: u64,
    /// The session and its active plan, as of the last thing that was written.
    pub(super) snapshot: Snapshot,
    /// The active plan when the turn began.
    before: Option<PlanState>,
    /// The plan that a plan tool settled.
    pub(super) settled: Option<PlanId>,
    /// Whether the call that is to be carried out next may have been begun before a crash.
    pub(super) resumed: bool,
    delivery: Delivery,
    /// It was interrupted too often; nothing more is tried.
    given_up: bool,
    /// How often the model said that the request was too long.
    pub(super) tightened: u32,
    started: Timestamp,
    /// The entry that began the turn, unless another process wrote it.
    begun_seq: Option<u64>,
    pub(super) context: &'a InputContext,
}

/// How the outcome reaches the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// It is the answer to what they said.
    Answer,
    /// It is told beside something else and may go unread. A plan in it does not count as shown.
    OnTheWay,
}

/// How far a plan is.
#[derive(Debug, PartialEq, Eq)]
struct PlanState {
    plan: PlanId,
    status: PlanStatus,
    done: Option<usize>,
}

impl PlanState {
    fn of(plan: &Plan) -> Self {
        let done = plan.execution.as_ref().map(|execution| execution.progress().done);
        Self { plan: plan.id.clone(), status: plan.status, done }
    }
}

impl TurnRunner<'_> {
    pub(super) async fn finish_turn(&mut self) -> LedgerResult<TurnOutcome> {
        match Box::pin(self.go_on()).await {
            Ok(outcome) => Ok(outcome),
            Err(TurnAbort::Stopped { heard, under_way }) => self.stopped(heard, under_way).await,
            Err(TurnAbort::ModelFailed { message }) => self.end_unless_over(TurnEnd::ModelFailed { message }).await,
            Err(TurnAbort::OutOfTime) => self.end_unless_over(TurnEnd::LimitReached { limit: TurnLimit::Time }).await,
            Err(TurnAbort::Elsewhere) => self.ended_elsewhere().await,
            Err(TurnAbort::Left) => {
                if let Some(held) = self.held.take().filter(|_| self.turn.purpose.is_conversation()) {
                    self.agent.release(&held).await;
                }
                Err(shutting_down())
            }
            Err(TurnAbort::Ledger(error)) => Err(error),
        }
    }

    /// Nothing more is tried in it: it only ends.
    pub(super) fn give_up(&mut self) {
        self.given_up = true;
    }

    async fn go_on(&mut self) -> Result<TurnOutcome, TurnAbort> {
        if self.given_up {
            return Ok(self.end(TurnEnd::Interrupted, Vec::new()).await?);
        }
        self.open_workbook().await;
        loop {
            if self.plan_is_over() {
                return Ok(self.end(TurnEnd::Stopped, Vec::new()).await?);
            }
            let input = match self.next() {
                Effect::End(over) => return Ok(self.over(over, Vec::new()).await?),
                // Here nothing is under way, and another process goes on as if it had been this one.
                Effect::CallModel if self.agent.shared.shutdown.is_requested() => return Err(TurnAbort::Left),
                Effect::CallModel => {
                    // Whatever is called from here on was not begun before a crash.
                    self.resumed = false;
                    let Some(input) = self.ask_model().await? else { continue };
                    input
                }
                Effect::RunTool(pending) => {
                    // Nothing is begun after a stop.
                    if self.context.work.stop.is_cancelled() {
                        let halt = TurnAbort::Stopped { heard: String::new(), under_way: None };
                        return Err(halt.in_the_middle_of(&pending, self.effect_before(&pending)));
                    }
                    let outcome = Box::pin(self.carry_out(&pending)).await?;
                    let tokens = self.agent.shared.tokens.count(&outcome.text);
                    TurnInput::ToolEnded { call: pending.number, outcome, tokens }
                }
            };
            self.turn.take_in(&input);
            match self.next() {
                Effect::End(over) => return Ok(self.over(over, vec![input]).await?),
                Effect::CallModel | Effect::RunTool(_) => self.record(vec![input], None).await?,
            }
        }
    }

    /// Somebody ended or replaced the document that this turn carries out. What took its place is not approved.
    fn plan_is_over(&self) -> bool {
        let Purpose::Document { plan } = &self.turn.purpose else { return false };
        self.snapshot.plan(plan).is_some_and(|plan| match plan.status {
            PlanStatus::Rejected | PlanStatus::Cancelled | PlanStatus::Superseded => true,
            PlanStatus::Collecting
            | PlanStatus::Ready
            | PlanStatus::Approved
            | PlanStatus::Executing
            | PlanStatus::Completed
            | PlanStatus::PartiallyCompleted => false,
        })
    }

    fn next(&self) -> Effect {
        self.turn.next(&self.limits, self.elapsed())
    }

    pub(super) fn elapsed(&self) -> Duration {
        let elapsed = self.agent.engine().now().duration_since(self.started);
        Duration::try_from(elapsed).unwrap_or_default()
    }

    async fn over(&mut self, over: EndReason, inputs: Vec<TurnInput>) -> LedgerResult<TurnOutcome> {
        let end = match over {
            EndReason::Because(end) => end,
            EndReason::Planned => self.planned_end().await?,
        };
        self.end(end, inputs).await
    }

    /// Ready when the turn is to stop, and why.
    pub(super) async fn interrupted(&self) -> TurnAbort {
        let lost = async {
            match &self.held {
                Some(held) => held.lost().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.context.work.stop.cancelled() => TurnAbort::Stopped { heard: String::new(), under_way: None },
            () = lost => TurnAbort::Elsewhere,
            () = self.agent.shared.shutdown.immediate() => TurnAbort::Left,
        }
    }

    /// Fails unless the session is known to be leased to this process. Nothing is called without that.
    pub(super) async fn check_lease(&self) -> Result<(), TurnAbort> {
        let Some(held) = &self.held else { return Err(TurnAbort::Elsewhere) };
        if held.confirm(self.agent.engine().ledger().as_ref()).await? { Ok(()) } else { Err(TurnAbort::Elsewhere) }
    }

    /// Remembers the conversation for the next turn.
    fn remember(&mut self) {
        if !self.turn.purpose.is_conversation() {
            return;
        }
        let Some(opened_at) = self.snapshot.session.as_ref().map(|session| session.opened_at) else { return };
        let conversation = std::mem::take(&mut self.conversation);
        self.agent
            .shared
            .conversations
            .keep(&self.session, CachedConversation { conversation, seq: self.seq, opened_at });
    }
}
