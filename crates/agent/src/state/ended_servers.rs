//! Servers that were found dead here, so that what they left is taken up without waiting for a second look.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// How many are remembered.
const MAX_SERVERS: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct EndedServers {
    owners: Mutex<VecDeque<String>>,
    found: Notify,
}

impl EndedServers {
    pub(crate) fn note(&self, owner: String) {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.push_back(owner);
        if owners.len() > MAX_SERVERS {
            owners.pop_front();
        }
        drop(owners);
        self.found.notify_one();
    }

    pub(crate) fn contains(&self, owner: &str) -> bool {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|ended| ended == owner)
    }

    /// A server that counts again.
    pub(crate) fn forget(&self, owner: &str) {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner).retain(|ended| ended != owner);
    }

    /// Resolves when one was found since the last time.
    pub(crate) async fn found(&self) {
        self.found.notified().await;
    }
}
