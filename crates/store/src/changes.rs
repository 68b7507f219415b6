//! What was written, told to everybody in this process who follows it.

use planwright_core::session::SessionIdentity;
use planwright_engine::server_ledger::Change;
use tokio::sync::broadcast;

/// How far a reader may fall behind before it is told to look at everything.
const KEPT: usize = 4096;

/// A cheap handle; clones tell the same readers.
#[derive(Debug, Clone)]
pub(crate) struct ChangeBroadcaster(broadcast::Sender<Change>);

impl ChangeBroadcaster {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(KEPT))
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.0.subscribe()
    }

    /// Tells of each session once, if anybody listens.
    pub(crate) fn notify(&self, mut sessions: Vec<SessionIdentity>) {
        if self.0.receiver_count() == 0 {
            return;
        }
        sessions.sort_unstable();
        sessions.dedup();
        for session in sessions {
            let _ = self.0.send(Change::Session(session));
        }
    }

    /// Tells that it is not known what was written.
    pub(crate) fn notify_unknown(&self) {
        let _ = self.0.send(Change::Anywhere);
    }
}
