//! How long to wait before something that failed is tried again: twice as long after every failure in a row, up to a limit.

use std::time::Duration;

/// The pauses between tries, and how many tries failed so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    failures: u32,
}

impl Backoff {
    /// `first` is the pause after the first failure, `max` the longest one.
    pub const fn new(first: Duration, max: Duration) -> Self {
        Self { first, max, failures: 0 }
    }

    /// The pause after so many failures in a row.
    pub fn after(&self, failures: u32) -> Duration {
        self.first.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(self.max)
    }

    /// Counts one more failure and returns the pause after it.
    pub fn next_pause(&mut self) -> Duration {
        self.failures = self.failures.saturating_add(1);
        self.after(self.failures)
    }

    /// The number of failures that were counted.
    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(9));
        let pauses: Vec<_> = (0..5).map(|_| backoff.next_pause().as_secs()).collect();
        assert_eq!(pauses, [2, 4, 8, 9, 9]);
        assert_eq!((backoff.failures(), backoff.after(u32::MAX).as_secs()), (5, 9));
    }
}
