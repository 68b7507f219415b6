//! The driver of one run: it puts the next tick into the session's queue when the one before is over.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::auto::AutoRun;
use planwright_core::ids::RunId;
use planwright_core::session::SessionIdentity;
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::LedgerResult;
use tokio::sync::Notify;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::heartbeat;
use crate::agent_context::AgentContext;
use crate::session::input::{ChatLocation, Input, Request};
use crate::session::outcome::Outcome;
use crate::state::{Added, RunDriver};

/// How often a run that waits for a person looks whether another process has an answer.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// How long a run waits after a failed turn: doubled with every failure in a row.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(60));
/// After so many errors of the store in a row the run is left; it counts as interrupted then.
const MAX_ERRORS: u32 = 10;

/// Makes the ticks of a run until it pauses or ends. A run that is driven already is left alone.
pub(super) fn drive(agent: &Arc<AgentContext>, run: RunId, location: ChatLocation) {
    let woken = Arc::new(Notify::new());
    let driver = RunDriver { session: location.session.clone(), woken: Arc::clone(&woken) };
    match agent.runs.add(run.clone(), driver) {
        Added::First => heartbeat::start(agent),
        Added::Another => {}
        Added::Known => return,
    }
    // The agent may be dropped while the run waits; the run is interrupted then.
    let weak = Arc::downgrade(agent);
    let session = location.session.clone();
    let span = tracing::error_span!("run", session_identity = %session, run_id = %run);
    let driving = async move {
        let mut driver = Driver { run, session, location, woken, errors: 0 };
        while let Some(agent) = weak.upgrade() {
            let wait = driver.step(&agent).await;
            let shutdown = agent.shutdown.is_requested();
            match wait {
                Some(wait) if !shutdown => {
                    drop(agent);
                    driver.wait(wait).await;
                }
                Some(_) | None => {
                    agent.runs.remove(&driver.run);
                    if shutdown {
                        driver.leave(&agent).await;
                    }
                    return;
                }
            }
        }
    };
    agent.runs.tasks.spawn(driving.instrument(span));
}

struct Driver {
    run: RunId,
    session: SessionIdentity,
    /// The chat that the run was started in; answers go there.
    location: ChatLocation,
    woken: Arc<Notify>,
    errors: u32,
}

/// What comes before the next tick.
enum Wait {
    /// Nothing: others who wait come first.
    Turn,
    /// A person's answer, or a while.
    Person,
    /// A while, or what a person does in the session.
    BackOff(Duration),
}

impl Driver {
    /// One tick. `None` if the run is over for this process.
    async fn step(&mut self, agent: &Arc<AgentContext>) -> Option<Wait> {
        match self.tick(agent).await {
            Ok(wait) => {
                self.errors = 0;
                wait
            }
            Err(error) => {
                self.errors += 1;
                tracing::warn!(event = "tick_failed", %error);
                (self.errors < MAX_ERRORS).then(|| Wait::BackOff(BACKOFF.after(self.errors)))
            }
        }
    }

    async fn tick(&self, agent: &Arc<AgentContext>) -> LedgerResult<Option<Wait>> {
        if self.running(agent).await?.is_none() || agent.shutdown.is_requested() {
            return Ok(None);
        }
        let Ok(_room) = Arc::clone(&agent.runs.ticks).acquire_owned().await else { return Ok(None) };
        let by = Actor::system(self.session.channel.as_str());
        let request = Request::new(self.location.clone(), by);
        let tick = Input::Tick { run: self.run.clone() };
        let Some(stream) = agent.runs.submit(tick, request) else { return Ok(None) };
        let outcome = stream.outcome().await?;
        let Some(run) = self.running(agent).await? else { return Ok(None) };
        let waits = match outcome {
            Outcome::Answer(answer) => answer.ask.is_some() || answer.plan.is_some(),
            Outcome::NothingToDo => true,
        };
        Ok(Some(match run.failures {
            _ if waits => Wait::Person,
            0 => Wait::Turn,
            failures => Wait::BackOff(BACKOFF.after(failures)),
        }))
    }

    async fn running(&self, agent: &Arc<AgentContext>) -> LedgerResult<Option<AutoRun>> {
        let Some(stored) = agent.engine().ledger().session(&self.session).await? else { return Ok(None) };
        let run = stored.session.auto.as_deref().and_then(|state| state.run(&self.run));
        let ours = |run: &&AutoRun| run.is_running() && run.driver == agent.options.owner;
        Ok(run.filter(ours).cloned())
    }

    async fn wait(&self, wait: Wait) {
        match wait {
            Wait::Turn => tokio::task::yield_now().await,
            Wait::Person => drop(timeout(POLL_INTERVAL, self.woken.notified()).await),
            Wait::BackOff(time) => drop(timeout(time, self.woken.notified()).await),
        }
    }

    /// This process ends: another one lists the run as interrupted.
    async fn leave(&self, agent: &AgentContext) {
        if let Err(error) = agent.engine().auto().interrupt(&self.session, &self.run).await {
            tracing::warn!(event = "run_not_left", %error);
        }
    }
}
