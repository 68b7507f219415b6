//! What this process has seen of the heartbeats of others. Clocks of two machines are not compared: a process counts as ended
//! when its heartbeat has not changed for too long by the time that passed here.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::ids::RunId;

/// Runs that were not looked at for so long are forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(3_600);

#[derive(Debug, Default)]
pub(crate) struct HeartbeatMarks(Mutex<HashMap<RunId, SeenMark>>);

/// What changes while a run is driven. The times were told by the clock of its process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeartbeatMark {
    pub(crate) driver: String,
    pub(crate) active_at: Timestamp,
    pub(crate) alive_at: Option<Timestamp>,
}

#[derive(Debug)]
struct SeenMark {
    mark: HeartbeatMark,
    /// When it was seen first, and last.
    first: Duration,
    last: Duration,
}

impl HeartbeatMarks {
    /// For how long the mark of the run has been the same here. `elapsed` is the time of this process.
    pub(crate) fn unchanged_for(&self, run: &RunId, mark: HeartbeatMark, elapsed: Duration) -> Duration {
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        marks.retain(|_, seen| elapsed.saturating_sub(seen.last) < FORGET_AFTER);
        match marks.get_mut(run).filter(|seen| seen.mark == mark) {
            Some(seen) => {
                seen.last = elapsed;
                elapsed.saturating_sub(seen.first)
            }
            None => {
                marks.insert(run.clone(), SeenMark { mark, first: elapsed, last: elapsed });
                Duration::ZERO
            }
        }
    }
}
