//! A turn from its beginning to its end: the state machine in `core` says what comes next, this carries it out and
//! writes down what it came to before going on.

mod abort;
mod finish;
mod planner;
mod record;
mod replay;
mod start;

pub(super) use abort::TurnAbort;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::{Conversation, CountTokens as _};
use planwright_core::ids::{PlanId, RequestId, TurnId};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{Effect, EndReason, Purpose, Turn, TurnEnd, TurnInput, TurnLimit, TurnLimits};

use super::Agent;
use super::conversation_cache::CachedConversation;
use super::holding::Held;
use super::leaving::left;
use super::outcome::TurnOutcome;
use super::progress::Watcher;
use super::slots::Running;
use crate::ledger::{Committed, LedgerError, LedgerResult};

impl Agent {
    /// Has the agent answer a message. It waits until everything before it in the session is done. Whoever stops
    /// waiting does not end the turn; [`Agent::stop`] does.
    pub async fn send(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        text: &str,
        watcher: &Watcher,
    ) -> LedgerResult<TurnOutcome> {
        let (agent, session, by) = (self.clone(), session.clone(), by.clone());
        let (text, watcher) = (text.to_owned(), watcher.clone());
        // A request that was named begins the turn, and nothing that has to be done before it.
        let request = self.engine().next_request();
        // Its place in the queue is the one it has now, whenever the work is begun.
        let queued = self.shared.slots.queue_up(&session).await;
        let work = async move {
            let served = queued.served().await;
            agent.finish_first(&session, &served, &watcher).await?;
            let message = Message { request, text: &text, purpose: Purpose::Answer };
            let outcome = match agent.begin(&session, &by, message, &served, &watcher).await? {
                Begun::Now(mut run) => run.finish_turn().await?,
                Begun::Before { turn, seq } => agent.came_to(&session, &turn, seq, &served, &watcher).await?,
            };
            agent.approve_by_rule(outcome, &served, &watcher).await
        };
        finish(tokio::spawn(work)).await
    }

    /// Goes on with a turn that was left open when its process ended, if there is one.
    pub async fn resume(&self, session: &SessionIdentity, watcher: &Watcher) -> LedgerResult<Option<TurnOutcome>> {
        let (agent, session, watcher) = (self.clone(), session.clone(), watcher.clone());
        let queued = self.shared.slots.queue_up(&session).await;
        let work = async move {
            let served = queued.served().await;
            // An execution goes on by its own way: [`Agent::resume_execution`].
            match agent.open_turn(&session).await? {
                Some(open) if open.purpose.is_conversation() => {
                    agent.finish_turn(&session, &open, &served, Delivery::Answer, &watcher).await
                }
                Some(_) | None => Ok(None),
            }
        };
        finish(tokio::spawn(work)).await
    }

    /// Ends what is under way, or waits, in a session in this process. What another process does goes on.
    pub async fn stop_here(&self, session: &SessionIdentity) {
        if let Some(running) = self.shared.slots.running(session) {
            running.stop.cancel();
            running.over.cancelled().await;
        }
    }

