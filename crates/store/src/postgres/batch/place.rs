//! One session of a batch, in memory, moving on with each of its commands.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use planwright_core::desk::Desk;
use planwright_core::event::Event;
use planwright_core::ids::PlanId;
use planwright_core::journal::Head;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{DamagedRow, LedgerError, LedgerResult, Submission};

use crate::carry_out::Prepared;

pub(super) struct Place {
    /// `None` if there is no such session and nobody in the batch can begin it.
    pub(super) id: Option<i64>,
    /// The row was made in this transaction and goes again if the session is not begun after all.
    pub(super) fresh: bool,
    pub(super) head: Head,
    pub(super) desk: Desk,
    pub(super) damage: Option<DamagedRow>,
    pub(super) unreadable: BTreeMap<PlanId, DamagedRow>,
    pub(super) holder: Option<Holder>,
    /// Plans to be inserted, and plans to be updated.
    pub(super) made: BTreeSet<PlanId>,
    pub(super) changed: BTreeSet<PlanId>,
    /// Set once something is to be written.
    pub(super) last_active: Option<Timestamp>,
}

/// Who has the lease of a session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) owner: String,
    pub(super) fence: i64,
}

impl Place {
    /// As long as nothing is known about it.
    pub(super) fn new(session: &SessionIdentity) -> Self {
        Self {
            id: None,
            fresh: false,
            head: Head::START,
            desk: Desk::new(session.clone()),
            damage: None,
            unreadable: BTreeMap::new(),
            holder: None,
            made: BTreeSet::new(),
            changed: BTreeSet::new(),
            last_active: None,
        }
    }

    pub(super) fn active(&self) -> Option<&PlanId> {
        self.desk.session.as_ref()?.plan_mode.active_plan.as_ref()
    }

    pub(super) fn check_readable(&self) -> LedgerResult<()> {
        self.damage.as_ref().map_or(Ok(()), |damage| Err(damaged(damage)))
    }

    pub(super) fn check_plan(&self, plan: &PlanId) -> LedgerResult<()> {
        self.unreadable.get(plan).map_or(Ok(()), |damage| Err(damaged(damage)))
    }

    /// Whoever needs the active plan cannot do as if there were none, only because it cannot be found.
    pub(super) fn check_active(&self) -> LedgerResult<()> {
        let Some(active) = self.active() else { return Ok(()) };
        self.check_plan(active)?;
        if self.desk.plans.contains_key(active) {
            return Ok(());
        }
        Err(LedgerError::damaged(format!("plan {active} of {}", self.desk.identity), "its row is missing"))
    }

    /// A plan can only be taken in if no other session has it.
    pub(super) fn check_home(&self, plan: &PlanId, home: i64) -> LedgerResult<()> {
        if self.id == Some(home) {
            return Ok(());
        }
        Err(Refusal::conflict(format!("Plan {plan} is in another session already.")).into())
    }

    pub(super) fn check_lease(&self, submission: &Submission) -> LedgerResult<()> {
        let Some(lease) = &submission.lease else { return Ok(()) };
        let holds = self.holder.as_ref().is_some_and(|holder| {
            holder.owner == lease.owner && u64::try_from(holder.fence).is_ok_and(|fence| fence == lease.fence)
        });
        if holds && lease.session == submission.session {
            return Ok(());
        }
        Err(Refusal::conflict(format!("Session {} is held by somebody else now.", submission.session)).into())
    }

    /// Remembers what is to be written for a command that was carried out here.
    pub(super) fn note(&mut self, prepared: &Prepared, submission: &Submission) -> LedgerResult<i64> {
        let id = self.id.ok_or_else(|| LedgerError::Internal(format!("session {} has no row", submission.session)))?;
        self.made.extend(prepared.made().cloned());
        let stored = prepared.plans.iter().filter(|plan| !self.made.contains(*plan));
        self.changed.extend(stored.filter(|plan| self.desk.plans.contains_key(*plan)).cloned());
        self.last_active = Some(submission.stamp.at);
        Ok(id)
    }

    /// What the caller is shown: the session, its active plan, the plan it named and those it made or changed, no
    /// matter what else others in the batch needed.
    pub(super) fn desk_after(&self, submission: &Submission, events: &[Event]) -> Desk {
        let mut desk = Desk { session: self.desk.session.clone(), ..Desk::new(self.desk.identity.clone()) };
        let shown =
            self.active().into_iter().chain(submission.command.subject()).chain(events.iter().filter_map(Event::plan));
        for id in shown {
            if let Some(plan) = self.desk.plans.get(id) {
                desk.plans.entry(id.clone()).or_insert_with(|| plan.clone());
            }
        }
        desk
    }
}

fn damaged(row: &DamagedRow) -> LedgerError {
    LedgerError::damaged(row.what.clone(), &row.reason)
}
