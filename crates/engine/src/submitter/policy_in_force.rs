//! The policy that decisions are checked with: the configured one and what the store adds to it.

use std::sync::{Arc, Mutex, PoisonError};

use planwright_core::approval::record::SealedRecord;
use planwright_core::policy::Policy;

use crate::approvals;
use crate::ledger::{Ledger, LedgerResult};

/// The last result. A plan that is carried out asks for it with every step, and the records change rarely. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct PolicyInForce(Arc<Mutex<Option<Known>>>);

#[derive(Debug)]
struct Known {
    records: Vec<SealedRecord>,
    configured: Arc<Policy>,
    policy: Arc<Policy>,
}

impl PolicyInForce {
    /// The records are read every time, so that a change by another process counts at once. They are checked when they
    /// differ from the last ones.
    pub(super) async fn get(&self, ledger: &dyn Ledger, configured: &Arc<Policy>) -> LedgerResult<Arc<Policy>> {
        let records = ledger.approval_records().await?;
        if let Some(policy) = self.known(&records, configured) {
            return Ok(policy);
        }
        let state = approvals::replay(&records)?;
        let approval = match &state.policy {
            Some(in_force) => in_force.stricter(&configured.approval),
            None => configured.approval.clone(),
        };
        let policy = Arc::new(Policy { approval, approvers: state.approvers, ..(**configured).clone() });
        let known = Known { records, configured: Arc::clone(configured), policy: Arc::clone(&policy) };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(policy)
    }

    fn known(&self, records: &[SealedRecord], configured: &Arc<Policy>) -> Option<Arc<Policy>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref()?;
        let same = known.records == records && Arc::ptr_eq(&known.configured, configured);
        same.then(|| Arc::clone(&known.policy))
    }
}
