//! How long the same call took each time.

use std::time::Duration;

use crate::figures::Kind::{Limit, Other, Time};
use crate::figures::Table;

/// In milliseconds.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) median: f64,
    /// Nine of ten calls are faster.
    pub(crate) slow: f64,
    /// Of a hundred calls one is slower.
    pub(crate) slowest: f64,
}

impl Times {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
        Self { median: at(50), slow: at(90), slowest: at(99) }
    }
}

/// Prints what takes time beside what it cannot be faster than.
pub(crate) fn print(
    name: &'static str,
    bare_name: &str,
    bare: Times,
    our_name: &str,
    ours: Times,
) -> anyhow::Result<()> {
    print_all(name, bare_name, bare, &[(our_name, ours)])
}

/// Prints the times of several things that have one limit.
pub(crate) fn print_all(
    name: &'static str,
    bare_name: &str,
    bare: Times,
    ours: &[(&str, Times)],
) -> anyhow::Result<()> {
    Table::new(name, "", &[("median ms", Limit), ("90 % ms", Limit)]).row(bare_name, [bare.median, bare.slow])?;
    let columns = &[("median ms", Time), ("90 % ms", Time), ("ratio", Other), ("our own, ms", Other)];
    let table = Table::new(name, "", columns);
    for (our_name, ours) in ours {
        let own = [ours.median / bare.median, ours.median - bare.median];
        table.row(our_name, [ours.median, ours.slow].into_iter().chain(own))?;
    }
    Ok(())
}