    /// Ends the turn that is under way in a session, wherever it runs. Says whether there was one.
    pub async fn stop(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<bool> {
        let running = self.shared.slots.running(session);
        // What only waits here waits for a turn elsewhere, and that is the one that is under way.
        let mut stopped = running.is_some();
        if !running.as_ref().is_some_and(|running| running.held.is_cancelled()) {
            let committed = self.engine().submit(session, by, Command::Turn(TurnCommand::Stop)).await?;
            stopped |= !committed.events.is_empty();
            stopped |= self.stop_executions(session, by).await?;
        }
        if let Some(running) = running {
            running.stop.cancel();
            running.over.cancelled().await;
        }
        Ok(stopped)
    }

    async fn run<'a>(
        &'a self,
        id: TurnId,
        committed: Committed,
        held: Held,
        running: &'a Running,
        watcher: &'a Watcher,
    ) -> LedgerResult<TurnRunner<'a>> {
        running.held.cancel();
        let (conversation, turn) = self.recall(&committed, &id).await?;
        let executing = committed.snapshot.active().filter(|plan| plan.status == PlanStatus::Executing);
        running.works_on(executing.map(|plan| &plan.id));
        let limits = self.engine().policy().turn.clone();
        Ok(self.run_turn(turn, conversation, committed, Arc::new(held), limits, running, watcher))
    }

    /// A turn that is under way under this lease, wherever it stands.
    #[expect(clippy::too_many_arguments, reason = "everything a turn works with, put together in one place")]
    pub(super) fn run_turn<'a>(
        &'a self,
        turn: Turn,
        conversation: Conversation,
        committed: Committed,
        held: Arc<Held>,
        limits: TurnLimits,
        running: &'a Running,
        watcher: &'a Watcher,
    ) -> TurnRunner<'a> {
        let session = committed.snapshot.identity.clone();
        TurnRunner {
            agent: self,
            actor: self.actor_for(&session, &turn.purpose),
            session,
            held: Some(held),
            begun_at: begun_at(&committed.snapshot, &turn.id).unwrap_or_else(|| self.engine().now()),
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
            running,
            watcher,
        }
    }
}

fn begun_at(snapshot: &Snapshot, turn: &TurnId) -> Option<Timestamp> {
    Some(snapshot.session.as_ref()?.turn.as_ref()?.named(turn)?.begun_at)
}

/// What begins a turn.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) request: RequestId,
    pub(super) text: &'a str,
    pub(super) purpose: Purpose,
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
    pub(super) held: Option<Arc<Held>>,
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
    /// When the turn began, here or in a process that ended.
    pub(super) begun_at: Timestamp,
    pub(super) running: &'a Running,
    pub(super) watcher: &'a Watcher,
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
        match self.go_on().await {
            Ok(outcome) => Ok(outcome),
            Err(TurnAbort::Stopped { heard, under_way }) => self.stopped(heard, under_way).await,
            Err(TurnAbort::ModelFailed { message }) => self.end(TurnEnd::ModelFailed { message }, Vec::new()).await,
            Err(TurnAbort::OutOfTime) => {
                let end = TurnEnd::LimitReached { limit: TurnLimit::Time };
                self.end(end, Vec::new()).await
            }
            Err(TurnAbort::Elsewhere) => self.ended_elsewhere().await,
            Err(TurnAbort::Left) => {
                if let Some(held) = self.held.take().filter(|_| self.turn.purpose.is_conversation()) {
                    self.agent.let_go(&held).await;
                }
                Err(left())
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
                Effect::CallModel if self.agent.shared.leaving.is_soon() => return Err(TurnAbort::Left),
                Effect::CallModel => {
                    // Whatever is called from here on was not begun before a crash.
                    self.resumed = false;
                    let Some(input) = self.ask_model().await? else { continue };
                    input
                }
                Effect::RunTool(pending) => {
                    // Nothing is begun after a stop.
                    if self.running.stop.is_cancelled() {
                        let halt = TurnAbort::Stopped { heard: String::new(), under_way: None };
                        return Err(halt.in_the_middle_of(&pending, self.effect_before(&pending)));
                    }
                    let outcome = self.carry_out(&pending).await?;
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
        let lost = self.held.as_ref().map(|held| held.lost.clone());
        let lost = async {
            match lost {
                Some(lost) => lost.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.running.stop.cancelled() => TurnAbort::Stopped { heard: String::new(), under_way: None },
            () = lost => TurnAbort::Elsewhere,
            () = self.agent.shared.leaving.now() => TurnAbort::Left,
        }
    }

    /// Whether somebody else has the session, as far as is known.
    pub(super) fn is_lost(&self) -> bool {
        self.held.as_ref().is_none_or(|held| held.lost.is_cancelled())
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

pub(super) async fn finish<T>(work: tokio::task::JoinHandle<LedgerResult<T>>) -> LedgerResult<T> {
    work.await.unwrap_or_else(|error| Err(LedgerError::Internal(format!("a turn broke off: {error}"))))
}
