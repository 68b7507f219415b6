//! Whether the clock was set forward by which leases run out. Then live leases count as run out until their processes renew
//! them, so nobody takes one before a whole lease has passed here.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use planwright_engine::ledger::{Ledger, LedgerResult};
use tokio::time::Instant;

/// The part of a lease by which the clock may get ahead unnoticed. A lease is renewed when a third of it has passed.
const UNNOTICED_PART: u32 = 5;

/// Compares the clock of the store with the time that passed in this process.
#[derive(Debug, Default)]
pub(crate) struct LeaseClock(Mutex<Readings>);

#[derive(Debug, Default)]
struct Readings {
    last: Option<Reading>,
    /// When it was noticed that the clock had been set forward.
    set_forward_at: Option<Instant>,
}

/// What the store's clock showed between two moments of this process.
#[derive(Debug, Clone, Copy)]
struct Reading {
    time: Timestamp,
    asked: Instant,
    answered: Instant,
}

impl LeaseClock {
    /// Reads the clock. Returns false for the length of a lease after it was set forward: what ran out may be held.
    pub(crate) async fn is_reliable(&self, ledger: &dyn Ledger, lease: Duration) -> LedgerResult<bool> {
        let asked = Instant::now();
        let time = ledger.lease_clock().await?;
        let reading = Reading { time, asked, answered: Instant::now() };
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).note(reading, lease))
    }
}

impl Readings {
    fn note(&mut self, reading: Reading, lease: Duration) -> bool {
        if self.last.is_some_and(|last| reading.got_ahead_since(last) > lease / UNNOTICED_PART) {
            self.set_forward_at = Some(reading.answered);
            tracing::warn!(event = "clock_set_forward", "the clock by which leases run out was set forward");
        }
        // Answers of the store may overtake each other.
        if self.last.is_none_or(|last| last.asked <= reading.asked) {
            self.last = Some(reading);
        }
        self.set_forward_at.is_none_or(|at| reading.answered.duration_since(at) > lease)
    }
}

impl Reading {
    /// By how much more the clock moved than time can have passed here.
    fn got_ahead_since(self, before: Self) -> Duration {
        let moved = Duration::try_from(self.time.duration_since(before.time)).unwrap_or_default();
        moved.saturating_sub(self.answered.duration_since(before.asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(15);

    /// Reads a clock at moments, in seconds since the first one; the second number is what the clock shows.
    fn read(readings: &[(u64, i64)]) -> Vec<bool> {
        let (start, mut seen) = (Instant::now(), Readings::default());
        let mut note = |(passed, shown): &(u64, i64)| {
            let at = start + Duration::from_secs(*passed);
            let time = Timestamp::from_second(1_900_000_000 + shown).unwrap();
            seen.note(Reading { time, asked: at, answered: at }, LEASE)
        };
        readings.iter().map(&mut note).collect()
    }

    #[test]
    fn after_a_step_forward_a_whole_lease_passes() {
        assert_eq!(read(&[(0, 0), (1, 61), (8, 68), (16, 76), (17, 77)]), [true, false, false, false, true]);
        // The second step begins the wait anew.
        assert_eq!(read(&[(0, 0), (1, 61), (10, 130), (17, 137), (26, 146)]), [true, false, false, false, true]);
    }

    #[test]
    fn a_clock_that_runs_or_is_set_back_is_reliable() {
        assert_eq!(read(&[(0, 0), (1, 1), (2, 3), (3_600, 3_602)]), [true; 4]);
        assert_eq!(read(&[(0, 0), (1, -3_600), (2, -3_599)]), [true; 3]);
    }

    /// The time that an answer takes is no step of the clock.
    #[test]
    fn a_slow_answer_is_no_step() {
        let (start, mut seen) = (Instant::now(), Readings::default());
        let at = |seconds| start + Duration::from_secs(seconds);
        let time = |seconds: i64| Timestamp::from_second(1_900_000_000 + seconds).unwrap();
        let readings = [(0, 0, 10), (11, 40, 41), (12, 13, 41), (42, 43, 43)];
        for (asked, shown, answered) in readings {
            let reading = Reading { time: time(shown), asked: at(asked), answered: at(answered) };
            assert!(seen.note(reading, LEASE), "{shown}");
        }
    }
}
