//! One session of a batch, in memory, as it is after each of its commands.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::event::{Event, MemoryEvent};
use planwright_core::ids::PlanId;
use planwright_core::journal::Head;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{DamagedRow, Lease, Leasing, LedgerError, LedgerResult, RunsRow, Submission};

use crate::apply_command::AppliedCommand;
use crate::leasing::{self, Holder, is_free_for};
use crate::memory_rows::MemoryRowChange;
use crate::plan_rows::PlanRowChanges;
use crate::waiting::WaitingChanges;

pub(super) struct BatchSession {
    /// `None` if there is no such session and no command of the batch can open it.
    pub(super) id: Option<i64>,
    /// Another transaction holds the session.
    pub(super) busy: bool,
    /// The row was made in this transaction and goes again if the session is not begun after all.
    pub(super) fresh: bool,
    pub(super) head: Head,
    pub(super) snapshot: Snapshot,
    pub(super) damage: Option<DamagedRow>,
    pub(super) unreadable: BTreeMap<PlanId, DamagedRow>,
    /// The holder of the lease, if a command of the batch depends on it.
    pub(super) holder: Option<Holder>,
    /// How long the lease is to run from now on, if a command of the batch has changed it.
    pub(super) lease_runs: Option<Duration>,
    /// Plans of which something is to be written, and those among them that are new.
    pub(super) changed: BTreeMap<PlanId, PlanRowChanges>,
    pub(super) made: BTreeSet<PlanId>,
    /// What is to be written of memories, in order.
    pub(super) memories: Vec<MemoryRowChange>,
    /// What is to be written of the list of plans that may wait for a person.
    pub(super) waiting: WaitingChanges,
    /// What a search for sessions is to look through.
    pub(super) search_text: Option<String>,
    /// What the row about schedules and runs is to say.
    pub(super) auto: Option<RunsRow>,
    /// Set once something is to be written.
    pub(super) last_active: Option<Timestamp>,
}

impl BatchSession {
    /// A session that is not loaded yet.
    pub(super) fn new(session: &SessionIdentity) -> Self {
        Self {
            id: None,
            busy: false,
            fresh: false,
            head: Head::START,
            snapshot: Snapshot::new(session.clone()),
            damage: None,
            unreadable: BTreeMap::new(),
            holder: None,
            lease_runs: None,
            changed: BTreeMap::new(),
            made: BTreeSet::new(),
            memories: Vec::new(),
            waiting: WaitingChanges::new(),
            search_text: None,
            auto: None,
            last_active: None,
        }
    }

    pub(super) fn active(&self) -> Option<&PlanId> {
        self.snapshot.session.as_ref()?.plan_mode.active_plan.as_ref()
    }

    pub(super) fn round(&self) -> Option<&PlanId> {
        self.snapshot.session.as_ref()?.round.as_ref()
    }

    pub(super) fn check_readable(&self) -> LedgerResult<()> {
        self.damage.as_ref().map_or(Ok(()), |damage| Err(damaged(damage)))
    }

    pub(super) fn check_plan(&self, plan: &PlanId) -> LedgerResult<()> {
        self.unreadable.get(plan).map_or(Ok(()), |damage| Err(damaged(damage)))
    }

    /// A command that needs the active plan must not act as if there were none, or no round, because a row is missing.
    pub(super) fn check_active(&self) -> LedgerResult<()> {
        for plan in self.active().into_iter().chain(self.round()) {
            self.check_plan(plan)?;
            if !self.snapshot.plans.contains_key(plan) {
                let what = format!("plan {plan} of {}", self.snapshot.identity);
                return Err(LedgerError::damaged(what, "its row is missing"));
            }
        }
        Ok(())
    }

    /// A plan can only be taken in if no other session has it.
    pub(super) fn check_home(&self, plan: &PlanId, home: i64) -> LedgerResult<()> {
        if self.id == Some(home) {
            return Ok(());
        }
        Err(Refusal::conflict(format!("Plan {plan} is in another session already.")).into())
    }

    pub(super) fn admit(&self, submission: &Submission) -> LedgerResult<()> {
        leasing::admit(self.holder.as_ref(), submission)
    }

    /// The lease after a submission was carried out.
    pub(super) fn settle(&mut self, submission: &Submission) -> Option<Lease> {
        match &submission.leasing {
            Leasing::None | Leasing::Held(_) => None,
            Leasing::Take { owner, ttl } => Some(self.take(owner, *ttl)),
            Leasing::Release(_) => {
                self.holder.iter_mut().for_each(|holder| holder.running = false);
                self.lease_runs = Some(Duration::ZERO);
                None
            }
        }
    }

    /// The lease after a submission that had been carried out before. A lease that it released stays released.
    pub(super) fn settle_again(&mut self, submission: &Submission) -> Option<Lease> {
        match &submission.leasing {
            Leasing::None | Leasing::Held(_) | Leasing::Release(_) => None,
            Leasing::Take { owner, ttl } => is_free_for(self.holder.as_ref(), owner).then(|| self.take(owner, *ttl)),
        }
    }

    fn take(&mut self, owner: &str, ttl: Duration) -> Lease {
        let next = Holder { running: !ttl.is_zero(), ..Holder::next(self.holder.as_ref(), owner) };
        let lease = next.lease(&self.snapshot.identity);
        self.holder = Some(next);
        self.lease_runs = Some(ttl);
        lease
    }

    /// Remembers what is to be written for a command that was carried out here.
    pub(super) fn note(&mut self, applied: &AppliedCommand, submission: &Submission) -> LedgerResult<i64> {
        let id = self.id.ok_or_else(|| LedgerError::Internal(format!("session {} has no row", submission.session)))?;
        self.made.extend(applied.made().cloned());
        for (plan, rewrite) in &applied.plans {
            self.changed.entry(plan.clone()).or_default().join(rewrite);
        }
        self.memories.extend(applied.memories.iter().cloned());
        self.waiting.extend(applied.waiting.iter().map(|(plan, since)| (plan.clone(), *since)));
        if applied.search_text.is_some() {
            self.search_text.clone_from(&applied.search_text);
        }
        self.auto = applied.auto.or(self.auto);
        self.last_active = Some(submission.context.at);
        Ok(id)
    }

    /// What the caller is shown: the session, its active plan, its round and the one that was active before, the plan that is worked
    /// on, the plan it named and those it made or changed, no matter what else others in the batch needed.
    pub(super) fn snapshot_after(
        &self,
        submission: &Submission,
        events: &[Event],
        active_before: Option<&PlanId>,
    ) -> Snapshot {
        let mut snapshot =
            Snapshot { session: self.snapshot.session.clone(), ..Snapshot::new(self.snapshot.identity.clone()) };
        let worked_on = self.snapshot.session.as_deref().and_then(Session::worked_on);
        let at_hand = self.active().into_iter().chain(self.round());
        let named = at_hand.chain(active_before).chain(worked_on).chain(submission.command.subject());
        let shown = named.chain(events.iter().filter_map(Event::plan));
        for id in shown {
            if let Some(plan) = self.snapshot.plans.get(id) {
                snapshot.plans.entry(id.clone()).or_insert_with(|| plan.clone());
            }
        }
        for id in events.iter().filter_map(Event::memory_event).map(MemoryEvent::memory) {
            if let Some(record) = self.snapshot.memories.get(id) {
                snapshot.memories.insert(id.clone(), record.clone());
            }
        }
        snapshot
    }
}

fn damaged(row: &DamagedRow) -> LedgerError {
    LedgerError::damaged(row.what.clone(), &row.reason)
}
