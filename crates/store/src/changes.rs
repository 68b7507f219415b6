//! Announces to the tasks of this process which sessions were written to.

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::StoreChange;
use tokio::sync::broadcast;

/// How many changes a receiver may fall behind before it has to read every session.
const CAPACITY: usize = 4096;

/// A cheap handle; clones send to the same receivers.
#[derive(Debug, Clone)]
pub(crate) struct ChangeBroadcaster(broadcast::Sender<StoreChange>);

impl ChangeBroadcaster {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<StoreChange> {
        self.0.subscribe()
    }

    /// Announces each session once, if there are receivers.
    pub(crate) fn notify(&self, mut sessions: Vec<SessionIdentity>) {
        if self.0.receiver_count() == 0 {
            return;
        }
        sessions.sort_unstable();
        sessions.dedup();
        for session in sessions {
            let _ = self.0.send(StoreChange::Session(session));
        }
    }

    /// Announces that something was written, and that it is not known where.
    pub(crate) fn notify_unknown(&self) {
        let _ = self.0.send(StoreChange::Anywhere);
    }
}
