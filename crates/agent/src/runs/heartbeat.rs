//! Heartbeats of a process that drives runs. Without them, processes on other machines count its runs as interrupted.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::auto::AutoRun;
use planwright_engine::ledger::LedgerResult;
use tokio::time::timeout;

use crate::agent_context::AgentContext;
use crate::state::HeartbeatMark;

/// How often a process sends a heartbeat while it drives runs.
const INTERVAL: Duration = Duration::from_secs(20);
/// A process counts as ended when this time has passed here without a new one.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(120);

/// Sends heartbeats until this process drives no run.
pub(super) fn start(agent: &Arc<AgentContext>) {
    let weak = Arc::downgrade(agent);
    agent.runs.tasks.spawn(async move {
        while let Some(agent) = weak.upgrade() {
            if agent.runs.stop_beating() {
                return;
            }
            let (engine, owner) = (agent.engine(), &agent.options.owner);
            if let Err(error) = engine.ledger().heartbeat(owner, engine.now()).await {
                tracing::warn!(event = "heartbeat_failed", %error);
            }
            let all_left = Arc::clone(&agent.runs.all_left);
            drop(agent);
            let _ = timeout(INTERVAL, all_left.notified()).await;
        }
    });
}

/// Whether neither the run nor its process has given a sign of life for too long, by the time that passed in this process.
pub(super) async fn is_missing(agent: &AgentContext, run: &AutoRun) -> LedgerResult<bool> {
    let alive_at = agent.engine().ledger().alive_at(&run.driver).await?;
    let mark = HeartbeatMark { driver: run.driver.clone(), active_at: run.active_at, alive_at };
    let elapsed = agent.engine().submitter().elapsed();
    Ok(agent.heartbeat_marks.unchanged_for(run.id(), mark, elapsed) > HEARTBEAT_TIMEOUT)
}
