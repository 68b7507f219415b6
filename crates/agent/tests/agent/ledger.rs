//! A store that stops answering at a chosen moment, as if its process were asleep.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
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
