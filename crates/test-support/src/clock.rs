//! The time and the ids of a test.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use planwright_core::ids::RequestId;
use planwright_engine::clock::{Clock, Ids};
use tokio::time::Instant;

/// The time of day in a test. It begins at noon on 1 January 2030; clones show the same time.
#[derive(Debug, Clone)]
pub struct TestClock {
    /// When it began to run; `None` for a clock that stands still until it is moved.
    begun: Option<Instant>,
    moved_millis: Arc<AtomicI64>,
    advanced_millis: Arc<AtomicU64>,
}

impl TestClock {
    /// A clock that stands still until it is moved.
    pub fn stopped() -> Self {
        Self { begun: None, moved_millis: Arc::default(), advanced_millis: Arc::default() }
    }

    /// A clock that runs with the time of the runtime, which may be simulated.
    pub fn running() -> Self {
        Self { begun: Some(Instant::now()), moved_millis: Arc::default(), advanced_millis: Arc::default() }
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.advanced_millis.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::Relaxed);
        self.jump(i64::try_from(by.as_millis()).unwrap());
    }

    /// Moves the time of day, forward or back. The time that passed is not changed.
    pub fn jump(&self, millis: i64) {
        self.moved_millis.fetch_add(millis, Ordering::Relaxed);
    }

    /// Milliseconds since it began to run.
    pub fn passed(&self) -> u64 {
        self.begun.map_or(0, |begun| u64::try_from(begun.elapsed().as_millis()).unwrap())
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let start: Timestamp = "2030-01-01T12:00:00Z".parse().unwrap();
        let passed = i64::try_from(self.passed()).unwrap() + self.moved_millis.load(Ordering::Relaxed);
        start.checked_add(SignedDuration::from_millis(passed)).unwrap()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.passed() + self.advanced_millis.load(Ordering::Relaxed))
    }
}

/// Ids that tell which process made them, the same in every run.
#[derive(Debug)]
pub struct NumberedIds {
    owner: String,
    made: AtomicU64,
}

impl NumberedIds {
    pub fn of(owner: &str) -> Self {
        Self { owner: owner.to_owned(), made: AtomicU64::new(0) }
    }
}

impl Ids for NumberedIds {
    fn next(&self) -> RequestId {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        // As long as the ids of the program, and like them it differs from those of others in its last letters.
        let owner: String = self.owner.chars().filter(char::is_ascii_alphanumeric).collect();
        RequestId::new(format!("{:-<16}{number:06}{owner:x>6}", self.owner)).unwrap()
    }
}
