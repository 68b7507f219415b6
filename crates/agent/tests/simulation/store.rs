//! A store in memory that keeps the promises of the ledger, on one thread. It outlives every process.

mod leasing;
mod memories;
mod submitting;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::journal::{Entry, Head, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{LedgerResult, StoredSession};

use crate::world::World;
use leasing::Holder;
pub(crate) use memories::Remembered;

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) world: Arc<World>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) sessions: BTreeMap<SessionIdentity, Kept>,
    /// The content of sessions that were deleted; only the checks read it.
    pub(crate) deleted: BTreeMap<SessionIdentity, Kept>,
    /// Where the entries of a request are: the first one, and how many.
    requests: BTreeMap<RequestId, (SessionIdentity, u64, u64)>,
    /// The sessions of a transport, the last chosen one last.
    pub(crate) pointers: BTreeMap<String, Vec<SessionIdentity>>,
    /// When processes were last alive, by their names.
    pub(crate) alive: BTreeMap<String, Timestamp>,
    /// By their place; `None` for one whose session was deleted.
    pub(crate) memories: Vec<Option<Remembered>>,
    /// Counts what was written, over all sessions.
    written: u64,
}

/// Everything there is of one session.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) session: Session,
    pub(crate) plans: BTreeMap<PlanId, Arc<Plan>>,
    pub(crate) head: Head,
    pub(crate) sealed: Vec<SealedEntry>,
    pub(crate) entries: Vec<Entry>,
    holder: Option<Holder>,
    pub(crate) last_written: u64,
}

impl Store {
    pub(crate) fn new(world: &Arc<World>) -> Arc<Self> {
        Arc::new(Self { world: Arc::clone(world), state: Mutex::default() })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    pub(crate) fn kept(&self, session: &SessionIdentity) -> LedgerResult<&Kept> {
        let missing = || Refusal::not_found(format!("There is no session {session}.")).into();
        self.sessions.get(session).ok_or_else(missing)
    }

    /// What is kept of a session, also of one that was deleted.
    pub(crate) fn ever_kept(&self, session: &SessionIdentity) -> Option<&Kept> {
        self.sessions.get(session).or_else(|| self.deleted.get(session))
    }

    fn kept_mut(&mut self, session: &SessionIdentity) -> LedgerResult<&mut Kept> {
        let missing = || Refusal::not_found(format!("There is no session {session}.")).into();
        self.sessions.get_mut(session).ok_or_else(missing)
    }

    /// The session, its active plan, the one that its turn carries out, and these.
    pub(crate) fn snapshot<'a>(
        &self,
        session: &SessionIdentity,
        plans: impl IntoIterator<Item = &'a PlanId>,
    ) -> Snapshot {
        let mut snapshot = Snapshot::new(session.clone());
        let Some(kept) = self.sessions.get(session) else { return snapshot };
        let at_hand = kept.session.plan_mode.active_plan.iter().chain(kept.session.worked_on());
        let at_hand = at_hand.filter_map(|id| kept.plans.get_key_value(id));
        for (id, plan) in plans.into_iter().filter_map(|id| kept.plans.get_key_value(id)).chain(at_hand) {
            snapshot.plans.insert(id.clone(), Arc::clone(plan));
        }
        snapshot.session = Some(kept.session.clone().into());
        snapshot
    }
}

impl Kept {
    /// Its plans, in the order they were made.
    pub(crate) fn numbered(&self) -> Vec<&Plan> {
        let mut plans: Vec<_> = self.plans.values().map(Arc::as_ref).collect();
        plans.sort_by_key(|plan| plan.number);
        plans
    }

    pub(crate) fn stored(&self) -> StoredSession {
        let last_active = self.entries.last().map_or(self.session.opened_at, |entry| entry.at);
        StoredSession { session: self.session.clone(), head: self.head, last_active }
    }
}
