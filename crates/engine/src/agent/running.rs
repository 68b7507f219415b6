//! A turn from its beginning to its end: the state machine in `core` says what comes next, this carries it out and
//! writes down what it came to before going on.

mod ending;
mod halting;
mod recording;

pub(super) use halting::Halt;

use std::time::Duration;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::{Conversation, CountTokens as _};
use planwright_core::desk::Desk;
use planwright_core::event::Event;
use planwright_core::ids::{PlanId, TurnId};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{Effect, Over, Turn, TurnEnd, TurnInput, TurnLimit};

use super::Agent;
use super::holding::Held;
use super::memory::Remembered;
use super::outcome::TurnOutcome;
use super::progress::{Progress, Watcher};
use super::slots::{Running, Served};
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
        // Its place in the queue is the one it has now, whenever the work is begun.
        let queued = self.shared.slots.queue_up(&session).await;
        let work = async move {
            let served = queued.served().await;
            agent.finish_first(&session, &served, &watcher).await?;
            let mut run = agent.begin(&session, &by, &text, &served, &watcher).await?;
            run.finish_turn().await
        };
        finish(tokio::spawn(work)).await
    }

    /// Goes on with a turn that was left open when its process ended, if there is one.
    pub async fn resume(&self, session: &SessionIdentity, watcher: &Watcher) -> LedgerResult<Option<TurnOutcome>> {
        let (agent, session, watcher) = (self.clone(), session.clone(), watcher.clone());
        let queued = self.shared.slots.queue_up(&session).await;
        let work = async move {
            let served = queued.served().await;
            agent.finish_interrupted(&session, &served, Delivery::Answer, &watcher).await
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
        }
        if let Some(running) = running {
            running.stop.cancel();
            running.over.cancelled().await;
        }
        Ok(stopped)
    }

    async fn begin<'a>(
        &'a self,
        session: &SessionIdentity,
        by: &Actor,
        text: &str,
        served: &'a Served,
        watcher: &'a Watcher,
    ) -> LedgerResult<Run<'a>> {
        let tokens = self.check_room(session, text).await?;
        let begin = Command::Turn(TurnCommand::Begin { text: text.to_owned(), tokens });
        loop {
            match self.take(session, by, &begin, &served.running.stop, watcher).await {
                // Somebody's turn came in between and was left open.
                Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {
                    if !self.finish_first(session, served, watcher).await? {
                        return Err(refusal.into());
                    }
                }
                Err(error) => return Err(error),
                Ok((committed, held)) => {
                    let turn = committed.events.iter().find_map(|event| match event {
                        Event::TurnBegun { turn, .. } => Some(turn.clone()),
                        _ => None,
                    });
                    let turn = turn.ok_or_else(|| LedgerError::Internal("the turn did not begin".to_owned()))?;
                    watcher.tell(Progress::Accepted(turn.clone()));
                    return self.run(turn, committed, held, &served.running, watcher).await;
                }
            }
        }
    }

    /// Finishes an interrupted turn before another one begins. What it came to is told on the way; says whether there was
    /// one.
    pub(super) async fn finish_first(
        &self,
        session: &SessionIdentity,
        served: &Served,
        watcher: &Watcher,
    ) -> LedgerResult<bool> {
        let finished = self.finish_interrupted(session, served, Delivery::OnTheWay, watcher).await?;
        let found = finished.is_some();
        if let Some(outcome) = finished {
            watcher.tell(Progress::Finished(Box::new(outcome)));
        }
        Ok(found)
    }

    /// A turn that is open although nobody holds the session was interrupted. It goes on here, unless that was tried
    /// too often.
    async fn finish_interrupted(
        &self,
        session: &SessionIdentity,
        served: &Served,
        delivery: Delivery,
        watcher: &Watcher,
    ) -> LedgerResult<Option<TurnOutcome>> {
        let Some(open) = self.open_turn(session).await? else { return Ok(None) };
        let resume = Command::Turn(TurnCommand::Resume { turn: open });
        let by = Actor::system(session.channel.as_str());
        match self.take(session, &by, &resume, &served.running.stop, watcher).await {
            // Whoever held the session finished it.
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::WrongStatus => Ok(None),
            Err(error) => Err(error),
            Ok((committed, held)) => {
                let Some(open) = committed.desk.session.as_ref().and_then(|session| session.turn.clone()) else {
                    return Ok(None);
                };
                watcher.tell(Progress::Resumed(open.id.clone()));
                let mut run = self.run(open.id.clone(), committed, held, &served.running, watcher).await?;
                run.resumed = true;
                run.delivery = delivery;
                if open.resumed > self.engine().policy().turn.resumptions {
                    return run.end(TurnEnd::Interrupted, Vec::new()).await.map(Some);
                }
                run.finish_turn().await.map(Some)
            }
        }
    }

    async fn open_turn(&self, session: &SessionIdentity) -> LedgerResult<Option<TurnId>> {
        let stored = self.engine().ledger().session(session).await?;
        Ok(stored.and_then(|stored| stored.session.turn).map(|open| open.id))
    }

    async fn run<'a>(
        &'a self,
        id: TurnId,
        committed: Committed,
        held: Held,
        running: &'a Running,
        watcher: &'a Watcher,
    ) -> LedgerResult<Run<'a>> {
        running.held.cancel();
        let session = committed.desk.identity.clone();
        let (conversation, turn) = self.recall(&committed, &id).await?;
        let before = committed.desk.active().map(Standing::of);
        Ok(Run {
            agent: self,
            actor: self.actor(&session),
            session,
            held: Some(held),
            turn,
            conversation,
            seq: committed.seq,
            desk: committed.desk,
            before,
            settled: None,
            resumed: false,
            delivery: Delivery::Answer,
            tightened: 0,
            started: self.engine().now(),
            running,
            watcher,
        })
    }
}

