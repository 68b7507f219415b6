//! How long a call goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Asked in every loop: is it time to stop, because time is up or because nobody waits for the answer any more?
#[derive(Debug)]
pub(super) struct Effort {
    until: Instant,
    abandoned: Arc<AtomicBool>,
}

/// Held by whoever waits for the answer.
#[derive(Debug)]
pub(super) struct Waiting {
    abandoned: Arc<AtomicBool>,
}

impl Effort {
    pub(super) fn begin(time: Duration) -> (Self, Waiting) {
        let now = Instant::now();
        // A time that no clock can show is as good as an hour.
        let until = now.checked_add(time).unwrap_or(now + Duration::from_secs(3600));
        let abandoned = Arc::new(AtomicBool::new(false));
        (Self { until, abandoned: Arc::clone(&abandoned) }, Waiting { abandoned })
    }

    pub(super) fn is_over(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}
