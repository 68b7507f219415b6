//! How the last write ended, for readiness probes: a store that cannot write must not be sent work.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use planwright_engine::ledger::{LedgerError, LedgerResult};

/// How long a successful write is taken for the state of the store.
const SUCCESS_COUNTS: Duration = Duration::from_secs(5);
/// How long a failed one is. Longer, because a small write can succeed where the next large one fails again.
const FAILURE_COUNTS: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(crate) struct WriteHealth(Mutex<Option<LastWrite>>);

#[derive(Debug)]
struct LastWrite {
    at: Instant,
    /// Why it failed, if it did.
    failure: Option<String>,
}

impl WriteHealth {
    pub(crate) fn note_success(&self) {
        self.note(None);
    }

    /// Refusals, damaged rows and defects of one command say nothing about the store as a whole and are not noted.
    pub(crate) fn note_failure(&self, error: &LedgerError) {
        match error {
            LedgerError::Unavailable(message) => self.note(Some(message.clone())),
            LedgerError::TooNew { .. } => self.note(Some(error.to_string())),
            LedgerError::Refused(_)
            | LedgerError::Leased(_)
            | LedgerError::Fenced(_)
            | LedgerError::Damaged { .. }
            | LedgerError::Internal(_) => {}
        }
    }

    fn note(&self, failure: Option<String>) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(LastWrite { at: Instant::now(), failure });
    }

    /// Whether writes succeed, if one ended a short while ago.
    pub(crate) fn recent(&self) -> Option<LedgerResult<()>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let LastWrite { at, failure } = last.as_ref()?;
        match failure {
            Some(message) if at.elapsed() < FAILURE_COUNTS => Some(Err(LedgerError::Unavailable(message.clone()))),
            None if at.elapsed() < SUCCESS_COUNTS => Some(Ok(())),
            Some(_) | None => None,
        }
    }
}
