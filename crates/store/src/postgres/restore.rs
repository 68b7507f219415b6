//! Sessions written back from their journals, one after the other on a connection of its own.

use std::fmt;
use std::time::Duration;

use planwright_core::refusal::Refusal;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::server_ledger::JournalSource;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::batch;
use super::changes::Changes;
use super::errors::{DatabaseError, RetryPolicy};
use super::readers::{ATTEMPTS, Readers};
use super::target::Target;
use super::writer_connection::WriterConnection;
use crate::restore::RestoredSession;

/// A long conversation has many entries.
const RESTORATION: Duration = Duration::from_secs(120);
const BUSY_ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct RestoreConnection {
    target: Target,
    changes: Changes,
    connection: Mutex<Option<WriterConnection>>,
}

impl fmt::Debug for RestoreConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestoreConnection").field("target", &self.target).finish_non_exhaustive()
    }
}

impl RestoreConnection {
    pub(super) fn new(target: &Target, changes: &Changes) -> Self {
        Self { target: target.clone(), changes: changes.clone(), connection: Mutex::new(None) }
    }

    pub(super) async fn restore(
        &self,
        readers: &Readers,
        restored: &RestoredSession,
        journal: &dyn JournalSource,
    ) -> LedgerResult<()> {
        let mut connection = self.connection.lock().await;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.attempt(&mut connection, restored, journal).await {
                Ok(true) => return Ok(()),
                Ok(false) if attempts > 1 && is_there(readers, restored).await? => {
                    // The attempt before came through, and only its answer was lost.
                    self.changes.notify_here(vec![restored.identity.clone()]);
                    return Ok(());
                }
                Ok(false) => {
                    let message = format!("There is a session {} already.", restored.identity);
                    return Err(Refusal::conflict(message).into());
                }
                Err(error) => match error.retry_policy() {
                    RetryPolicy::Reconnect if attempts < ATTEMPTS => {}
                    // Another transaction is opening a session of the same name right now.
                    RetryPolicy::Busy if attempts < BUSY_ATTEMPTS => sleep(PAUSE).await,
                    RetryPolicy::Reconnect
                    | RetryPolicy::Busy
                    | RetryPolicy::Again
                    | RetryPolicy::Wait
                    | RetryPolicy::None => return Err(error.to_error()),
                },
            }
        }
    }

    /// Whether it was written; if not, there is such a session.
    async fn attempt(
        &self,
        kept: &mut Option<WriterConnection>,
        restored: &RestoredSession,
        journal: &dyn JournalSource,
    ) -> Result<bool, DatabaseError> {
        let connection = match kept.take() {
            Some(connection) => connection,
            None => WriterConnection::open(&self.target).await?,
        };
        let work = batch::restore(&connection, &self.changes, restored, journal);
        let outcome = timeout(RESTORATION, work).await.unwrap_or(Err(DatabaseError::TimedOut));
        // A connection is only kept if it is known to be out of the transaction.
        if outcome.is_ok() {
            *kept = Some(connection);
        }
        outcome
    }
}

async fn is_there(readers: &Readers, restored: &RestoredSession) -> LedgerResult<bool> {
    Ok(readers.session(&restored.identity).await?.is_some_and(|stored| stored.head == restored.head))
}
