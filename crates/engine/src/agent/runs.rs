//! Runs of the agent by itself. A driver in this process puts one tick after another into the session's own queue, so that
//! ticks and inputs of people never overlap.

mod driver;
mod heartbeat;
mod schedules;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use futures::FutureExt;
use planwright_core::actor::Actor;
use planwright_core::auto::{AutoCommand, AutoRun, AutoState, RunState, StartTarget};
use planwright_core::ids::RunId;
use planwright_core::prompt::tick_text;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{SessionIdentity, TransportChat};
use tokio::sync::{Notify, RwLock, Semaphore};
use tokio_util::task::TaskTracker;

use super::agent_context::AgentContext;
use super::execution::Executions;
use super::turn::{Begins, Begun, TurnMessage, Turns};
use crate::ledger::{LedgerError, LedgerResult};
use crate::session::input::{ChatLocation, Input, Request};
use crate::session::outcome::{Answer, Outcome};
use crate::session::progress::{Progress, ProgressStream};
use crate::session::registry::SessionRegistry;
use crate::session::task::{InputContext, InputHandler, Running, TaskOptions};

pub(super) use schedules::ScheduleLoop;

/// How many ticks are made at once in this process. Those that wait are served in the order they came.
const TICKS_AT_ONCE: usize = 256;

/// The drivers of this process, by the id of their run.
#[derive(Debug)]
pub(super) struct RunDrivers {
    queue: OnceLock<AgentQueue>,
    drivers: Mutex<HashMap<RunId, RunDriver>>,
    /// Whether this process sends heartbeats. Changed only while `drivers` is locked.
    is_beating: AtomicBool,
    /// Notified when no driver is left.
    all_left: Arc<Notify>,
    tasks: TaskTracker,
    ticks: Arc<Semaphore>,
    /// Held for reading from before a run is stored until its driver is known here, so that a run without a driver was not
    /// just started.
    starting: RwLock<()>,
}

/// A driver as others see it.
#[derive(Debug)]
struct RunDriver {
    session: SessionIdentity,
    woken: Arc<Notify>,
}

/// What became of a driver that was to be added.
enum Added {
    /// The process sends no heartbeats yet.
    First,
    Another,
    /// The run is driven already.
    Known,
}

/// The way into the queues of sessions. It does not keep the agent alive.
#[derive(Debug)]
struct AgentQueue {
    handler: Weak<dyn InputHandler>,
    sessions: SessionRegistry,
}

impl Default for RunDrivers {
    fn default() -> Self {
        let (queue, drivers, is_beating, all_left, tasks, starting) = Default::default();
        let ticks = Arc::new(Semaphore::new(TICKS_AT_ONCE));
        Self { queue, drivers, is_beating, all_left, tasks, ticks, starting }
    }
}

impl RunDrivers {
    pub(super) fn connect(&self, handler: &Arc<dyn InputHandler>, sessions: &SessionRegistry) {
        let _ = self.queue.set(AgentQueue { handler: Arc::downgrade(handler), sessions: sessions.clone() });
    }

    /// Whether this process makes the ticks of the run.
    pub(super) fn drives(&self, run: &RunId) -> bool {
        self.drivers().contains_key(run)
    }

    pub(super) fn drives_any(&self, session: &SessionIdentity) -> bool {
        self.drivers().values().any(|driver| driver.session == *session)
    }

    /// Wakes the drivers of a session, which look whether they can continue.
    pub(super) fn wake(&self, session: &SessionIdentity) {
        self.drivers()
            .values()
            .filter(|driver| driver.session == *session)
            .for_each(|driver| driver.woken.notify_one());
    }

    /// Forgets that the driver was woken before its tick began: the tick sees what happened until then.
    fn forget_wake(&self, run: &RunId) {
        if let Some(driver) = self.drivers().get(run) {
            let _ = driver.woken.notified().now_or_never();
        }
    }

    pub(super) fn wake_all(&self) {
        self.drivers().values().for_each(|driver| driver.woken.notify_one());
    }

    fn submit(&self, agent: &AgentContext, input: Input, request: Request) -> Option<ProgressStream> {
        let queue = self.queue.get()?;
        let handler = queue.handler.upgrade()?;
        let options = TaskOptions { ledger: Arc::clone(agent.engine().ledger()) };
        let request = Request { received_at: Some(agent.engine().now()), ..request };
        Some(queue.sessions.submit(input, request, &handler, &options))
    }

