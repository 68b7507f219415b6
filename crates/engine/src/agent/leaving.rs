//! Leaving in good order: nothing new is begun, what is under way goes on to the next point where somebody else can take
//! it up, and gives its session back there.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Agent;
use crate::ledger::LedgerError;

/// How long work that was cut off may take to give its session back.
const LAST_WRITES: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Leaving {
    /// Nothing more is begun.
    soon: CancellationToken,
    /// What still waits for a model or a tool is given up.
    now: CancellationToken,
}

impl Leaving {
    pub(super) fn is_soon(&self) -> bool {
        self.soon.is_cancelled()
    }

    pub(super) async fn now(&self) {
        self.now.cancelled().await;
    }
}

impl Agent {
    /// Leaves all work where it can be taken up again: at once where nothing is being waited for, else when the model or
    /// the tool has answered, but after `patience` at the latest. From here on nothing is begun in this process.
    pub async fn drain(&self, patience: Duration) {
        let leaving = &self.shared.leaving;
        leaving.soon.cancel();
        if timeout(patience, self.shared.slots.all_over()).await.is_ok() {
            return;
        }
        leaving.now.cancel();
        if timeout(LAST_WRITES, self.shared.slots.all_over()).await.is_err() {
            tracing::warn!(event = "work_not_left", "some work could not be left in good order");
        }
    }
}

/// What whoever waits for an answer is told.
pub(super) fn left() -> LedgerError {
    LedgerError::Unavailable(
        "this process is stopping; what was begun goes on in the next one, and what was not begun was not done"
            .to_owned(),
    )
}
