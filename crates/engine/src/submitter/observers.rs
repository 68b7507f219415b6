//! Callbacks after a commit, for metrics in this process.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use planwright_core::session::SessionIdentity;

use crate::ledger::Committed;

/// Called after each commit of this process. It must return quickly.
pub trait Observer: Send + Sync + fmt::Debug + 'static {
    fn committed(&self, session: &SessionIdentity, committed: &Committed);

    /// Called after each search and list of memories.
    fn memory_read(&self, session: &SessionIdentity, read: &MemoryRead) {
        let _ = (session, read);
    }
}

/// Which scopes were read, and what was dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryRead {
    pub goal_scope: bool,
    pub task_scope: bool,
    /// Rows that belong to another session.
    pub blocked: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct CommitObservers {
    all: Arc<RwLock<Vec<Arc<dyn Observer>>>>,
}

impl CommitObservers {
    pub(super) fn add(&self, observer: Arc<dyn Observer>) {
        self.all.write().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    pub(super) fn notify(&self, session: &SessionIdentity, committed: &Committed) {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().for_each(|observer| observer.committed(session, committed));
    }

    pub(super) fn notify_memory_read(&self, session: &SessionIdentity, read: &MemoryRead) {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().for_each(|observer| observer.memory_read(session, read));
    }
}
