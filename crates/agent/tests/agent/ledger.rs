//! Stores that behave in a chosen way: one that stops answering, as if its process were asleep, and one whose clock is set.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Committed, Lease, Ledger, LedgerResult, Submission};
use planwright_test_support::forwarding::{Forwarding, ForwardingLedger};
use tokio::sync::watch;

pub(crate) struct HangingLedger {
    inner: Arc<dyn Ledger>,
    when: Box<dyn Fn(&Submission) -> bool + Send + Sync>,
    after: Box<dyn Fn(&Committed) -> bool + Send + Sync>,
    state: watch::Sender<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Awake,
    Hanging,
    /// Nothing makes it hang any more.
    Woken,
}

impl HangingLedger {
    pub(crate) fn new(
        inner: Arc<dyn Ledger>,
        when: impl Fn(&Submission) -> bool + Send + Sync + 'static,
    ) -> Arc<Forwarding<Self>> {
        let state = watch::Sender::new(State::Awake);
        Arc::new(Forwarding(Self { inner, when: Box::new(when), after: Box::new(|_| false), state }))
    }

    /// Hangs after a commit, before its caller is answered.
    pub(crate) fn after(
        inner: Arc<dyn Ledger>,
        after: impl Fn(&Committed) -> bool + Send + Sync + 'static,
    ) -> Arc<Forwarding<Self>> {
        let state = watch::Sender::new(State::Awake);
        Arc::new(Forwarding(Self { inner, when: Box::new(|_| false), after: Box::new(after), state }))
    }

    pub(crate) async fn hangs(&self) {
        self.reaches(|state| state == State::Hanging).await;
    }

    pub(crate) fn wake(&self) {
        self.state.send_replace(State::Woken);
    }

    async fn reaches(&self, wanted: impl Fn(State) -> bool) {
        // The sender is borrowed for as long as this waits, so it cannot be gone.
        let _ = self.state.subscribe().wait_for(|state| wanted(*state)).await;
    }
}

impl fmt::Debug for HangingLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HangingLedger").finish_non_exhaustive()
    }
}

#[async_trait]
impl ForwardingLedger for HangingLedger {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Ok(self.inner.as_ref())
    }

    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        if *self.state.borrow() == State::Awake && (self.when)(&submission) {
            self.state.send_replace(State::Hanging);
        }
        self.reaches(|state| state != State::Hanging).await;
        let committed = self.inner.submit(submission).await?;
        if *self.state.borrow() == State::Awake && (self.after)(&committed) {
            self.state.send_replace(State::Hanging);
        }
        self.reaches(|state| state != State::Hanging).await;
        Ok(committed)
    }

    async fn acquire_lease(
        &self,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        self.reaches(|state| state != State::Hanging).await;
        self.inner.acquire_lease(session, owner, ttl).await
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        self.reaches(|state| state != State::Hanging).await;
        self.inner.renew_lease(lease, ttl).await
    }
}

/// A store whose clock can be set forward.
#[derive(Debug)]
pub(crate) struct SteppedClock {
    inner: Arc<dyn Ledger>,
    ahead_seconds: AtomicI64,
    /// How often the clock was read.
    reads: watch::Sender<u64>,
}

impl SteppedClock {
    pub(crate) fn new(inner: Arc<dyn Ledger>) -> Arc<Forwarding<Self>> {
        Arc::new(Forwarding(Self { inner, ahead_seconds: AtomicI64::new(0), reads: watch::Sender::new(0) }))
    }

    /// Sets the clock an hour forward. Every lease of this owner counts as run out then.
    pub(crate) async fn set_forward(&self, owner: &str) {
        self.ahead_seconds.fetch_add(3_600, Ordering::SeqCst);
        self.inner.shorten_leases(owner, Duration::ZERO).await.unwrap();
    }

    /// Waits until the clock was read so many times from now on.
    pub(crate) async fn is_read(&self, times: u64) {
        let mut reads = self.reads.subscribe();
        let wanted = *reads.borrow_and_update() + times;
        reads.wait_for(|reads| *reads >= wanted).await.unwrap();
    }
}

#[async_trait]
impl ForwardingLedger for SteppedClock {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Ok(self.inner.as_ref())
    }

    async fn after(&self, method: &'static str) {
        if method == "lease_clock" {
            self.reads.send_modify(|reads| *reads += 1);
        }
    }

    async fn lease_clock(&self) -> LedgerResult<Timestamp> {
        let ahead = SignedDuration::from_secs(self.ahead_seconds.load(Ordering::SeqCst));
        Ok(self.inner.lease_clock().await? + ahead)
    }
}