    /// Ends with the drivers.
    pub(super) async fn all_ended(&self) {
        self.tasks.close();
        self.wake_all();
        self.tasks.wait().await;
    }

    /// Adds the driver of a run, unless it has one.
    fn add(&self, run: RunId, driver: RunDriver) -> Added {
        match self.drivers().entry(run) {
            Entry::Occupied(_) => Added::Known,
            Entry::Vacant(place) => {
                place.insert(driver);
                if self.is_beating.swap(true, Ordering::Relaxed) { Added::Another } else { Added::First }
            }
        }
    }

    fn remove(&self, run: &RunId) {
        let mut drivers = self.drivers();
        drivers.remove(run);
        if drivers.is_empty() {
            self.all_left.notify_one();
        }
    }

    /// Returns whether the heartbeats end here, because this process drives no run.
    fn stop_beating(&self) -> bool {
        let drivers = self.drivers();
        if drivers.is_empty() {
            self.is_beating.store(false, Ordering::Relaxed);
        }
        drivers.is_empty()
    }

    fn drivers(&self) -> MutexGuard<'_, HashMap<RunId, RunDriver>> {
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts, ticks and ends runs, as inputs of their session.
#[derive(Debug, Clone)]
pub(super) struct Runs {
    agent: Arc<AgentContext>,
    turns: Turns,
    executions: Executions,
}

impl Runs {
    pub(super) fn new(agent: &Arc<AgentContext>, turns: Turns, executions: Executions) -> Self {
        Self { agent: Arc::clone(agent), turns, executions }
    }

    pub(super) async fn state(&self, session: &SessionIdentity) -> LedgerResult<AutoState> {
        self.interrupt_dead(session).await?;
        self.agent.engine().auto().state(session).await
    }

    pub(super) async fn start(&self, target: StartTarget, context: &InputContext) -> LedgerResult<AutoRun> {
        let driver = self.agent.options.owner.clone();
        self.interrupt_dead(context.session()).await?;
        self.begin(AutoCommand::Start { target, driver }, context).await
    }

    pub(super) async fn resume(&self, run: &RunId, context: &InputContext) -> LedgerResult<AutoRun> {
        let driver = self.agent.options.owner.clone();
        self.interrupt_dead(context.session()).await?;
        self.begin(AutoCommand::Resume { run: run.clone(), driver }, context).await
    }

    async fn begin(&self, command: AutoCommand, context: &InputContext) -> LedgerResult<AutoRun> {
        let (session, by) = (context.session(), context.by());
        let _starting = self.agent.runs.starting.read().await;
        let begun = context.engine(self.agent.engine()).auto().begin(session, by, command).await?;
        let Some(run) = begun else {
            return Err(Refusal::conflict("This request was sent before with another content.").into());
        };
        // A request that is sent again finds its run, which may be over or driven already.
        if run.is_running() {
            driver::drive(&self.agent, run.id().clone(), context.request.location.clone());
        }
        Ok(run)
    }

