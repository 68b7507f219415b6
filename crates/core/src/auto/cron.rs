//! A cron expression in a time zone: minute, hour, day of the month, month, day of the week.
//!
//! Daylight saving: a fixed time that the clock skips is due at the first moment after the gap, and one that comes twice is due
//! the first time only. An expression with `*` in minute or hour is due at every matching moment, so that it neither
//! pauses nor doubles.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::visible::quoted;

/// Five fields, and the zone whose clock they are read by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CronLine {
    pub expression: String,
    /// A name of the time-zone database, such as `Europe/Berlin`.
    pub zone: String,
}

/// The zone where none is named.
const UTC: &str = "UTC";

impl CronLine {
    /// Checks both parts. An expression that never comes due is refused.
    pub fn new(expression: &str, zone: Option<&str>, now: Timestamp) -> Result<Self, Refusal> {
        let fields: Vec<_> = expression.split_whitespace().collect();
        if fields.len() != 5 {
            return Err(Refusal::invalid(format!(
                "{} is not a cron expression: write five fields, minute, hour, day of the month, month, day of the week",
                quoted(expression)
            )));
        }
        let line = Self { expression: fields.join(" "), zone: zone.unwrap_or(UTC).to_owned() };
        line.next_after(now)?;
        Ok(line)
    }

    /// The first moment after `after` at which it is due.
    pub fn next_after(&self, after: Timestamp) -> Result<Timestamp, Refusal> {
        let start = after.to_zoned(self.time_zone()?);
        let next = self
            .parsed()?
            .find_next_occurrence(&start, false)
            .map_err(|error| Refusal::invalid(format!("{} never comes due: {error}", quoted(&self.expression))))?;
        Ok(next.timestamp())
    }

    /// How many moments after `after` and up to `until` it is due at, and no more than `most`.
    pub fn count_due(&self, after: Timestamp, until: Timestamp, most: u32) -> Result<u32, Refusal> {
        let (mut at, mut count) = (after, 0);
        while count < most {
            at = self.next_after(at)?;
            if at > until {
                break;
            }
            count += 1;
        }
        Ok(count)
    }

    fn parsed(&self) -> Result<Cron, Refusal> {
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        parser.parse(&self.expression).map_err(|error| {
            Refusal::invalid(format!("{} is not a cron expression: {error}", quoted(&self.expression)))
        })
    }

    fn time_zone(&self) -> Result<TimeZone, Refusal> {
        if self.zone == UTC {
            return Ok(TimeZone::UTC);
        }
        TimeZone::get(&self.zone).map_err(|_| {
            Refusal::invalid(format!("{} is not a time zone; write one such as Europe/Berlin", quoted(&self.zone)))
        })
    }
}
