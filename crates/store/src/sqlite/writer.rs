//! The one thread that writes. It takes all waiting jobs, runs them in one transaction and answers their callers after the
//! commit. That is one flush to disk for many callers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::TransactionError;
use super::errors::{is_busy, translate};
use super::schema_version::schema_version;
use super::session_cache::SessionCache;
use super::store_file::StoreFile;
use crate::changes::ChangeBroadcaster;
use crate::encode;
use crate::write_health::WriteHealth;

/// How many jobs are committed at once. Some callers can prepare their next call while the jobs of others are written.
const BATCH: usize = 128;
const WAITING: usize = 16 * BATCH;

/// A handle on the writer thread. The thread ends when the handle is dropped and everything waiting is done.
#[derive(Debug)]
pub(super) struct Writer {
    inbox: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    health: Arc<WriteHealth>,
}

impl Writer {
    pub(super) fn start(connection: Connection, file: StoreFile, broadcaster: ChangeBroadcaster) -> LedgerResult<Self> {
        let (inbox, mut waiting) = mpsc::channel(WAITING);
        let health = Arc::<WriteHealth>::default();
        let mut state = WriterState {
            connection,
            file,
            broadcaster,
            cache: SessionCache::default(),
            careful: false,
            data_version: None,
            health: Arc::clone(&health),
            written: Vec::new(),
        };
        let run = move || {
            let mut batch = Vec::with_capacity(BATCH);
            while waiting.blocking_recv_many(&mut batch, BATCH) > 0 {
                state.commit_together(&mut batch);
                batch.clear();
            }
        };
        let thread = std::thread::Builder::new()
            .name("ledger-writer".to_owned())
            .spawn(run)
            .map_err(|error| LedgerError::Internal(format!("the writer cannot be started: {error}")))?;
        Ok(Self { inbox: Some(inbox), thread: Some(thread), health })
    }

    pub(super) fn health(&self) -> &WriteHealth {
        &self.health
    }

    /// Runs `act` in a transaction and waits until it is on disk. Dropping the future does not undo it.
    pub(super) async fn ask<T, F>(&self, act: F) -> LedgerResult<T>
    where
        T: Send + 'static,
        F: FnMut(&mut WriterState) -> Result<T, TransactionError> + Send + 'static,
    {
        let gone = || LedgerError::Unavailable("the writer has stopped".to_owned());
        let (to, answered) = oneshot::channel();
        let job = AskedJob { act, outcome: None, to: Some(to) };
        self.inbox.as_ref().ok_or_else(gone)?.send(Box::new(job)).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.inbox = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the writer thread.
pub(super) struct WriterState {
    pub(super) connection: Connection,
    file: StoreFile,
    broadcaster: ChangeBroadcaster,
    pub(super) cache: SessionCache,
    /// Whether requests are looked up before they are carried out.
    pub(super) careful: bool,
    /// Changes when another connection has written; then the cache is out of date.
    data_version: Option<i64>,
    health: Arc<WriteHealth>,
    /// The sessions that this transaction writes to, broadcast once it is on disk.
    pub(super) written: Vec<SessionIdentity>,
}

impl WriterState {
    fn commit_together(&mut self, jobs: &mut [Box<dyn Job>]) {
        let Err(error) = self.try_commit(jobs) else {
            return jobs.iter_mut().for_each(|job| job.answer());
        };
        self.undo();
        if fails_all(&error) {
            return jobs.iter_mut().for_each(|job| job.fail(self.translate(&error)));
        }
        // One at a time and carefully: the job that caused the error fails alone, and a repeated request gets its first
        // answer.
        self.careful = true;
        let mut failing = None;
        for job in jobs {
            // The rest of the batch does not wait for the same lock again.
            let outcome = match &failing {
                Some(error) => Err(self.translate(error)),
                None => self.try_commit(std::slice::from_mut(job)).map_err(|error| {
                    self.undo();
                    let described = self.translate(&error);
                    failing = fails_all(&error).then_some(error);
                    described
                }),
            };
            match outcome {
                Ok(()) => job.answer(),
                Err(error) => job.fail(error),
            }
        }
        self.careful = false;
    }

    /// The error for one of several callers.
    fn translate(&self, error: &TransactionError) -> LedgerError {
        let error = match error {
            TransactionError::Ledger(error) => encode::copy_error(error),
            TransactionError::Sqlite(error) => translate(self.file.path(), error),
        };
        self.health.note_failure(&error);
        error
    }

    /// Nothing of the transaction is stored, and what is kept in memory may be ahead of the file.
    fn undo(&mut self) {
        let _ = self.connection.execute_batch("ROLLBACK");
        self.cache.clear();
    }

    fn try_commit(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), TransactionError> {
        let changes = self.connection.total_changes();
        self.begin()?;
        for job in jobs {
            job.run(self)?;
        }
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        // Nothing is acknowledged that no other process finds.
        self.file.check_with_log()?;
        // A transaction that changed nothing did not reach the disk.
        if self.connection.total_changes() > changes {
            self.health.note_success();
        }
        self.broadcaster.notify(std::mem::take(&mut self.written));
        Ok(())
    }

    fn begin(&mut self) -> Result<(), TransactionError> {
        self.written.clear();
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        self.file.check_with_log()?;
        let version =
            self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get::<_, i64>(0))?;
        if self.data_version != Some(version) {
            self.cache.clear();
            // Whatever another process wrote may have been an upgrade of the schema.
            schema_version(&self.connection)?;
            self.data_version = Some(version);
        }
        Ok(())
    }
}

/// Whether an error says nothing about a single job: the file is locked, or its schema is too new.
fn fails_all(error: &TransactionError) -> bool {
    match error {
        TransactionError::Ledger(_) => true,
        TransactionError::Sqlite(error) => is_busy(error),
    }
}

/// Work to be done in the writer's transaction, and the caller that waits for it.
trait Job: Send {
    /// An error undoes the whole batch; a refusal is an outcome.
    fn run(&mut self, state: &mut WriterState) -> rusqlite::Result<()>;
    /// Sends the outcome to the caller, if it still waits.
    fn answer(&mut self);
    fn fail(&mut self, error: LedgerError);
}

struct AskedJob<T, F> {
    act: F,
    outcome: Option<LedgerResult<T>>,
    to: Option<oneshot::Sender<LedgerResult<T>>>,
}

impl<T, F> Job for AskedJob<T, F>
where
    T: Send,
    F: FnMut(&mut WriterState) -> Result<T, TransactionError> + Send,
{
    fn run(&mut self, state: &mut WriterState) -> rusqlite::Result<()> {
        // A panic in one command must not end the writer thread.
        let act = AssertUnwindSafe(|| (self.act)(state));
        self.outcome = Some(match catch_unwind(act).map_err(|_| rusqlite::Error::UnwindingPanic)? {
            Ok(outcome) => Ok(outcome),
            Err(TransactionError::Ledger(error)) => Err(error),
            Err(TransactionError::Sqlite(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(&mut self) {
        if let (Some(to), Some(outcome)) = (self.to.take(), self.outcome.take()) {
            let _ = to.send(outcome);
        }
    }

    fn fail(&mut self, error: LedgerError) {
        self.outcome = Some(Err(error));
        self.answer();
    }
}