/// Everything one turn works with.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session: SessionIdentity,
    pub(super) actor: Actor,
    held: Option<Held>,
    pub(super) turn: Turn,
    pub(super) conversation: Conversation,
    /// The last entry of the journal that the conversation knows.
    seq: u64,
    /// The session and its active plan, as of the last thing that was written.
    pub(super) desk: Desk,
    /// The active plan when the turn began.
    before: Option<Standing>,
    /// The plan that a plan tool settled.
    pub(super) settled: Option<PlanId>,
    /// Whether the call that is to be carried out next may have been begun before a crash.
    pub(super) resumed: bool,
    delivery: Delivery,
    /// How often the model said that the request was too long.
    pub(super) tightened: u32,
    started: Timestamp,
    running: &'a Running,
    pub(super) watcher: &'a Watcher,
}

/// How the outcome reaches the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    /// It is the answer to what they said.
    Answer,
    /// It is told beside something else and may go unread. A plan in it does not count as shown.
    OnTheWay,
}

/// How far a plan is.
#[derive(Debug, PartialEq, Eq)]
struct Standing {
    plan: PlanId,
    status: PlanStatus,
    done: Option<usize>,
}

impl Standing {
    fn of(plan: &Plan) -> Self {
        let done = plan.execution.as_ref().map(|execution| execution.progress().done);
        Self { plan: plan.id.clone(), status: plan.status, done }
    }
}

impl Run<'_> {
    async fn finish_turn(&mut self) -> LedgerResult<TurnOutcome> {
        match self.go_on().await {
            Ok(outcome) => Ok(outcome),
            Err(Halt::Stopped { heard, under_way }) => self.stopped(heard, under_way).await,
            Err(Halt::ModelFailed { message }) => self.end(TurnEnd::ModelFailed { message }, Vec::new()).await,
            Err(Halt::OutOfTime) => {
                let end = TurnEnd::LimitReached { limit: TurnLimit::Time };
                self.end(end, Vec::new()).await
            }
            Err(Halt::Elsewhere) => self.ended_elsewhere().await,
            Err(Halt::Ledger(error)) => Err(error),
        }
    }

    async fn go_on(&mut self) -> Result<TurnOutcome, Halt> {
        loop {
            let input = match self.next() {
                Effect::End(over) => return Ok(self.over(over, Vec::new()).await?),
                Effect::CallModel => {
                    // Whatever is called from here on was not begun before a crash.
                    self.resumed = false;
                    let Some(input) = self.ask_model().await? else { continue };
                    input
                }
                Effect::RunTool(pending) => {
                    // Nothing is begun after a stop.
                    if self.running.stop.is_cancelled() {
                        return Err(Halt::Stopped { heard: String::new(), under_way: None });
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

    fn next(&self) -> Effect {
        self.turn.next(&self.agent.engine().policy().turn, self.elapsed())
    }

    pub(super) fn elapsed(&self) -> Duration {
        let elapsed = self.agent.engine().now().duration_since(self.started);
        Duration::try_from(elapsed).unwrap_or_default()
    }

    async fn over(&mut self, over: Over, inputs: Vec<TurnInput>) -> LedgerResult<TurnOutcome> {
        let end = match over {
            Over::Because(end) => end,
            Over::Planned => self.planned_end().await?,
        };
        self.end(end, inputs).await
    }

    /// Ready when the turn is to stop, and why.
    pub(super) async fn interrupted(&self) -> Halt {
        let lost = self.held.as_ref().map(|held| held.lost.clone());
        let lost = async {
            match lost {
                Some(lost) => lost.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.running.stop.cancelled() => Halt::Stopped { heard: String::new(), under_way: None },
            () = lost => Halt::Elsewhere,
        }
    }

    /// Whether somebody else has the session, as far as is known.
    pub(super) fn is_lost(&self) -> bool {
        self.held.as_ref().is_none_or(|held| held.lost.is_cancelled())
    }

    /// Remembers the conversation for the next turn.
    fn remember(&mut self) {
        let Some(opened_at) = self.desk.session.as_ref().map(|session| session.opened_at) else { return };
        let conversation = std::mem::take(&mut self.conversation);
        self.agent.shared.memory.keep(&self.session, Remembered { conversation, seq: self.seq, opened_at });
    }
}

pub(super) async fn finish<T>(work: tokio::task::JoinHandle<LedgerResult<T>>) -> LedgerResult<T> {
    work.await.unwrap_or_else(|error| Err(LedgerError::Internal(format!("a turn broke off: {error}"))))
}
