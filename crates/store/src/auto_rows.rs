//! Schedules and runs as both stores find them over all sessions: one row for each session that has any.

use planwright_engine::server_ledger::RunsFilter;

/// The column that says whether a session has such runs.
pub(crate) const fn column(which: RunsFilter) -> &'static str {
    match which {
        RunsFilter::Running => "running",
        RunsFilter::Waiting => "waits",
    }
}
