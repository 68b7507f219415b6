//! How long to wait before the next attempt, and when to stop.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use planwright_engine::backoff::Backoff;
use planwright_engine::model::ModelError;

use crate::options::RetryPolicy;
use crate::provider::attempt_error::Retry;

#[derive(Debug)]
pub(super) struct Attempts<'a> {
    policy: &'a RetryPolicy,
    attempts: u32,
    waited: Duration,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(policy: &'a RetryPolicy) -> Self {
        Self { policy, attempts: 0, waited: Duration::ZERO }
    }

    /// The wait after a failed attempt. `None` if another attempt does not help, or a limit is reached.
    pub(super) fn next(&mut self, retry: Retry) -> Option<Duration> {
        self.attempts += 1;
        let wait = match retry {
            Retry::Never => return None,
            Retry::WithBackoff => self.jittered(),
            // A little more than the provider asked for, so that clients do not all come back at the same moment.
            Retry::After(asked) => asked.saturating_add(self.jittered().min(asked / 10)),
        };
        let waited = self.waited.saturating_add(wait);
        if self.attempts >= self.policy.max_attempts || waited > self.policy.max_total_wait {
            return None;
        }
        self.waited = waited;
        Some(wait)
    }

    pub(super) fn count(&self) -> u32 {
        self.attempts
    }

    /// Adds the number of attempts to the message if there was more than one.
    pub(super) fn give_up(&self, mut error: ModelError) -> ModelError {
        if self.attempts > 1 {
            error.message += &format!(" After {} attempts, the request was given up.", self.attempts);
        }
        error
    }

    /// Between half and the whole of the backoff.
    fn jittered(&self) -> Duration {
        let due = Backoff::new(self.policy.initial_backoff, self.policy.max_backoff).after(self.attempts);
        // The quality of the randomness does not matter.
        let random = RandomState::new().build_hasher().finish() % 1000;
        due / 2 + due.mul_f64(random as f64 / 2000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn policy() -> RetryPolicy {
        RetryPolicy { max_attempts: 4, initial_backoff: SECOND, max_backoff: 3 * SECOND, max_total_wait: 60 * SECOND }
    }

    #[test]
    fn waits_grow_and_end() {
        let policy = policy();
        let mut backoff = Attempts::new(&policy);
        for due in [SECOND, 2 * SECOND, 3 * SECOND] {
            let wait = backoff.next(Retry::WithBackoff).unwrap();
            assert!(wait >= due / 2 && wait <= due, "{wait:?} of {due:?}");
        }
        assert_eq!(backoff.next(Retry::WithBackoff), None);
        assert_eq!(Attempts::new(&policy).next(Retry::Never), None);
    }

    #[test]
    fn what_the_provider_asks_for_is_kept_unless_it_is_too_long() {
        let policy = policy();
        let wait = Attempts::new(&policy).next(Retry::After(20 * SECOND)).unwrap();
        assert!((20 * SECOND..=22 * SECOND).contains(&wait), "{wait:?}");
        assert_eq!(Attempts::new(&policy).next(Retry::After(61 * SECOND)), None);
        let mut patient = Attempts::new(&policy);
        assert!(patient.next(Retry::After(40 * SECOND)).is_some());
        assert_eq!(patient.next(Retry::After(40 * SECOND)), None, "all waits together are limited");
    }
}
