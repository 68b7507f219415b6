//! One turn under way, from its first entry in this process to its end.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::conversation::{Conversation, CountTokens as _};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::{PlanId, TurnId};
use planwright_core::plan::execution::PermissionCounts;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{Effect, EndReason, OpenTurn, Purpose, Turn, TurnEnd, TurnInput, TurnLimits};
use planwright_core::workspace::{CallChanges, Workspace};
use planwright_engine::ledger::{Committed, LedgerResult};
use tracing::Instrument as _;

use super::Turns;
use super::abort::TurnAbort;
use super::memory::TurnMemory;
use crate::agent_context::AgentContext;
use crate::session::lease::LeaseGuard;
use crate::session::outcome::TurnOutcome;
use crate::session::shutdown::shutting_down;
use crate::session::work::InputContext;
use crate::state::CachedConversation;

/// Everything one turn works with.
#[derive(Debug)]
pub(crate) struct TurnRunner<'a> {
    pub(super) agent: &'a AgentContext,
    pub(super) turns: &'a Turns,
    pub(super) session: SessionIdentity,
    pub(super) actor: Actor,
    /// Shared with the execution or the turn that this turn is a part of.
    pub(super) held: Option<Arc<LeaseGuard>>,
    pub(super) turn: Turn,
    pub(super) limits: TurnLimits,
    /// The sandbox level of the specialist's commands, if it has one of its own.
    pub(super) sandbox: Option<String>,
    pub(super) conversation: Conversation,
    /// The last entry of the journal that the conversation knows.
    pub(super) seq: u64,
    /// The session and its active plan after the last entry that was written.
    pub(super) snapshot: Snapshot,
    /// The active plan when the turn began.
    pub(super) before: Option<PlanState>,
    /// The plan that a plan tool settled.
    pub(super) settled: Option<PlanId>,
    /// Whether the next call may have been begun before a crash.
    pub(super) resumed: bool,
    /// What the call that ends now did to files.
    pub(super) call_changes: CallChanges,
    /// How the call that ends now was permitted.
    pub(super) call_permissions: PermissionCounts,
    pub(super) delivery: AnswerDelivery,
    /// The turn was interrupted too often and only ends.
    given_up: bool,
    /// The number of times that the model said that the request was too long.
    pub(super) tightened: u32,
    /// What is remembered about the message of the turn.
    pub(super) memory: TurnMemory,
    started: Timestamp,
    /// The entry that began the turn, unless another process wrote it.
    pub(super) begun_seq: Option<u64>,
    pub(super) context: &'a InputContext,
}

/// How the outcome reaches the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerDelivery {
    /// As the answer to the person's message.
    Answer,
    /// As progress of another input, which may go unread. A plan in it does not count as shown.
    OnTheWay,
}

/// How far a plan is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlanState {
    plan: PlanId,
    status: PlanStatus,
    done: Option<usize>,
    /// The step that a person looks at before the next one begins.
    look_at: Option<usize>,
}

impl PlanState {
    pub(super) fn of(plan: &Plan) -> Self {
        let done = plan.execution.as_ref().map(|execution| execution.progress().done);
        let look_at = plan.execution.as_ref().and_then(|execution| execution.step_pause()).map(|pause| pause.step);
        Self { plan: plan.id.clone(), status: plan.status, done, look_at }
    }
}

impl<'a> TurnRunner<'a> {
    pub(super) fn new(
        turns: &'a Turns,
        turn: Turn,
        conversation: Conversation,
        committed: Committed,
        held: Arc<LeaseGuard>,
        limits: TurnLimits,
        context: &'a InputContext,
    ) -> Self {
        let session = committed.snapshot.identity.clone();
        let agent = turns.agent.as_ref();
        TurnRunner {
            agent,
            turns,
            actor: agent.actor_for(&session, &turn.purpose),
            sandbox: agent.specialist_options(&session, &turn.purpose).and_then(|options| options.sandbox),
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
            call_changes: CallChanges::default(),
            call_permissions: PermissionCounts::default(),
            delivery: AnswerDelivery::Answer,
            given_up: false,
            tightened: 0,
            memory: TurnMemory::default(),
            started: agent.engine().now(),
            context,
        }
    }

    /// The turn was left open, as `before` says. If a process ended in the middle of it, its next call may have been begun
    /// there. If it waited for an answer, its next call was not.
    pub(crate) fn resume(&mut self, before: &OpenTurn, delivery: AnswerDelivery) {
        let now = self.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        self.resumed = now.is_none_or(|now| now.resumed > before.resumed);
        self.delivery = delivery;
    }

