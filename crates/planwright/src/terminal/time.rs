//! Times as people say them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use planwright_engine::clock;

/// `3 minutes ago`
pub(crate) fn ago(at: Timestamp) -> String {
    clock::ago(at, Timestamp::now())
}

/// `2026-03-01 14:05`, in the person's own time.
pub(crate) fn absolute(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

pub(crate) fn both(at: Timestamp) -> String {
    format!("{} ({})", ago(at), absolute(at))
}
