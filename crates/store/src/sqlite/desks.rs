//! Desks of sessions that were written to lately, so that they need not be read and parsed each time.

use std::collections::HashMap;

use planwright_core::desk::Desk;
use planwright_core::journal::Head;
use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;

/// How much content is kept in memory at the most.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// What an entry takes besides its content, roughly.
const OVERHEAD: usize = 1024;

#[derive(Default)]
pub(super) struct Desks {
    kept: HashMap<SessionIdentity, KeptDesk>,
    bytes: usize,
}

/// A session as it is after everything carried out so far.
pub(super) struct KeptDesk {
    pub(super) session_id: i64,
    pub(super) head: Head,
    pub(super) desk: Desk,
    /// How much content it has, roughly; `None` if it is to be weighed, which takes as long as its plans are.
    pub(super) bytes: Option<usize>,
}

impl KeptDesk {
    fn weigh(&self) -> usize {
        OVERHEAD + self.desk.plans.values().map(|plan| plan.size()).sum::<usize>()
    }
}

impl Desks {
    pub(super) fn take(&mut self, session: &SessionIdentity) -> Option<KeptDesk> {
        let kept = self.kept.remove(session)?;
        self.bytes -= kept.bytes.unwrap_or(0).min(self.bytes);
        Some(kept)
    }

    /// Keeps the session, its active plan and what is being carried out; other plans are looked at rarely.
    pub(super) fn keep(&mut self, mut kept: KeptDesk) {
        let active = kept.desk.session.as_ref().and_then(|session| session.plan_mode.active_plan.clone());
        kept.desk.plans.retain(|id, plan| Some(id) == active.as_ref() || plan.status == PlanStatus::Executing);
        let bytes = kept.bytes.unwrap_or_else(|| kept.weigh());
        kept.bytes = Some(bytes);
        if self.bytes + bytes > MOST_BYTES {
            *self = Self::default();
        }
        self.bytes += bytes;
        self.kept.insert(kept.desk.identity.clone(), kept);
    }
}
