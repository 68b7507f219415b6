//! Schedules and runs as both stores find them over all sessions: one row for each session that has any.

use planwright_core::auto::AutoState;
use planwright_core::session::Session;
use planwright_engine::server_ledger::RunsFilter;

/// What the row of a session says. It follows from the session's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AutoRow {
    /// In microseconds.
    pub(crate) due_at: Option<i64>,
    pub(crate) running: bool,
    pub(crate) waits: bool,
}

impl AutoRow {
    pub(crate) fn of(session: &Session) -> Self {
        let state = session.auto.as_deref();
        let runs = || state.into_iter().flat_map(AutoState::open_runs);
        Self {
            due_at: state.and_then(AutoState::due_at).map(|at| at.as_microsecond()),
            running: runs().any(|run| run.is_running()),
            waits: runs().any(|run| run.waits_since().is_some()),
        }
    }

    /// Whether the session needs no row.
    pub(crate) const fn is_empty(self) -> bool {
        self.due_at.is_none() && !self.running && !self.waits
    }
}

/// The column that says whether a session has such runs.
pub(crate) const fn column(which: RunsFilter) -> &'static str {
    match which {
        RunsFilter::Running => "running",
        RunsFilter::Waiting => "waits",
    }
}
