//! When a call has to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Checked in every loop: the time is up, or the caller has dropped its future.
#[derive(Debug)]
pub(super) struct Deadline {
    until: Instant,
    cancelled: Arc<AtomicBool>,
}

/// Held by the caller; dropping it ends the call.
#[derive(Debug)]
pub(super) struct CancelOnDrop {
    cancelled: Arc<AtomicBool>,
}

impl Deadline {
    pub(super) fn begin(time: Duration) -> (Self, CancelOnDrop) {
        let now = Instant::now();
        // A duration that no clock can hold becomes an hour.
        let until = now.checked_add(time).unwrap_or(now + Duration::from_secs(3600));
        let cancelled = Arc::new(AtomicBool::new(false));
        (Self { until, cancelled: Arc::clone(&cancelled) }, CancelOnDrop { cancelled })
    }

    pub(super) fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
