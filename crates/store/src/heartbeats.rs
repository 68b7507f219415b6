//! Heartbeats of processes, as both stores keep them: small records in the table `chat_record`, one for each process.

use jiff::{SignedDuration, Timestamp};

/// The keys of these records, from the first one to the one that follows all of them.
pub(crate) const KEYS: [&str; 2] = ["alive/", "alive0"];
const FORGET_AFTER: SignedDuration = SignedDuration::from_hours(24);

pub(crate) fn key(owner: &str) -> String {
    format!("{}{owner}", KEYS[0])
}

/// Microseconds in a fixed number of digits, so that later times are greater as texts, too.
pub(crate) fn body(at: Timestamp) -> String {
    format!("{:020}", at.as_microsecond().max(0))
}

/// Records with a smaller body are forgotten.
pub(crate) fn oldest(now: Timestamp) -> String {
    body(now.checked_sub(FORGET_AFTER).unwrap_or(Timestamp::UNIX_EPOCH))
}

/// A record that is not a time is no heartbeat; the next one replaces it.
pub(crate) fn read(body: &str) -> Option<Timestamp> {
    Timestamp::from_microsecond(body.parse().ok()?).ok()
}