    pub(crate) async fn finish_turn(&mut self) -> LedgerResult<TurnOutcome> {
        let span = tracing::error_span!("turn", turn = %self.turn.id);
        match Box::pin(self.run()).instrument(span).await {
            Ok(outcome) => Ok(outcome),
            Err(TurnAbort::Stopped { received: heard, under_way }) => {
                self.stopped(heard, under_way.map(|input| *input)).await
            }
            Err(TurnAbort::ModelFailed { message }) => self.end_unless_over(TurnEnd::ModelFailed { message }).await,
            Err(TurnAbort::Limit(limit)) => self.end_unless_over(TurnEnd::LimitReached { limit }).await,
            Err(TurnAbort::LeaseLost) => self.ended_elsewhere().await,
            Err(TurnAbort::Asks(ask)) => Ok(self.waits(*ask)),
            Err(TurnAbort::ShuttingDown) => {
                if let Some(held) = self.held.take().filter(|_| !self.turn.purpose.is_part()) {
                    self.turns.leases.release(&held).await;
                }
                Err(shutting_down())
            }
            Err(TurnAbort::Ledger(error)) => Err(error),
        }
    }

    /// Nothing more is tried in the turn; it only ends.
    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
    }

    async fn run(&mut self) -> Result<TurnOutcome, TurnAbort> {
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
                // No call is open here, so another process can resume the turn without a difference.
                Effect::CallModel if self.agent.shutdown.is_requested() => return Err(TurnAbort::ShuttingDown),
                Effect::CallModel => {
                    // Calls from here on were not begun before a crash.
                    self.resumed = false;
                    let Some(input) = self.ask_model().await? else { continue };
                    input
                }
                Effect::RunTool(pending) => {
                    // No call is begun after a stop.
                    if self.context.work.stop.is_cancelled() {
                        let abort = TurnAbort::Stopped { received: String::new(), under_way: None };
                        return Err(abort.in_the_middle_of(
                            &pending,
                            self.effect_before(&pending),
                            CallChanges::default(),
                        ));
                    }
                    let outcome = Box::pin(self.carry_out(&pending)).await?;
                    let tokens = self.agent.tokens.count(&outcome.text);
                    let changes = std::mem::take(&mut self.call_changes);
                    let permissions = std::mem::take(&mut self.call_permissions);
                    TurnInput::ToolEnded { call: pending.number, outcome, tokens, changes, permissions }
                }
            };
            self.turn.apply(&input);
            match self.next() {
                Effect::End(over) => return Ok(self.over(over, vec![input]).await?),
                Effect::CallModel | Effect::RunTool(_) => self.record(vec![input], None).await?,
            }
        }
    }

    /// Whether a person ended or replaced the document that this turn carries out. Its successor is not approved.
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

    /// Resolves with the reason when the turn has to stop.
    pub(super) async fn interrupted(&self) -> TurnAbort {
        let lost = async {
            match &self.held {
                Some(held) => held.lost().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.context.work.stop.cancelled() => TurnAbort::Stopped { received: String::new(), under_way: None },
            () = lost => TurnAbort::LeaseLost,
            () = self.agent.shutdown.immediate() => TurnAbort::ShuttingDown,
        }
    }

    /// Fails unless the session is known to be leased to this process. No model and no tool is called without that.
    pub(super) async fn check_lease(&self) -> Result<(), TurnAbort> {
        let Some(held) = &self.held else { return Err(TurnAbort::LeaseLost) };
        if held.confirm(self.agent.engine().ledger().as_ref()).await? { Ok(()) } else { Err(TurnAbort::LeaseLost) }
    }

    /// The folder that the tools of the turn work in.
    pub(super) fn workspace(&self) -> &Workspace {
        self.snapshot.session.as_ref().map_or(&Workspace::Own, |session| &session.workspace)
    }

    /// Puts the conversation into the cache for the next turn.
    pub(super) fn cache_conversation(&mut self) {
        if !self.turn.purpose.is_conversation() {
            return;
        }
        let Some(opened_at) = self.snapshot.session.as_ref().map(|session| session.opened_at) else { return };
        let conversation = std::mem::take(&mut self.conversation);
        self.agent.conversations.keep(&self.session, CachedConversation { conversation, seq: self.seq, opened_at });
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
