//! The policy that decisions are checked with: the configured one and what the store adds to it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use planwright_core::policy::Policy;

use crate::ledger::{Ledger, LedgerResult};
use crate::lookup::approval_state;

/// The last result. A plan that is carried out asks for it with every step, and the records change rarely. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct PolicyInForce(Arc<Mutex<Option<Known>>>);

#[derive(Debug)]
struct Known {
    /// The hash of the last record, which covers those before it.
    head: Option<[u8; 32]>,
    configured: Arc<Policy>,
    policy: Arc<Policy>,
    read_at: Instant,
}

/// For how long a policy counts for what is no approval. A message takes no further look at the store within it.
const RECENT: Duration = Duration::from_secs(1);

impl PolicyInForce {
    /// The policy as it was within the last second, for what is no approval.
    pub(super) async fn recent(&self, ledger: &dyn Ledger, configured: &Arc<Policy>) -> LedgerResult<Arc<Policy>> {
        let recent = {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_recent =
                |known: &&Known| known.read_at.elapsed() < RECENT && Arc::ptr_eq(&known.configured, configured);
            known.as_ref().filter(is_recent).map(|known| Arc::clone(&known.policy))
        };
        match recent {
            Some(policy) => Ok(policy),
            None => self.get(ledger, configured).await,
        }
    }

    /// The last record is looked at every time, so that a change by another process counts at once. All records are read and
    /// checked when it is another one.
    pub(super) async fn get(&self, ledger: &dyn Ledger, configured: &Arc<Policy>) -> LedgerResult<Arc<Policy>> {
        let head = ledger.approval_head().await?;
        if let Some(policy) = self.known(head, configured) {
            return Ok(policy);
        }
        let records = ledger.approval_records().await?;
        let state = approval_state(&records)?;
        let is_enrolled = !state.approvers.is_empty();
        let approval = match &state.policy {
            Some(in_force) => in_force.with_defaults(is_enrolled).stricter(&configured.approval),
            None => configured.approval.with_defaults(is_enrolled),
        };
        let policy = Arc::new(Policy {
            approval,
            approvers: state.approvers,
            bound_users: Arc::new(state.bound_users),
            agents_seen: state.agents_seen,
            kept_clients: Arc::new(state.kept_clients),
            permissions: Arc::new(state.permissions),
            ..(**configured).clone()
        });
        // These records may be newer than the head above.
        let head = records.last().map(|record| record.hash);
        let read_at = Instant::now();
        let known = Known { head, configured: Arc::clone(configured), policy: Arc::clone(&policy), read_at };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(policy)
    }

    fn known(&self, head: Option<[u8; 32]>, configured: &Arc<Policy>) -> Option<Arc<Policy>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_mut()?;
        let same = known.head == head && Arc::ptr_eq(&known.configured, configured);
        if same {
            known.read_at = Instant::now();
        }
        same.then(|| Arc::clone(&known.policy))
    }
}
