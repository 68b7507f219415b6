//! The lease of a session: taken with the first entry that the work writes, renewed while it lasts, released with the
//! last entry.
//!
//! A holder trusts its own monotonic clock. A process that slept past the end of its lease calls no model and no tool
//! before the store has confirmed the lease. Where other servers watch its heartbeats, a lease is valid only while it beats, too.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planwright_core::command::Command;
use planwright_core::ids::{ExecutionId, PlanId, TurnId};
use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Committed, Lease, Ledger, LedgerResult};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::own_beats::OwnBeats;

/// The interval at which the store is asked whether another process ended the work.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long a server whose last beat is too long ago tries once more before its work ends.
const LAST_BEAT_TIMEOUT: Duration = Duration::from_millis(200);

/// A lease that is renewed until it is dropped. One that is dropped without being released runs out by itself.
#[derive(Debug)]
pub(crate) struct LeaseGuard {
    held: Arc<HeldLease>,
    keeper: LeaseKeeper,
}

#[derive(Debug)]
struct HeldLease {
    lease: Lease,
    /// The number of the guard in this process.
    number: u64,
    purpose: LeasePurpose,
    ttl: Duration,
    lost: CancellationToken,
    /// The lease is released, or about to be.
    released: CancellationToken,
    /// Until when the lease lasts, by the clock of this process.
    valid_until: Mutex<Instant>,
    beats: Arc<OwnBeats>,
}

impl LeaseGuard {
    pub(crate) fn lease(&self) -> &Lease {
        &self.held.lease
    }

    /// Resolves when another process has the session, ended the work in it, or may have taken it.
    pub(crate) async fn lost(&self) {
        self.held.lost.cancelled().await;
    }

    /// Whether the session is known to be leased to this process now. Asked before every call to a model or a tool.
    pub(crate) async fn confirm(&self, ledger: &dyn Ledger) -> LedgerResult<bool> {
        self.held.confirm(ledger).await
    }

    /// Whether the lease is still held. The store is asked even if the lease is valid by the clock.
    pub(crate) async fn confirm_now(&self, ledger: &dyn Ledger) -> LedgerResult<bool> {
        Ok(!self.held.lost.is_cancelled() && self.held.renew(ledger).await?)
    }

    /// A name that no other guard has. The fence alone is not enough: it begins anew when a session is deleted and begun
    /// again.
    pub(crate) fn name(&self) -> String {
        format!("{} {} {}", self.held.lease.owner, self.held.lease.fence, self.held.number)
    }

    /// The lease is about to be released with an entry, so it is not renewed behind that.
    pub(crate) fn stop_renewing(&self) {
        self.held.released.cancel();
        self.keeper.forget(&self.held);
    }

    /// Tells work beside the turn or the execution when that is over.
    pub(crate) fn end(&self) -> LeaseEnd {
        LeaseEnd { lost: self.held.lost.clone(), released: self.held.released.clone() }
    }

    pub(crate) async fn release(&self, ledger: &dyn Ledger) {
        self.stop_renewing();
        // A lease that cannot be released now runs out by itself.
        if let Err(error) = ledger.release_lease(&self.held.lease).await {
            tracing::warn!(session_identity = %self.held.lease.session, event = "lease_not_released", %error);
        }
    }
}

/// The end of a lease, for work that must not outlive it.
#[derive(Debug, Clone)]
pub(crate) struct LeaseEnd {
    lost: CancellationToken,
    released: CancellationToken,
}

impl LeaseEnd {
    /// Resolves when the lease is lost or released.
    pub(crate) async fn wait(&self) {
        tokio::select! {
            () = self.lost.cancelled() => {}
            () = self.released.cancelled() => {}
        }
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        self.stop_renewing();
    }
}

impl HeldLease {
    fn is_valid(&self) -> bool {
        Instant::now() < self.valid_until()
    }

    /// Until when no other process can take the lease.
    fn valid_until(&self) -> Instant {
        let lease = *self.valid_until.lock().unwrap_or_else(PoisonError::into_inner);
        self.beats.valid_until().map_or(lease, |beats| beats.min(lease))
    }

    async fn confirm(&self, ledger: &dyn Ledger) -> LedgerResult<bool> {
        if self.lost.is_cancelled() {
            return Ok(false);
        }
        if self.is_valid() {
            return Ok(true);
        }
        let is_ours = self.renew(ledger).await?;
        if !is_ours {
            self.lost.cancel();
        }
        Ok(is_ours)
    }

    async fn renew(&self, ledger: &dyn Ledger) -> LedgerResult<bool> {
        // The lease is confirmed behind the beat: after that no other server ends it.
        if !self.beats.is_valid() {
            self.beats.beat().await?;
        }
        // The time that the store takes to answer counts against this process.
        let asked = Instant::now();
        let is_ours = ledger.renew_lease(&self.lease, self.ttl).await?;
        if is_ours {
            *self.valid_until.lock().unwrap_or_else(PoisonError::into_inner) = asked + self.ttl;
        }
        Ok(is_ours)
    }

