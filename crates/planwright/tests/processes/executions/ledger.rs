//! A store at which a process stands still right before or right after a chosen write.

use std::sync::Arc;

use async_trait::async_trait;
use planwright_engine::ledger::{Committed, Lease, Ledger, LedgerResult, Submission};
use planwright_test_support::forwarding::ForwardingLedger;

use super::kill_points::KillPoints;

#[derive(Debug)]
pub(super) struct StoppingLedger {
    pub(super) inner: Arc<dyn Ledger>,
    pub(super) kill_points: Arc<KillPoints>,
}

#[async_trait]
impl ForwardingLedger for StoppingLedger {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Ok(self.inner.as_ref())
    }

    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        let session = submission.session.clone();
        self.kill_points.writes(&session).await;
        let committed = self.inner.submit(submission).await?;
        if !committed.events.is_empty() || committed.lease.is_some() {
            self.kill_points.wrote(&session).await;
        }
        Ok(committed)
    }

    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()> {
        self.inner.release_lease(lease).await?;
        self.kill_points.wrote(&lease.session).await;
        Ok(())
    }
}
