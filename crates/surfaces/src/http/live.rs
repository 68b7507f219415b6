//! What happens in turns while it happens: words of the model, tools that begin and end. It is told to whoever looks at
//! the session now and is kept nowhere; what counts is in the journal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planwright_core::session::SessionIdentity;
use planwright_engine::agent::Progress;
use tokio::sync::broadcast;

/// How much somebody who looks may be behind; then they miss some.
const BEHIND: usize = 256;

/// A cheap handle; clones share everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    looked_at: Arc<Mutex<HashMap<SessionIdentity, broadcast::Sender<Progress>>>>,
}

impl Live {
    /// What happens in the session from now on, in this process.
    pub(crate) fn look(&self, session: &SessionIdentity) -> broadcast::Receiver<Progress> {
        let mut looked_at = self.looked_at();
        // Sessions that nobody looks at any more are cleared away now and then.
        if looked_at.len() >= 64 && looked_at.len().is_power_of_two() {
            looked_at.retain(|_, told| told.receiver_count() > 0);
        }
        looked_at.entry(session.clone()).or_insert_with(|| broadcast::Sender::new(BEHIND)).subscribe()
    }

    pub(crate) fn tell(&self, session: &SessionIdentity, progress: &Progress) {
        if let Some(told) = self.looked_at().get(session) {
            let _ = told.send(progress.clone());
        }
    }

    fn looked_at(&self) -> MutexGuard<'_, HashMap<SessionIdentity, broadcast::Sender<Progress>>> {
        self.looked_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
