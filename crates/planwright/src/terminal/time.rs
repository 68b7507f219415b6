//! Times as people say them.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};

/// `3 minutes ago`. Clocks of two machines differ a little, so the near future is now.
pub(crate) fn ago(at: Timestamp) -> String {
    ago_from(at, Timestamp::now())
}

/// `2026-03-01 14:05`, in the person's own time.
pub(crate) fn absolute(at: Timestamp) -> String {
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

pub(crate) fn both(at: Timestamp) -> String {
    format!("{} ({})", ago(at), absolute(at))
}

fn ago_from(at: Timestamp, now: Timestamp) -> String {
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

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    #[test]
    fn times_are_said_roughly() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (before, said) in [
            (-5.seconds(), "just now"),
            (59.seconds(), "just now"),
            (60.seconds(), "1 minute ago"),
            (179.seconds(), "2 minutes ago"),
            (25.hours(), "1 day ago"),
            ((24 * 400).hours(), "1 year ago"),
        ] {
            assert_eq!(ago_from(now - before, now), said);
        }
    }
}
