//! Holding a session over all processes: the lease is taken with the first thing that is written, kept alive while the
//! work lasts, and given back with the last.

use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::ids::RequestId;
use planwright_core::session::SessionIdentity;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::progress::{Progress, Watcher};
use crate::ledger::{Committed, Lease, Leasing, LedgerError, LedgerResult};

/// How long to wait before asking again for a session that somebody else holds.
const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// A lease that is renewed until it is dropped. One that is dropped without being let go runs out by itself.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) lease: Lease,
    /// Set when somebody else has the session.
    pub(super) lost: CancellationToken,
    renewing: JoinHandle<()>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

impl Agent {
    /// Submits the command as soon as nobody else holds the session, and holds it from then on.
    pub(super) async fn take(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        command: &Command,
        watcher: &Watcher,
    ) -> LedgerResult<(Committed, Held)> {
        let request = self.engine().next_request();
        let mut wait = FIRST_WAIT;
        loop {
            match self.try_take(request.clone(), session, by, command).await {
                Err(LedgerError::Leased(_)) => self.wait(&mut wait, watcher).await,
                Err(error) => return Err(error),
                Ok(mut committed) => {
                    let lease = committed.lease.take().ok_or_else(|| {
                        LedgerError::Internal(format!("session {session} was not held after it was taken"))
                    })?;
                    return Ok((committed, self.keep(lease)));
                }
            }
        }
    }

    async fn try_take(
        &self,
        request: RequestId,
        session: &SessionIdentity,
        by: &Actor,
        command: &Command,
    ) -> LedgerResult<Committed> {
        let options = &self.shared.options;
        let leasing = Leasing::Take { owner: options.owner.clone(), ttl: options.lease };
        self.engine().submit_as(request, leasing, session, by, command.clone()).await
    }

    /// Holds the session without writing anything.
    pub(super) async fn hold(&self, session: &SessionIdentity, watcher: &Watcher) -> LedgerResult<Held> {
        let options = &self.shared.options;
        let mut wait = FIRST_WAIT;
        loop {
            match self.engine().ledger().acquire_lease(session, &options.owner, options.lease).await? {
                Some(lease) => return Ok(self.keep(lease)),
                None => self.wait(&mut wait, watcher).await,
            }
        }
    }

    async fn wait(&self, wait: &mut Duration, watcher: &Watcher) {
        if *wait == FIRST_WAIT {
            watcher.tell(Progress::WaitingForOthers);
        }
        tokio::time::sleep(*wait).await;
        *wait = (*wait * 2).min(LONGEST_WAIT);
    }

    fn keep(&self, lease: Lease) -> Held {
        let lost = CancellationToken::new();
        let (ledger, options) = (self.engine().ledger().clone(), self.shared.options.clone());
        let (renewed, told) = (lease.clone(), lost.clone());
        let renewing = tokio::spawn(async move {
            loop {
                tokio::time::sleep(options.lease / 3).await;
                let outcome = ledger.acquire_lease(&renewed.session, &renewed.owner, options.lease).await;
                // A store that is away for a moment says nothing about who holds the session.
                match outcome {
                    Ok(Some(lease)) if lease.fence == renewed.fence => {}
                    Err(error) if !matches!(error, LedgerError::Refused(_)) => {}
                    Ok(Some(anew)) => {
                        // It had run out, and what was done under it does not count any more.
                        let _ = ledger.release_lease(&anew).await;
                        return told.cancel();
                    }
                    Ok(None) | Err(_) => return told.cancel(),
                }
            }
        });
        Held { lease, lost, renewing }
    }

    pub(super) async fn let_go(&self, held: Held) {
        // One that cannot be given back now runs out by itself.
        if let Err(error) = self.engine().ledger().release_lease(&held.lease).await {
            tracing::warn!(session_identity = %held.lease.session, event = "lease_not_released", %error);
        }
    }
}
