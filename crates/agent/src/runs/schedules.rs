//! Due schedules and interrupted runs, over all sessions. On several machines exactly one takes a due session.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerResult, RunsFilter};
use tokio::sync::Semaphore;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{interrupt_dead, server_location};
use crate::Agent;
use crate::session::input::{Input, Request};

/// How often the ledger is asked for due sessions.
const INTERVAL: Duration = Duration::from_secs(1);
/// How many sessions one query takes. All that are due are taken in every pass, the longest due first.
const PAGE: u32 = 128;
/// How long a session that was taken is left to its process before another takes it.
const CLAIM_DURATION: Duration = Duration::from_secs(60);
/// How many sessions start their runs at once.
const MAX_CONCURRENT: usize = 64;

/// Starts the runs of due schedules until it is told to stop.
pub(crate) struct ScheduleLoop {
    agent: Agent,
}

impl ScheduleLoop {
    pub(crate) fn new(agent: Agent) -> Self {
        Self { agent }
    }

    pub(crate) async fn run(self, stop: CancellationToken) {
        let (tasks, room) = (TaskTracker::new(), Arc::new(Semaphore::new(MAX_CONCURRENT)));
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.pass(&tasks, &room, &stop).await {
                tracing::warn!(event = "schedules_failed", %error);
            }
        }
        tasks.close();
        tasks.wait().await;
    }

    async fn pass(&self, tasks: &TaskTracker, room: &Arc<Semaphore>, stop: &CancellationToken) -> LedgerResult<()> {
        self.interrupt_dead().await?;
        let engine = self.agent.engine();
        loop {
            // No more are taken than this process has room for; the others are left to other processes.
            let free = u32::try_from(room.available_permits()).unwrap_or(u32::MAX).min(PAGE);
            if free == 0 || stop.is_cancelled() {
                return Ok(());
            }
            let due = engine.ledger().take_due(engine.now(), CLAIM_DURATION, free).await?;
            let count = due.len();
            for session in due {
                let Ok(permit) = Arc::clone(room).acquire_owned().await else { return Ok(()) };
                let agent = self.agent.clone();
                tasks.spawn(async move {
                    fire(&agent, &session).await;
                    drop(permit);
                });
            }
            if count < free as usize {
                return Ok(());
            }
        }
    }

    /// Runs whose process ended between two turns.
    async fn interrupt_dead(&self) -> LedgerResult<()> {
        let mut after = None;
        loop {
            let page = self.agent.engine().ledger().sessions_with_runs(RunsFilter::Running, after, PAGE).await?;
            for stored in page.items {
                interrupt_dead(&self.agent.context, &stored.session.identity).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

async fn fire(agent: &Agent, session: &SessionIdentity) {
    let request = Request::new(server_location(session), Actor::system(session.channel.as_str()));
    if let Err(error) = agent.submit(Input::FireSchedules, request).outcome().await {
        tracing::warn!(session_identity = %session, event = "schedule_failed", %error);
    }
}
