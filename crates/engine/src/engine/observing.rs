//! Telling others in this process what was committed, for counting.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use planwright_core::session::SessionIdentity;

use super::Engine;
use crate::ledger::Committed;

/// Is told, after the commit, what this process did. It must not take long.
pub trait Observer: Send + Sync + fmt::Debug + 'static {
    fn committed(&self, session: &SessionIdentity, committed: &Committed);
}

#[derive(Debug, Clone, Default)]
pub(super) struct Observers {
    all: Arc<RwLock<Vec<Arc<dyn Observer>>>>,
}

impl Observers {
    pub(super) fn tell(&self, session: &SessionIdentity, committed: &Committed) {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().for_each(|observer| observer.committed(session, committed));
    }
}

impl Engine {
    /// Has the observer told of everything that this engine, and every clone of it, commits from now on.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.observers.all.write().unwrap_or_else(PoisonError::into_inner).push(observer);
    }
}
