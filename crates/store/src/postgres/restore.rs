//! Sessions written back from their journals, one after the other on a connection of its own.

use std::fmt;
use std::time::Duration;

use planwright_core::refusal::Refusal;
use planwright_engine::ledger::{JournalSource, LedgerResult};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::changes::Changes;
use super::client_pool::{Retry, retry};
use super::errors::DatabaseError;
use super::target::Target;
use super::writer_connection::WriterConnection;
use super::{Postgres, batch};
use crate::backend::Backend as _;
use crate::restore::RestoredSession;

/// A long conversation has many entries.
const RESTORATION: Duration = Duration::from_secs(120);

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
        postgres: &Postgres,
        restored: &RestoredSession,
        journal: &dyn JournalSource,
    ) -> LedgerResult<()> {
        let mut connection = self.connection.lock().await;
        let mut retry = Retry::new();
        let written = retry!(retry, self.attempt(&mut connection, restored, journal));
        if written.map_err(|error| error.to_error())? {
            return Ok(());
        }
        let session = &restored.identity;
        let stored = if retry.answer_lost { postgres.session(session).await? } else { None };
        if stored.is_none_or(|stored| stored.head != restored.head) {
            return Err(Refusal::conflict(format!("There is a session {session} already.")).into());
        }
        // The attempt before came through, and only its answer was lost.
        self.changes.notify_here(vec![session.clone()]);
        Ok(())
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
