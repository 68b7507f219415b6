//! Quiet hours: a notification that is due in them is sent at their end.

use std::str::FromStr;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// A part of each day, such as from ten in the evening to seven in the morning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietHours {
    pub from: Time,
    pub to: Time,
    pub zone: TimeZone,
}

impl QuietHours {
    /// `22:00-07:00`
    pub fn parse(text: &str, zone: TimeZone) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a part of a day, such as `22:00-07:00`");
        let (from, to) = text.split_once('-').ok_or_else(wrong)?;
        let time = |text: &str| Time::from_str(text.trim()).map_err(|_| wrong());
        let (from, to) = (time(from)?, time(to)?);
        if from == to {
            return Err(wrong());
        }
        Ok(Self { from, to, zone })
    }

    /// The first moment from `at` on that is not quiet.
    pub fn after(&self, at: Timestamp) -> Timestamp {
        let local = at.to_zoned(self.zone.clone());
        let now = local.time();
        let over_midnight = self.from > self.to;
        let is_quiet =
            if over_midnight { now >= self.from || now < self.to } else { now >= self.from && now < self.to };
        if !is_quiet {
            return at;
        }
        // In the evening they end on the next day.
        let days = i64::from(over_midnight && now >= self.from);
        let end = local.date().checked_add(days.days()).map(|date| date.to_datetime(self.to));
        let end = end.and_then(|end| end.to_zoned(self.zone.clone()));
        end.map_or(at, |end| end.timestamp().max(at))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_in_quiet_hours_is_told_at_their_end() {
        for (hours, at, expected) in [
            ("22:00-07:00", "2030-01-01T12:00:00Z", "2030-01-01T12:00:00Z"),
            ("22:00-07:00", "2030-01-01T22:00:00Z", "2030-01-02T07:00:00Z"),
            ("22:00-07:00", "2030-01-01T23:59:00Z", "2030-01-02T07:00:00Z"),
            ("22:00-07:00", "2030-01-02T06:59:00Z", "2030-01-02T07:00:00Z"),
            ("22:00-07:00", "2030-01-02T07:00:00Z", "2030-01-02T07:00:00Z"),
            ("12:00-13:00", "2030-01-01T12:30:00Z", "2030-01-01T13:00:00Z"),
            ("12:00-13:00", "2030-01-01T13:00:00Z", "2030-01-01T13:00:00Z"),
        ] {
            let quiet = QuietHours::parse(hours, TimeZone::UTC).unwrap();
            let at: Timestamp = at.parse().unwrap();
            assert_eq!(quiet.after(at), expected.parse::<Timestamp>().unwrap(), "{hours} at {at}");
        }
        for wrong in ["", "22", "22:00", "25:00-07:00", "07:00-07:00"] {
            assert!(QuietHours::parse(wrong, TimeZone::UTC).is_err(), "{wrong}");
        }
    }

    #[test]
    fn they_are_in_the_zone_of_the_person() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let quiet = QuietHours::parse("22:00-07:00", zone).unwrap();
        let at: Timestamp = "2030-01-01T20:30:00Z".parse().unwrap();
        assert_eq!(quiet.after(at), "2030-01-02T05:00:00Z".parse::<Timestamp>().unwrap());
    }
}
