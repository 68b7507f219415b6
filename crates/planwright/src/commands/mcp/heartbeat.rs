//! Signs of life of the agent's program, for processes on other machines: they cannot look at its processes.

use std::time::Duration;

use planwright_core::presence::AgentClient;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;

/// The program counts as ended after `CLIENT_HEARTBEAT_TIMEOUT` without a sign.
const INTERVAL: Duration = Duration::from_secs(20);

/// Gives the first sign before it returns, and further ones until this process ends.
pub(super) async fn start(engine: &Engine, client: &AgentClient) -> LedgerResult<()> {
    let Some(name) = client.heartbeat() else { return Ok(()) };
    engine.ledger().sign_of_life(&name).await?;
    let engine = engine.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(error) = engine.ledger().sign_of_life(&name).await {
                tracing::warn!(event = "heartbeat_failed", %error);
            }
        }
    });
    Ok(())
}
