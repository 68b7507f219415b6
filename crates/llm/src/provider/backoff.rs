//! How long to wait before the next attempt, and when to stop.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use planwright_engine::model::ModelError;

use crate::options::Retries;
use crate::provider::failure::Remedy;

#[derive(Debug)]
pub(super) struct Backoff<'a> {
    retries: &'a Retries,
    attempts: u32,
    waited: Duration,
}

impl<'a> Backoff<'a> {
    pub(super) fn new(retries: &'a Retries) -> Self {
        Self { retries, attempts: 0, waited: Duration::ZERO }
    }

    /// Called after an attempt failed. `None`: there is no point, or it has been tried often and long enough.
    pub(super) fn next(&mut self, remedy: Remedy) -> Option<Duration> {
        self.attempts += 1;
        let wait = match remedy {
            Remedy::None => return None,
            Remedy::TryAgain => self.jittered(),
            // Exactly what was asked for, and a little more, so that not everybody comes back at the same moment.
            Remedy::TryAgainAfter(asked) => asked + self.jittered().min(asked / 10),
        };
        let waited = self.waited.saturating_add(wait);
        if self.attempts >= self.retries.most_attempts || waited > self.retries.total_wait {
            return None;
        }
        self.waited = waited;
        Some(wait)
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Says so if it was tried more than once.
    pub(super) fn give_up(&self, mut error: ModelError) -> ModelError {
        if self.attempts > 1 {
            error.message += &format!(" It was tried {} times.", self.attempts);
        }
        error
    }

    /// Between half and the whole of what is due.
    fn jittered(&self) -> Duration {
        let doubled = 2u32.saturating_pow(self.attempts.saturating_sub(1).min(16));
        let due = self.retries.first_wait.saturating_mul(doubled).min(self.retries.longest_wait);
        // Nothing depends on how random this is.
        let random = RandomState::new().build_hasher().finish() % 1000;
        due / 2 + due.mul_f64(random as f64 / 2000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn retries() -> Retries {
        Retries { most_attempts: 4, first_wait: SECOND, longest_wait: 3 * SECOND, total_wait: 60 * SECOND }
    }

    #[test]
    fn waits_grow_and_end() {
        let retries = retries();
        let mut backoff = Backoff::new(&retries);
        for due in [SECOND, 2 * SECOND, 3 * SECOND] {
            let wait = backoff.next(Remedy::TryAgain).unwrap();
            assert!(wait >= due / 2 && wait <= due, "{wait:?} of {due:?}");
        }
        assert_eq!(backoff.next(Remedy::TryAgain), None);
        assert_eq!(Backoff::new(&retries).next(Remedy::None), None);
    }

    #[test]
    fn what_the_provider_asks_for_is_kept_unless_it_is_too_long() {
        let retries = retries();
        let wait = Backoff::new(&retries).next(Remedy::TryAgainAfter(20 * SECOND)).unwrap();
        assert!((20 * SECOND..=22 * SECOND).contains(&wait), "{wait:?}");
        assert_eq!(Backoff::new(&retries).next(Remedy::TryAgainAfter(61 * SECOND)), None);
        let mut patient = Backoff::new(&retries);
        assert!(patient.next(Remedy::TryAgainAfter(40 * SECOND)).is_some());
        assert_eq!(patient.next(Remedy::TryAgainAfter(40 * SECOND)), None, "all waits together are limited");
    }
}
