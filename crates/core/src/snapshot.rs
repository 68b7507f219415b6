//! The part of a session that a command needs to see: the session itself, its active plan and the plan it names.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::auto::AutoState;
use crate::copy_on_write::CopyOnWrite;
use crate::ids::{MemoryId, PlanId, RequestId};
use crate::memory::MemoryRecord;
use crate::plan::{Plan, PlanStatus};
use crate::refusal::Refusal;
use crate::session::{Session, SessionIdentity};
use crate::turn::OpenTurn;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub identity: SessionIdentity,
    /// `None` until the session is opened.
    pub session: Option<CopyOnWrite<Session>>,
    /// The plans that were loaded; the session may have more.
    pub plans: BTreeMap<PlanId, Arc<Plan>>,
    /// The memories that were loaded or changed; the session may have more.
    pub memories: BTreeMap<MemoryId, MemoryRecord>,
}

/// When and by whom a command was given. Time and ids come from outside, so that the same command on the same
/// snapshot always decides the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandContext {
    pub at: Timestamp,
    pub by: Actor,
    pub request: RequestId,
}

impl Snapshot {
    pub fn new(identity: SessionIdentity) -> Self {
        Self { identity, session: None, plans: BTreeMap::new(), memories: BTreeMap::new() }
    }

    pub fn opened(&self) -> Result<&Session, Refusal> {
        self.session.as_deref().ok_or_else(|| Refusal::not_found(format!("There is no session {}.", self.identity)))
    }

    pub fn plan(&self, id: &PlanId) -> Option<&Plan> {
        self.plans.get(id).map(Arc::as_ref)
    }

    /// The plan a command names. A plan of another session is not found, the same as one that does not exist.
    pub fn named(&self, id: &PlanId) -> Result<&Plan, Refusal> {
        self.plan(id).ok_or_else(|| Refusal::not_found(format!("There is no plan {id} in session {}.", self.identity)))
    }

    /// The memory a command names, if it is not forgotten. One of another session is not found, the same as one that does
    /// not exist.
    pub fn remembered(&self, id: &MemoryId) -> Result<&MemoryRecord, Refusal> {
        let not_found = || Refusal::not_found(format!("There is no memory {id} in session {}.", self.identity));
        self.memories.get(id).filter(|record| !record.forgotten).ok_or_else(not_found)
    }

    /// The session's goals, tasks, schedules and runs.
    pub fn auto(&self) -> &AutoState {
        const NONE: &AutoState = &AutoState::EMPTY;
        self.session.as_ref().and_then(|session| session.auto.as_deref()).unwrap_or(NONE)
    }

    pub(crate) fn not_here(&self, what: &str, id: &str) -> Refusal {
        Refusal::not_found(format!("There is no {what} {id} in session {}.", self.identity))
    }

    /// The turn that is under way, or that a process left open.
    pub fn open_turn(&self) -> Option<&OpenTurn> {
        self.session.as_ref()?.turn.as_ref()
    }

    pub fn active(&self) -> Option<&Plan> {
        self.plan(self.session.as_ref()?.plan_mode.active_plan.as_ref()?)
    }

    /// The round that the agent of another program records beside the active plan, or its last one.
    pub fn round(&self) -> Option<&Plan> {
        self.plan(self.session.as_ref()?.round.as_ref()?)
    }

    /// The plan whose decision the agent of another program waits for: a round that is ready or to be changed, else the one of
    /// the two that it worked on last. A round that is still recorded is not waited for.
    pub fn awaited(&self) -> Option<&Plan> {
        let is_open = |round: &&Plan| round.status == PlanStatus::Collecting && round.feedback.is_none();
        let (round, active) = (self.round().filter(|round| !is_open(round)), self.active());
        let (Some(round), Some(active)) = (round, active) else { return round.or(active) };
        let is_round = match (round.status, active.status) {
            (PlanStatus::Ready | PlanStatus::Collecting, _) => true,
            // It is as the agent wrote it. A round that began later is what the agent waits for.
            (_, PlanStatus::Ready) => round.created_at >= active.updated_at,
            _ => round.updated_at >= active.updated_at,
        };
        Some(if is_round { round } else { active })
    }

    /// The active plan, to be kept longer than this snapshot.
    pub fn active_handle(&self) -> Option<Arc<Plan>> {
        self.plans.get(self.session.as_ref()?.plan_mode.active_plan.as_ref()?).cloned()
    }
}
