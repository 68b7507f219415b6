//! The rules of leases, the same for both stores: who may write under one, and which fence comes next.

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Lease, Leasing, LedgerError, LedgerResult, Submission};

/// Who has, or last had, the lease of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) owner: String,
    pub(crate) fence: u64,
    /// It has neither run out nor been given back.
    pub(crate) running: bool,
}

impl Holder {
    /// The holder after `owner` takes the lease. A new owner, or one whose lease expired, gets the next fence.
    pub(crate) fn next(current: Option<&Self>, owner: &str) -> Self {
        let fence = match current {
            Some(current) if current.running && current.owner == owner => current.fence,
            Some(current) => current.fence + 1,
            None => 1,
        };
        Self { owner: owner.to_owned(), fence, running: true }
    }

    /// A lease is valid until another owner has taken it, even if it expired meanwhile.
    fn has(&self, lease: &Lease) -> bool {
        self.owner == lease.owner && self.fence == lease.fence
    }

    pub(crate) fn lease(&self, session: &SessionIdentity) -> Lease {
        Lease { session: session.clone(), owner: self.owner.clone(), fence: self.fence }
    }
}

pub(crate) fn is_free_for(holder: Option<&Holder>, owner: &str) -> bool {
    holder.is_none_or(|holder| !holder.running || holder.owner == owner)
}

/// Fails what is submitted under a lease that is lost.
pub(crate) fn check_held(holder: Option<&Holder>, lease: &Lease) -> LedgerResult<()> {
    if holder.is_some_and(|holder| holder.has(lease)) {
        return Ok(());
    }
    Err(LedgerError::Fenced(lease.clone()))
}

/// Whether a submission may be carried out, as far as the lease of its session is concerned.
pub(crate) fn admit(holder: Option<&Holder>, submission: &Submission) -> LedgerResult<()> {
    match &submission.leasing {
        Leasing::None => Ok(()),
        Leasing::Take { owner, .. } if is_free_for(holder, owner) => Ok(()),
        Leasing::Take { .. } => match holder {
            Some(holder) => Err(LedgerError::Leased(holder.lease(&submission.session))),
            None => Ok(()),
        },
        Leasing::Held(lease) | Leasing::Release(lease) => {
            // A lease of another session does not count for this one.
            check_held(holder.filter(|_| lease.session == submission.session), lease)
        }
    }
}
