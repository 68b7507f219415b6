//! Sees what comes over the wire before it is understood: that something comes at all, and what came last.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// Clones watch the same answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    at: Option<Instant>,
    /// Whether anything had the form that was expected.
    data: bool,
    last: String,
}

impl Watch {
    /// Called for every piece on the wire; one without data is a sign of life.
    pub(super) fn saw(&self, data: &str) {
        let mut seen = self.seen();
        seen.at = Some(Instant::now());
        if !data.is_empty() {
            seen.data = true;
            data.clone_into(&mut seen.last);
        }
    }

    pub(super) fn last_sign(&self) -> Option<Instant> {
        self.seen().at
    }

    /// Something came, and nothing of it had the form of an answer.
    pub(super) fn saw_only_foreign_things(&self) -> bool {
        let seen = self.seen();
        seen.at.is_some() && !seen.data
    }

    pub(super) fn last(&self) -> String {
        self.seen().last.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
