//! Notices when other tools are on offer than before: after a call of this client, and after whatever another process
//! did to the session, such as an approval on the command line.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::tools::ToolDefinition;
use rmcp::service::{Peer, RoleServer};
use tokio::sync::{Notify, watch};
use tokio::time::MissedTickBehavior;

use super::Never;

const LOOK_EVERY: Duration = Duration::from_millis(250);

/// A cheap handle; clones share everything.
#[derive(Debug, Clone)]
pub(super) struct ToolChanges {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    engine: Engine,
    session: SessionIdentity,
    /// How often the offer has changed.
    changes: watch::Sender<u64>,
    look_now: Notify,
}

/// The tools as they were once on offer.
#[derive(Debug)]
pub(super) struct Offer {
    /// The journal's last number then.
    seq: u64,
    tools: Vec<ToolDefinition>,
}

impl ToolChanges {
    pub(super) fn new(engine: Engine, session: SessionIdentity) -> Self {
        let (changes, _) = watch::channel(0);
        Self { shared: Arc::new(Shared { engine, session, changes, look_now: Notify::new() }) }
    }

    /// Becomes ready with every change from now on.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Something was done that may have changed the offer.
    pub(super) fn look_now(&self) {
        self.shared.look_now.notify_one();
    }

    /// What is on offer now. The number is read first, so that a change in between is noticed the next time.
    pub(super) async fn offer(&self) -> LedgerResult<Offer> {
        let seq = self.seq().await?;
        Ok(Offer { seq, tools: self.shared.engine.tools().advertised(&self.shared.session).await? })
    }

    /// Looks again and again, as long as it is polled.
    pub(super) async fn watch(&self, mut known: Offer) -> Never {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.shared.look_now.notified() => {}
            }
            match self.newer_than(&known).await {
                Ok(None) => {}
                Ok(Some(offer)) => {
                    let changed = offer.tools != known.tools;
                    known = offer;
                    if changed {
                        self.shared.changes.send_modify(|changes| *changes += 1);
                    }
                }
                // The calls say so themselves; here it is enough to look again.
                Err(error) => tracing::debug!(%error, "the offered tools could not be looked at"),
            }
        }
    }

    async fn newer_than(&self, known: &Offer) -> LedgerResult<Option<Offer>> {
        if self.seq().await? == known.seq { Ok(None) } else { self.offer().await.map(Some) }
    }

    async fn seq(&self) -> LedgerResult<u64> {
        let stored = self.shared.engine.ledger().session(&self.shared.session).await?;
        Ok(stored.map_or(0, |stored| stored.head.seq))
    }
}

/// Tells a client that came by `initialize`. Clients of the newer life cycle ask to be told, with `subscriptions/listen`.
pub(super) async fn announce(changes: &ToolChanges, peer: &Peer<RoleServer>) -> Never {
    let mut changed = changes.subscribe();
    loop {
        if changed.changed().await.is_err() {
            // The sender is gone, so no change will come.
            std::future::pending::<()>().await;
        }
        if peer.peer_info().is_some()
            && let Err(error) = peer.notify_tool_list_changed().await
        {
            tracing::debug!(%error, "the client could not be told about other tools");
        }
    }
}
