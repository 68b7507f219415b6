//! Notices what happens in a session: after a call of this client, and after whatever another process did, such as an
//! approval on the command line.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use tokio::sync::{Notify, watch};
use tokio::time::MissedTickBehavior;

use super::Never;

const LOOK_EVERY: Duration = Duration::from_millis(250);

/// A cheap handle; clones share everything.
#[derive(Debug, Clone)]
pub(super) struct SessionChanges {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    engine: Engine,
    session: SessionIdentity,
    /// The number of the journal's last entry.
    seq: watch::Sender<u64>,
    /// How often the offered tools have changed.
    tools: watch::Sender<u64>,
    look_now: Notify,
}

impl SessionChanges {
    pub(super) fn new(engine: Engine, session: SessionIdentity) -> Self {
        let (seq, tools) = (watch::channel(0).0, watch::channel(0).0);
        Self { shared: Arc::new(Shared { engine, session, seq, tools, look_now: Notify::new() }) }
    }

    /// Becomes ready with every entry of the journal from now on.
    pub(super) fn entries(&self) -> watch::Receiver<u64> {
        self.shared.seq.subscribe()
    }

    /// Becomes ready with every change of the offered tools from now on.
    pub(super) fn tools(&self) -> watch::Receiver<u64> {
        self.shared.tools.subscribe()
    }

    /// Something was done that may have changed the session.
    pub(super) fn look_now(&self) {
        self.shared.look_now.notify_one();
    }

    /// The tools of an upstream server changed.
    pub(super) fn tools_changed(&self) {
        self.shared.tools.send_modify(|changes| *changes += 1);
    }

    /// Looks again and again, as long as it is polled.
    pub(super) async fn watch(&self) -> Never {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut known = None;
        loop {
            match self.look(&mut known).await {
                Ok(()) => {}
                // The calls say so themselves; here it is enough to look again.
                Err(error) => tracing::debug!(%error, "the session could not be looked at"),
            }
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.shared.look_now.notified() => {}
            }
        }
    }

    /// The list of tools depends on the style of plan work and on the planning files.
    async fn look(&self, known: &mut Option<Vec<&'static str>>) -> LedgerResult<()> {
        let stored = self.shared.engine.ledger().session(&self.shared.session).await?;
        let seq = stored.as_ref().map_or(0, |stored| stored.head.seq);
        if known.is_some() && seq == *self.shared.seq.borrow() {
            return Ok(());
        }
        let tools = self.shared.engine.external_tools();
        let names = tools.advertised_names(&self.shared.session, stored.map(|stored| stored.session));
        if known.as_ref().is_some_and(|known| *known != names) {
            self.tools_changed();
        }
        *known = Some(names);
        self.shared.seq.send_replace(seq);
        Ok(())
    }
}
