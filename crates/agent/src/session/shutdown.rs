//! Shutting down: nothing new is begun, and running work stops at the next point where another process can resume it.

use planwright_engine::ledger::LedgerError;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    /// No turn and no step is begun any more.
    requested: CancellationToken,
    /// Calls to models and tools are abandoned.
    immediate: CancellationToken,
}

impl Shutdown {
    pub(crate) fn request(&self) {
        self.requested.cancel();
    }

    pub(crate) fn abandon_calls(&self) {
        self.immediate.cancel();
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.requested.is_cancelled()
    }

    /// Ready when calls to models and tools are to be abandoned.
    pub(crate) async fn immediate(&self) {
        self.immediate.cancelled().await;
    }
}

/// The outcome of an input that a shutdown kept from being finished.
pub(crate) fn shutting_down() -> LedgerError {
    LedgerError::Unavailable(
        "this process is shutting down; another process resumes what was begun, and what was not begun was not done"
            .to_owned(),
    )
}
