//! Heartbeats of a process that drives runs. Without them, processes on other machines count its runs as interrupted.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::auto::AutoRun;
use planwright_engine::clock::between;
use planwright_engine::ledger::LedgerResult;
use tokio::time::timeout;

use crate::agent_context::AgentContext;

/// How often a process sends a heartbeat while it drives runs.
const INTERVAL: Duration = Duration::from_secs(20);
/// A process counts as ended after this time without one.
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

/// Whether neither the run nor its process has sent a heartbeat for too long.
pub(super) async fn is_missing(agent: &AgentContext, run: &AutoRun) -> LedgerResult<bool> {
    let now = agent.engine().now();
    let is_long_ago = |at| between(at, now) > HEARTBEAT_TIMEOUT;
    if !is_long_ago(run.active_at) {
        return Ok(false);
    }
    Ok(agent.engine().ledger().alive_at(&run.driver).await?.is_none_or(is_long_ago))
}
