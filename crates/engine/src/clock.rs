//! Where time and ids come from, and how times are said. Tests put their own in.

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::{Timestamp, Unit};
use planwright_core::ids::RequestId;
use uuid::Uuid;

pub trait Clock: Send + Sync + fmt::Debug + 'static {
    fn now(&self) -> Timestamp;

    /// The time that passed since some moment of this process. Setting the time of day does not change it.
    fn elapsed(&self) -> Duration {
        static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGUN.elapsed()
    }
}

pub trait Ids: Send + Sync + fmt::Debug + 'static {
    fn next(&self) -> RequestId;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Time-ordered ids, so that what belongs together lies together in the store.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeOrderedIds;

impl Ids for TimeOrderedIds {
    fn next(&self) -> RequestId {
        request_id(Uuid::now_v7())
    }
}

/// Gives out one name first, and then those of the other source.
#[derive(Debug)]
pub(crate) struct NamedFirst {
    first: Mutex<Option<RequestId>>,
    then: Arc<dyn Ids>,
}

impl NamedFirst {
    pub(crate) fn new(first: RequestId, then: Arc<dyn Ids>) -> Self {
        Self { first: Mutex::new(Some(first)), then }
    }
}

impl Ids for NamedFirst {
    fn next(&self) -> RequestId {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.unwrap_or_else(|| self.then.next())
    }
}

fn request_id(uuid: Uuid) -> RequestId {
    // The text of a UUID is always a valid id.
    RequestId::new(uuid.to_string()).unwrap_or_else(|_| unreachable!("a UUID is an id"))
}

/// `3 minutes ago`. Clocks of two machines differ a little, so the near future is now.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(at).and_then(|span| span.total(Unit::Second)).unwrap_or_default();
    let units = [
        (86_400.0 * 365.0, "year"),
        (86_400.0 * 30.0, "month"),
        (86_400.0, "day"),
        (3_600.0, "hour"),
        (60.0, "minute"),
    ];
    match units.into_iter().find(|(length, _)| seconds >= *length) {
        None => "just now".to_owned(),
        Some((length, name)) => {
            let count = (seconds / length).floor();
            if count == 1.0 { format!("1 {name} ago") } else { format!("{count} {name}s ago") }
        }
    }
}

/// The time from one moment to a later one. Clocks of two machines differ a little, so it is never less than nothing.
pub fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

/// `0.3s`, `12s`, `3m 20s`, `2h 05m`
pub fn lasted(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1}s", time.as_secs_f32()),
        whole @ 10..60 => format!("{whole}s"),
        whole @ 60..3_600 => format!("{}m {:02}s", whole / 60, whole % 60),
        whole => format!("{}h {:02}m", whole / 3_600, whole % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    #[test]
    fn times_are_said_roughly() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (before, expected) in [
            (-5.seconds(), "just now"),
            (59.seconds(), "just now"),
            (60.seconds(), "1 minute ago"),
            (179.seconds(), "2 minutes ago"),
            (25.hours(), "1 day ago"),
            ((24 * 400).hours(), "1 year ago"),
        ] {
            assert_eq!(ago(now - before, now), expected);
        }
    }

    #[test]
    fn times_that_something_took_are_told_roughly() {
        for (milliseconds, expected) in
            [(0, "0.0s"), (300, "0.3s"), (12_700, "12s"), (200_000, "3m 20s"), (7_500_000, "2h 05m")]
        {
            assert_eq!(lasted(Duration::from_millis(milliseconds)), expected);
        }
    }

    #[test]
    fn no_time_is_less_than_nothing() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(between(now, now + 90.seconds()), Duration::from_secs(90));
        assert_eq!(between(now + 90.seconds(), now), Duration::ZERO);
    }
}