    /// Renews the lease. Returns when it is lost, or could not be renewed in time.
    async fn keep_renewing(&self, ledger: &dyn Ledger) {
        loop {
            tokio::select! {
                () = sleep(self.ttl / 3) => {}
                () = self.beats.lapsed() => {}
            }
            // Other servers are about to continue the work.
            if !self.beats.is_valid() {
                match timeout(LAST_BEAT_TIMEOUT, self.renew(ledger)).await {
                    Ok(Ok(true)) => continue,
                    Ok(Ok(false) | Err(_)) | Err(_) => return,
                }
            }
            match timeout_at(self.valid_until(), self.renew(ledger)).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => return,
                // The store cannot be reached. Until the lease runs out no other process can take it.
                Ok(Err(_)) | Err(_) if self.is_valid() => {}
                Ok(Err(_)) | Err(_) if !self.beats.is_valid() => {}
                // A process that slept finds out late; the store says who has the session.
                Ok(Err(_)) | Err(_) => match self.renew(ledger).await {
                    Ok(true) => {}
                    Ok(false) | Err(_) => return,
                },
            }
        }
    }
}

/// Renews the lease that the work of a session holds; part of the session's task. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeaseKeeper(Arc<KeptLease>);

#[derive(Debug, Default)]
struct KeptLease {
    held: Mutex<Option<Arc<HeldLease>>>,
    /// Wakes the task that renews.
    changed: Notify,
}

impl LeaseKeeper {
    /// Renews a lease from now on that the store was asked for at `asked`.
    pub(crate) fn keep(
        &self,
        lease: Lease,
        purpose: LeasePurpose,
        asked: Instant,
        ttl: Duration,
        beats: &Arc<OwnBeats>,
    ) -> LeaseGuard {
        static GUARDS: AtomicU64 = AtomicU64::new(0);
        let (number, valid_until) = (GUARDS.fetch_add(1, Ordering::Relaxed), Mutex::new(asked + ttl));
        let held = Arc::new(HeldLease {
            lease,
            number,
            purpose,
            ttl,
            lost: CancellationToken::new(),
            released: CancellationToken::new(),
            valid_until,
            beats: Arc::clone(beats),
        });
        *self.held() = Some(Arc::clone(&held));
        self.0.changed.notify_one();
        LeaseGuard { held, keeper: self.clone() }
    }

    fn forget(&self, held: &Arc<HeldLease>) {
        let mut kept = self.held();
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, held)) {
            *kept = None;
            self.0.changed.notify_one();
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Arc<HeldLease>>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews whichever lease is held. Never ends.
    pub(super) async fn run(&self, ledger: &dyn Ledger) {
        loop {
            let held = self.held().clone();
            let keeping = async {
                let Some(held) = held else { return std::future::pending().await };
                tokio::select! {
                    biased;
                    () = held.keep_renewing(ledger) => {}
                    () = ended_elsewhere(ledger, &held.lease.session, &held.purpose) => {}
                }
                held.lost.cancel();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                () = self.0.changed.notified() => {}
                () = keeping => {}
            }
        }
    }
}

/// The work that a session is leased for. Other processes may end it without holding the lease.
#[derive(Debug)]
pub(crate) enum LeasePurpose {
    /// Work that no other process ends.
    Short,
    Turn(TurnId),
    Execution(PlanId, ExecutionId),
}

impl LeasePurpose {
    pub(crate) fn begun_by(committed: &Committed, command: &Command) -> Self {
        let open = committed.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        if let Some(open) = open.filter(|open| !open.purpose.is_part()) {
            return Self::Turn(open.id.clone());
        }
        let plan = command.subject().and_then(|plan| committed.snapshot.plan(plan));
        let execution = plan.and_then(|plan| Some((plan.id.clone(), plan.execution.as_ref()?.id.clone())));
        execution.map_or(Self::Short, |(plan, execution)| Self::Execution(plan, execution))
    }

    async fn is_over(&self, ledger: &dyn Ledger, session: &SessionIdentity) -> LedgerResult<bool> {
        match self {
            Self::Short => Ok(false),
            Self::Turn(turn) => {
                let open = ledger.session(session).await?.and_then(|stored| stored.session.turn);
                Ok(open.is_none_or(|open| open.id != *turn))
            }
            Self::Execution(plan, execution) => {
                let snapshot = ledger.snapshot(session, Some(plan)).await?;
                let running = snapshot.plan(plan).filter(|plan| plan.status == PlanStatus::Executing);
                let running = running.and_then(|plan| plan.execution.as_ref());
                Ok(running.is_none_or(|running| running.id != *execution))
            }
        }
    }
}

/// Resolves when another process has ended the work, which it may do without holding the lease.
async fn ended_elsewhere(ledger: &dyn Ledger, session: &SessionIdentity, purpose: &LeasePurpose) {
    loop {
        sleep(POLL_INTERVAL).await;
        // An error of the store does not end the work.
        if purpose.is_over(ledger, session).await.unwrap_or(false) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session that is deleted and begun again gives the same process the same fence again.
    #[tokio::test]
    async fn two_guards_never_have_the_same_name() {
        let lease = Lease { session: "cli:k3yk3y8x".parse().unwrap(), owner: "one".to_owned(), fence: 1 };
        let beats = Arc::new(OwnBeats::new(None, "one"));
        let keep =
            || LeaseKeeper::default().keep(lease.clone(), LeasePurpose::Short, Instant::now(), POLL_INTERVAL, &beats);
        assert_ne!(keep().name(), keep().name());
    }
}
