//! The workspaces of sessions with commands in the background, as they were when they were last looked at.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use planwright_core::session::SessionIdentity;
use planwright_core::workspace::{ChangedPaths, FileChange};

use super::{FileTools, WorkspaceSnapshot};

/// What a workspace is compared with.
#[derive(Debug, Clone)]
pub struct Baseline {
    snapshot: WorkspaceSnapshot,
    /// What tools changed since then. It is kept and can be undone.
    covered: Vec<FileChange>,
}

#[derive(Debug, Default)]
pub(super) struct Baselines(Mutex<HashMap<SessionIdentity, Baseline>>);

impl Baseline {
    pub fn new(snapshot: WorkspaceSnapshot) -> Self {
        Self { snapshot, covered: Vec::new() }
    }

    pub(crate) fn snapshot(&self) -> &WorkspaceSnapshot {
        &self.snapshot
    }

    /// What other programs changed since then.
    pub fn compare(&self, after: &WorkspaceSnapshot) -> ChangedPaths {
        self.snapshot.compare(after).without(&self.covered)
    }
}

impl Baselines {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionIdentity, Baseline>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileTools {
    pub(crate) fn keep_baseline(&self, session: &SessionIdentity, baseline: Baseline) {
        self.shared.baselines.lock().insert(session.clone(), baseline);
    }

    pub(crate) fn take_baseline(&self, session: &SessionIdentity) -> Option<Baseline> {
        self.shared.baselines.lock().remove(session)
    }

    /// A tool made these changes while commands run in the background.
    pub(crate) fn cover_changes(&self, session: &SessionIdentity, changes: &[FileChange]) {
        if let Some(baseline) = self.shared.baselines.lock().get_mut(session) {
            baseline.covered.extend_from_slice(changes);
        }
    }
}
