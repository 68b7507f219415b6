//! The sessions that were written to lately, so that they need not be read and parsed each time.

use planwright_core::ids::PlanId;
use planwright_core::journal::Head;
use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;

/// How much content is kept in memory, in bytes.
const CAPACITY: u64 = 32 * 1024 * 1024;
/// What a session takes besides its content, roughly.
const OVERHEAD: usize = 1024;
/// How many sessions the cache makes room for at first.
const EXPECTED: usize = 64;

pub(super) struct SessionCache(Cache<SessionIdentity, CachedSession, Bytes>);

#[derive(Clone)]
struct Bytes;

impl Weighter<SessionIdentity, CachedSession> for Bytes {
    fn weight(&self, _: &SessionIdentity, session: &CachedSession) -> u64 {
        session.bytes.unwrap_or(OVERHEAD) as u64
    }
}

/// A session as it is after everything carried out so far.
pub(super) struct CachedSession {
    pub(super) session_id: i64,
    pub(super) head: Head,
    pub(super) snapshot: Snapshot,
    /// As its row has it.
    pub(super) activity: i64,
    /// How much content it has, roughly; `None` if it has to be measured, which takes time in proportion to its plans.
    pub(super) bytes: Option<usize>,
}

impl CachedSession {
    fn measure(&self) -> usize {
        OVERHEAD + self.snapshot.plans.values().map(|plan| plan.size()).sum::<usize>()
    }
}

impl Default for SessionCache {
    fn default() -> Self {
        Self(Cache::with_weighter(EXPECTED, CAPACITY, Bytes))
    }
}

impl SessionCache {
    pub(super) fn take(&mut self, session: &SessionIdentity) -> Option<CachedSession> {
        self.0.remove(session).map(|(_, cached)| cached)
    }

    /// Keeps the session, its active plan, its round and executing plans; the others and its memories are rarely read.
    pub(super) fn keep(&mut self, mut session: CachedSession) {
        let opened = session.snapshot.session.as_ref();
        let (active, round) =
            opened.map(|opened| (opened.plan_mode.active_plan.clone(), opened.round.clone())).unwrap_or_default();
        let is_kept = |id: &PlanId| active.as_ref() == Some(id) || round.as_ref() == Some(id);
        session.snapshot.plans.retain(|id, plan| is_kept(id) || plan.status == PlanStatus::Executing);
        session.snapshot.memories.clear();
        session.bytes = Some(session.bytes.unwrap_or_else(|| session.measure()));
        self.0.insert(session.snapshot.identity.clone(), session);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