    /// Ends a run or all of them. The turn in flight ends first, so that nothing of the run happens after the answer.
    pub(super) async fn stop(
        &self,
        run: Option<RunId>,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Vec<RunId>> {
        let (session, by) = (context.session(), context.by());
        let open = self.turns.open_turn(session).await?;
        let in_flight = open.as_ref().and_then(|open| open.purpose.run()).map(|context| context.run_id.clone());
        let ended = context.engine(self.agent.engine()).auto().stop(session, by, run.clone()).await?;
        if in_flight.is_some_and(|own| run.is_none_or(|run| run == own)) {
            running.stop().await;
        }
        self.agent.runs.wake(session);
        Ok(ended)
    }

    /// One turn of a run, unless it does not run any more or waits for a person.
    pub(super) async fn tick(&self, run: &RunId, context: &InputContext) -> LedgerResult<Outcome> {
        let session = context.session();
        self.agent.runs.forget_wake(run);
        let state = self.agent.engine().auto().state(session).await?;
        let Some(run) = state.run(run).filter(|run| run.is_running()) else { return Ok(Outcome::NothingToDo) };
        match Box::pin(self.executions.finish_first(context)).await {
            Ok(_) => {}
            Err(error) if error.code() == RefusalCode::WrongStatus => return Ok(Outcome::NothingToDo),
            Err(error) => return Err(error),
        }
        let text = tick_text(&state, run);
        let request = self.agent.engine().submitter().next_request();
        let message = TurnMessage { request, text: &text, begins: Begins::Run(run.context.clone()) };
        let prepared = self.turns.prepare(&self.turns.snapshot(session).await?, message).await?;
        let by = Actor::system(session.channel.as_str());
        let begun = match Box::pin(self.executions.begin_turn(&by, &prepared, context)).await {
            Ok(begun) => begun,
            // It was stopped or paused since, or a plan or a permission waits for a person.
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::WrongStatus => {
                return Ok(Outcome::NothingToDo);
            }
            Err(error) => return Err(error),
        };
        let outcome = match begun {
            Begun::New(mut turn) => Box::pin(turn.finish_turn()).await?,
            Begun::Replayed { turn, seq } => self.turns.outcome_of(&turn, seq, context).await?,
        };
        let outcome = Box::pin(self.executions.approve_by_rule(outcome, context)).await?;
        // Those who watch the session read the answer here; no person waits for it.
        context.progress.send(Progress::Finished(Box::new(outcome.clone())));
        Ok(Answer::from(outcome).into())
    }

    /// Starts the runs of the session's schedules that are due.
    pub(super) async fn fire_schedules(&self, context: &InputContext) -> LedgerResult<Outcome> {
        let session = context.session();
        let now = self.agent.engine().now();
        let state = self.agent.engine().auto().state(session).await?;
        let due = state.schedules.iter().filter_map(|schedule| Some((&schedule.id, schedule.next_at?)));
        let due: Vec<_> = due.filter(|(_, at)| *at <= now).map(|(id, at)| (id.clone(), at)).collect();
        let by = Actor::system(session.channel.as_str());
        let mut started = false;
        for (schedule, window) in due {
            let driver = self.agent.options.owner.clone();
            let command = AutoCommand::Fire { schedule, window, driver };
            let _starting = self.agent.runs.starting.read().await;
            match self.agent.engine().auto().begin(session, &by, command).await {
                Ok(Some(run)) => {
                    started = true;
                    driver::drive(&self.agent, run.id().clone(), context.request.location.clone());
                }
                // It could not start now and is tried again later.
                Ok(None) => {}
                // Another process was faster.
                Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Ok(if started { Answer::text(session, "Scheduled runs are started.").into() } else { Outcome::NothingToDo })
    }

    /// Notes which runs of the session were interrupted because their process ended.
    pub(super) async fn interrupt_dead(&self, session: &SessionIdentity) -> LedgerResult<()> {
        interrupt_dead(&self.agent, session).await
    }
}

/// Notes which runs of the session were interrupted because their process ended.
pub(super) async fn interrupt_dead(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<()> {
    if dead_runs(agent, session).await?.is_empty() {
        return Ok(());
    }
    // A run of this process may have been stored and not have its driver yet.
    let _none_starts = agent.runs.starting.write().await;
    for run in dead_runs(agent, session).await? {
        agent.engine().auto().interrupt(session, &run).await?;
    }
    Ok(())
}

async fn dead_runs(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<Vec<RunId>> {
    let Some(stored) = agent.engine().ledger().session(session).await? else { return Ok(Vec::new()) };
    let Some(state) = stored.session.auto.as_deref() else { return Ok(Vec::new()) };
    // The turn in flight belongs to a process, which ends it or whose work is taken over.
    if stored.session.turn.is_some() {
        return Ok(Vec::new());
    }
    let mut dead = Vec::new();
    for run in state.runs.iter().filter(|run| run.state == RunState::Running) {
        let is_dead = if run.driver == agent.options.owner {
            !agent.runs.drives(run.id())
        } else {
            (agent.options.is_gone)(&run.driver) || heartbeat::is_missing(agent, run).await?
        };
        dead.extend(is_dead.then(|| run.id().clone()));
    }
    Ok(dead)
}

/// Where the answers of a run without a chat go: to those who follow the session.
fn server_location(session: &SessionIdentity) -> ChatLocation {
    ChatLocation::new(TransportChat(format!("server:{session}")), session.clone())
}
