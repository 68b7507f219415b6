//! SessionCache of sessions that were written to lately, so that they need not be read and parsed each time.

use std::collections::HashMap;

use planwright_core::journal::Head;
use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;

/// How much content is kept in memory at the most.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// What an entry takes besides its content, roughly.
const OVERHEAD: usize = 1024;

#[derive(Default)]
pub(super) struct SessionCache {
    kept: HashMap<SessionIdentity, CachedSession>,
    bytes: usize,
}

/// A session as it is after everything carried out so far.
pub(super) struct CachedSession {
    pub(super) session_id: i64,
    pub(super) head: Head,
    pub(super) snapshot: Snapshot,
    /// How much content it has, roughly; `None` if it is to be weighed, which takes as long as its plans are.
    pub(super) bytes: Option<usize>,
}

impl CachedSession {
    fn weigh(&self) -> usize {
        OVERHEAD + self.snapshot.plans.values().map(|plan| plan.size()).sum::<usize>()
    }
}

impl SessionCache {
    pub(super) fn take(&mut self, session: &SessionIdentity) -> Option<CachedSession> {
        let kept = self.kept.remove(session)?;
        self.bytes -= kept.bytes.unwrap_or(0).min(self.bytes);
        Some(kept)
    }

    /// Keeps the session, its active plan and what is being carried out; other plans are looked at rarely.
    pub(super) fn keep(&mut self, mut kept: CachedSession) {
        let active = kept.snapshot.session.as_ref().and_then(|session| session.plan_mode.active_plan.clone());
        kept.snapshot.plans.retain(|id, plan| Some(id) == active.as_ref() || plan.status == PlanStatus::Executing);
        let bytes = kept.bytes.unwrap_or_else(|| kept.weigh());
        kept.bytes = Some(bytes);
        if self.bytes + bytes > MOST_BYTES {
            *self = Self::default();
        }
        self.bytes += bytes;
        self.kept.insert(kept.snapshot.identity.clone(), kept);
    }
}
