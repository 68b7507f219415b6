//! How long the same call took each time.

use std::time::Duration;

/// In milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) median: f64,
    /// Nine of ten calls are faster.
    pub(crate) slow: f64,
}

impl Times {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
        Self { median: at(50), slow: at(90) }
    }
}
