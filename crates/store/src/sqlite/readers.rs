//! Connections for reading. With a write-ahead log, readers and the writer do not block each other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planwright_engine::ledger::{LedgerError, LedgerResult};
use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

use super::TransactionError;
use super::connection::{self, without_waiting};
use super::errors::{is_busy, translate};
use super::store_file::StoreFile;

/// Connections that are not in use are kept for the next reader.
const MAX_IDLE: usize = 8;
/// How many reads may occupy a thread at the same time. The others wait without one.
const MAX_READING: usize = 64;

/// A cheap handle on the connections.
#[derive(Debug, Clone)]
pub(super) struct Readers {
    file: StoreFile,
    idle: Arc<Mutex<Vec<Connection>>>,
    reading: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(file: StoreFile) -> Self {
        Self { file, idle: Arc::default(), reading: Arc::new(Semaphore::new(MAX_READING)) }
    }

    /// Reads where waiting for the file blocks no other task.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, TransactionError> + Send + 'static,
    ) -> LedgerResult<T> {
        let closed = |_| LedgerError::Internal("the readers have stopped".to_owned());
        let permit = Arc::clone(&self.reading).acquire_owned().await.map_err(closed)?;
        let readers = self.clone();
        let work = move || {
            let _permit = permit;
            let connection = readers.take()?;
            let outcome = in_one_transaction(&connection, query);
            readers.put_back(connection);
            outcome.map_err(|error| readers.translate(error))
        };
        // Most reads are shorter than handing them to another thread and back.
        if Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
            return tokio::task::block_in_place(work);
        }
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| LedgerError::Internal(format!("a reader failed: {error}")))?
    }

    /// Reads a few rows by their keys on the current thread, which takes less time than any hand-over. It never waits: if
    /// the file is locked, or no connection is open, it is done by [`Self::read`].
    pub(super) async fn read_inline<T: Send + 'static>(
        &self,
        query: impl Fn(&Connection) -> Result<T, TransactionError> + Send + 'static,
    ) -> LedgerResult<T> {
        let idle = self.idle().pop();
        if let Some(connection) = idle {
            let outcome = without_waiting(|| in_one_transaction(&connection, &query));
            self.put_back(connection);
            match outcome {
                Err(TransactionError::Sqlite(error)) if is_busy(&error) => {}
                outcome => return outcome.map_err(|error| self.translate(error)),
            }
        }
        self.read(query).await
    }

    fn translate(&self, error: TransactionError) -> LedgerError {
        match error {
            TransactionError::Ledger(error) => error,
            TransactionError::Sqlite(error) => translate(self.file.path(), &error),
        }
    }

    fn take(&self) -> LedgerResult<Connection> {
        let idle = self.idle().pop();
        idle.map_or_else(|| connection::open_again(&self.file), Ok)
    }

    fn put_back(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything that is read belongs to the same commit.
fn in_one_transaction<T>(
    connection: &Connection,
    query: impl FnOnce(&Connection) -> Result<T, TransactionError>,
) -> Result<T, TransactionError> {
    connection.prepare_cached("BEGIN DEFERRED")?.execute([])?;
    let outcome = query(connection);
    connection.prepare_cached("ROLLBACK")?.execute([])?;
    outcome
}
