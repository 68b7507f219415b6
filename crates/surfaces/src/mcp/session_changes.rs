//! Notices what happens in a session: after a call of this client, and after what another process did, such as an approval
//! on the command line.

use std::sync::Arc;
use std::time::Duration;

use planwright_agent::tools::ExternalTools;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::feed::SessionWatch;
use planwright_engine::ledger::LedgerResult;
use tokio::sync::watch;
use tokio::time::sleep;

use super::Never;

/// The pause after a look that failed.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// A cheap handle; clones share everything.
#[derive(Debug, Clone, Default)]
pub(super) struct SessionChanges {
    /// The number of the journal's last entry.
    seq: Arc<watch::Sender<u64>>,
    /// How often the offered tools have changed.
    tools: Arc<watch::Sender<u64>>,
}

impl SessionChanges {
    /// Becomes ready with every entry of the journal from now on.
    pub(super) fn entries(&self) -> watch::Receiver<u64> {
        self.seq.subscribe()
    }

    /// Becomes ready with every change of the offered tools from now on.
    pub(super) fn tools(&self) -> watch::Receiver<u64> {
        self.tools.subscribe()
    }

    /// The tools of an upstream server changed.
    pub(super) fn tools_changed(&self) {
        self.tools.send_modify(|changes| *changes += 1);
    }

    /// Looks whenever the session was written to, as long as it is polled.
    pub(super) async fn watch(&self, engine: &Engine, session: &SessionIdentity, mut written: SessionWatch) -> Never {
        let mut names = None;
        loop {
            match self.look(engine, session, &mut names).await {
                Ok(()) => written.changed().await,
                // The calls say so themselves; here it is enough to look again.
                Err(error) => {
                    tracing::debug!(%error, "the session could not be looked at");
                    sleep(RETRY_PAUSE).await;
                }
            }
        }
    }

    /// The list of tools depends on the style of plan work and on the planning files.
    async fn look(
        &self,
        engine: &Engine,
        session: &SessionIdentity,
        names: &mut Option<Vec<&'static str>>,
    ) -> LedgerResult<()> {
        let stored = engine.ledger().session(session).await?;
        let seq = stored.as_ref().map_or(0, |stored| stored.head.seq);
        if names.is_none() || seq != *self.seq.borrow() {
            let stored = stored.map(|stored| stored.session.into());
            let offered = ExternalTools::new(engine).advertised_names(session, stored);
            if names.replace(offered.clone()).is_some_and(|before| before != offered) {
                self.tools_changed();
            }
            self.seq.send_replace(seq);
        }
        Ok(())
    }
}
