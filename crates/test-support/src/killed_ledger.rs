//! A process that is killed at one place between two calls to the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use planwright_engine::ledger::{Ledger, LedgerResult};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::forwarding::{Forwarding, ForwardingLedger};

/// Longer than anything takes, unless it never happens.
const LONG: Duration = Duration::from_secs(60);

/// A ledger that waits for ever at one place, as if the process were killed there.
#[derive(Debug)]
pub struct KilledLedger {
    inner: Arc<dyn Ledger>,
    at: KillPoint,
    /// The place counts after the first call of this method.
    once_called: Option<&'static str>,
    is_armed: AtomicBool,
    reached: watch::Sender<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillPoint {
    Before(&'static str),
    After(&'static str),
}

impl KilledLedger {
    /// The ledger, and what tells when the place is reached.
    pub fn around(inner: Arc<dyn Ledger>, at: KillPoint) -> (Arc<dyn Ledger>, Killed) {
        Self::make(inner, at, None)
    }

    /// Kills at a place that the process passes all the time: it counts after the first call of `once_called`.
    pub fn around_once_called(
        inner: Arc<dyn Ledger>,
        once_called: &'static str,
        at: KillPoint,
    ) -> (Arc<dyn Ledger>, Killed) {
        Self::make(inner, at, Some(once_called))
    }

    fn make(inner: Arc<dyn Ledger>, at: KillPoint, once_called: Option<&'static str>) -> (Arc<dyn Ledger>, Killed) {
        let (reached, receiver) = watch::channel(false);
        let is_armed = AtomicBool::new(once_called.is_none());
        (Arc::new(Forwarding(Self { inner, at, once_called, is_armed, reached })), Killed { at, reached: receiver })
    }

    async fn pass(&self, here: KillPoint) {
        if self.at == here && self.is_armed.load(Ordering::SeqCst) {
            self.reached.send_replace(true);
        }
        if *self.reached.borrow() {
            std::future::pending::<()>().await;
        }
    }
}

/// Tells when the process is at the place where it is killed.
#[derive(Debug)]
pub struct Killed {
    at: KillPoint,
    reached: watch::Receiver<bool>,
}

impl Killed {
    pub async fn reached(&mut self) {
        let reached = timeout(LONG, self.reached.wait_for(|reached| *reached)).await;
        assert!(matches!(reached, Ok(Ok(_))), "the process never came to {:?}", self.at);
    }
}

#[async_trait]
impl ForwardingLedger for KilledLedger {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Ok(self.inner.as_ref())
    }

    async fn before(&self, method: &'static str) {
        self.pass(KillPoint::Before(method)).await;
    }

    async fn after(&self, method: &'static str) {
        if self.once_called == Some(method) {
            self.is_armed.store(true, Ordering::SeqCst);
        }
        self.pass(KillPoint::After(method)).await;
    }
}
