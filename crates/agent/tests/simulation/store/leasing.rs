//! Who works on a session, by the time of day.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::session::SessionIdentity;
use planwright_engine::clock::Clock as _;
use planwright_engine::ledger::{Lease, LeaseOwner, Leasing, LedgerError, LedgerResult, Submission};

use super::{Kept, State};
use crate::sabotage::Sabotage;
use crate::world::{Occurrence, World};

/// Who has, or last had, the lease of a session.
#[derive(Debug, Clone)]
pub(super) struct Holder {
    owner: String,
    fence: u64,
    /// `None` once it was given back.
    runs_out: Option<Timestamp>,
}

impl Holder {
    fn is_running(&self, now: Timestamp) -> bool {
        self.runs_out.is_some_and(|at| at > now)
    }

    fn has(&self, lease: &Lease) -> bool {
        self.owner == lease.owner && self.fence == lease.fence
    }
}

impl State {
    pub(crate) fn acquire(
        &mut self,
        world: &World,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        let kept = self.kept_mut(session)?;
        Ok(kept.is_free_for(owner, world.clock.now()).then(|| kept.take(world, session, owner, ttl)))
    }

    pub(crate) fn renew(&mut self, world: &World, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        let Ok(kept) = self.kept_mut(&lease.session) else { return Ok(false) };
        let held = kept.holder.as_mut().filter(|holder| holder.has(lease) && holder.runs_out.is_some());
        let is_there = held.is_some();
        if let Some(holder) = held {
            holder.runs_out = Some(after(world.clock.now(), ttl));
        }
        Ok(is_there)
    }

    pub(crate) fn lease_owners(
        &mut self,
        world: &World,
        of: Option<&SessionIdentity>,
        longest: Duration,
    ) -> LedgerResult<Vec<LeaseOwner>> {
        let now = world.clock.now();
        let latest = after(now, longest);
        let mut owners = BTreeMap::new();
        for (session, kept) in &self.sessions {
            let Some(holder) = &kept.holder else { continue };
            let is_asked_for = match of {
                Some(of) => of == session && holder.runs_out.is_some(),
                None => holder.is_running(now),
            };
            if is_asked_for {
                let is_too_long: &mut bool = owners.entry(holder.owner.clone()).or_default();
                *is_too_long |= holder.runs_out.is_some_and(|at| at > latest);
            }
        }
        Ok(owners.into_iter().map(|(owner, is_too_long)| LeaseOwner { owner, is_too_long }).collect())
    }

    pub(crate) fn shorten_leases(&mut self, world: &World, owner: &str, ttl: Duration) -> LedgerResult<()> {
        let latest = after(world.clock.now(), ttl);
        for holder in self.sessions.values_mut().filter_map(|kept| kept.holder.as_mut()) {
            if holder.owner == owner && holder.is_running(latest) {
                holder.runs_out = Some(latest);
            }
        }
        Ok(())
    }

    pub(crate) fn current_lease(&mut self, world: &World, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
        let Ok(kept) = self.kept_mut(session) else { return Ok(None) };
        let held = kept.holder.as_ref().filter(|holder| holder.is_running(world.clock.now()));
        Ok(held.map(|holder| Lease { session: session.clone(), owner: holder.owner.clone(), fence: holder.fence }))
    }

    pub(crate) fn release(&mut self, world: &World, lease: &Lease) -> LedgerResult<()> {
        if let Ok(kept) = self.kept_mut(&lease.session) {
            kept.release(world, lease);
        }
        Ok(())
    }

    pub(crate) fn delete(&mut self, lease: &Lease) -> LedgerResult<()> {
        let kept = self.kept_mut(&lease.session)?;
        kept.check_held(lease)?;
        self.deleted.extend(self.sessions.remove_entry(&lease.session));
        self.forget_all_of(&lease.session);
        self.requests.retain(|_, (session, _, _)| *session != lease.session);
        self.pointers.values_mut().for_each(|chosen| chosen.retain(|session| *session != lease.session));
        Ok(())
    }
}

impl Kept {
    fn is_free_for(&self, owner: &str, now: Timestamp) -> bool {
        self.holder.as_ref().is_none_or(|holder| !holder.is_running(now) || holder.owner == owner)
    }

    fn check_held(&self, lease: &Lease) -> LedgerResult<()> {
        if self.holder.as_ref().is_some_and(|holder| holder.has(lease)) {
            return Ok(());
        }
        Err(LedgerError::Fenced(lease.clone()))
    }

    /// Whether a submission may be carried out, as far as the lease is concerned.
    pub(super) fn admit(&self, world: &World, submission: &Submission) -> LedgerResult<()> {
        match &submission.leasing {
            Leasing::None => Ok(()),
            Leasing::Take { owner, .. } if self.is_free_for(owner, world.clock.now()) => Ok(()),
            Leasing::Take { .. } => match &self.holder {
                Some(Holder { owner, fence, .. }) => {
                    let (session, owner) = (submission.session.clone(), owner.clone());
                    Err(LedgerError::Leased(Lease { session, owner, fence: *fence }))
                }
                None => Ok(()),
            },
            Leasing::Held(_) | Leasing::Release(_) if world.sabotage == Some(Sabotage::FencesAreForgotten) => Ok(()),
            Leasing::Held(lease) | Leasing::Release(lease) => {
                assert_eq!(lease.session, submission.session, "a lease of another session does not count here");
                self.check_held(lease)
            }
        }
    }

    /// What becomes of the lease with a submission that was carried out.
    pub(super) fn settle(&mut self, world: &World, submission: &Submission) -> Option<Lease> {
        match &submission.leasing {
            Leasing::None | Leasing::Held(_) => None,
            Leasing::Take { owner, ttl } => Some(self.take(world, &submission.session, owner, *ttl)),
            Leasing::Release(lease) => {
                self.release(world, lease);
                None
            }
        }
    }

    /// What becomes of it when the submission had been carried out before.
    pub(super) fn settle_again(&mut self, world: &World, submission: &Submission) -> Option<Lease> {
        match &submission.leasing {
            Leasing::None | Leasing::Held(_) | Leasing::Release(_) => None,
            Leasing::Take { owner, ttl } => {
                self.is_free_for(owner, world.clock.now()).then(|| self.take(world, &submission.session, owner, *ttl))
            }
        }
    }

    fn take(&mut self, world: &World, session: &SessionIdentity, owner: &str, ttl: Duration) -> Lease {
        let now = world.clock.now();
        let fence = match &self.holder {
            Some(holder) if holder.is_running(now) && holder.owner == owner => holder.fence,
            Some(holder) => holder.fence + 1,
            None => 1,
        };
        self.holder = Some(Holder { owner: owner.to_owned(), fence, runs_out: Some(after(now, ttl)) });
        let (owner, session) = (owner.to_owned(), session.clone());
        world.happened(Occurrence::Took { owner: owner.clone(), session: session.clone(), fence });
        Lease { session, owner, fence }
    }

    fn release(&mut self, world: &World, lease: &Lease) {
        let Some(holder) = self.holder.as_mut().filter(|holder| holder.has(lease)) else { return };
        holder.runs_out = None;
        let (owner, session, fence) = (lease.owner.clone(), lease.session.clone(), lease.fence);
        world.happened(Occurrence::Released { owner, session, fence });
    }
}

fn after(now: Timestamp, ttl: Duration) -> Timestamp {
    now.checked_add(ttl).unwrap()
}
