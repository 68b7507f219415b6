//! The one thread that writes: it takes everything that waits, carries it out in one transaction and answers
//! everybody after the commit. That is one flush to disk for many callers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread::JoinHandle;

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::Fault;
use super::errors::{is_busy, translate};
use super::session_cache::SessionCache;
use crate::changes::ChangeBroadcaster;

/// The most that is committed at once. Of many callers, some can prepare their next call while others are written.
const BATCH: usize = 128;
const WAITING: usize = 16 * BATCH;

/// A handle on the writer thread. The thread ends when the handle is dropped and everything waiting is done.
#[derive(Debug)]
pub(super) struct Writer {
    inbox: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, path: PathBuf, broadcaster: ChangeBroadcaster) -> LedgerResult<Self> {
        let (inbox, mut waiting) = mpsc::channel(WAITING);
        let mut state = WriterState {
            connection,
            path,
            broadcaster,
            cache: SessionCache::default(),
            careful: false,
            data_version: None,
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
        Ok(Self { inbox: Some(inbox), thread: Some(thread) })
    }

    /// Has `act` done in a transaction and waits until it is on disk. Whoever stops waiting does not undo it.
    pub(super) async fn ask<T, F>(&self, act: F) -> LedgerResult<T>
    where
        T: Send + 'static,
        F: FnMut(&mut WriterState) -> Result<T, Fault> + Send + 'static,
    {
        let gone = || LedgerError::Unavailable("the writer has stopped".to_owned());
        let (to, answered) = oneshot::channel();
        let job = Asked { act, outcome: None, to: Some(to) };
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

/// What the writer thread has before it.
pub(super) struct WriterState {
    pub(super) connection: Connection,
    path: PathBuf,
    broadcaster: ChangeBroadcaster,
    pub(super) cache: SessionCache,
    /// Whether requests are looked up before they are carried out.
    pub(super) careful: bool,
    /// Changes when another connection has written; then nothing kept in memory counts any more.
    data_version: Option<i64>,
    /// The sessions that this transaction writes to, told once it is on disk.
    pub(super) written: Vec<SessionIdentity>,
}

impl WriterState {
    fn commit_together(&mut self, jobs: &mut [Box<dyn Job>]) {
        let Err(error) = self.try_commit(jobs) else {
            return jobs.iter_mut().for_each(|job| job.tell());
        };
        self.undo();
        if is_busy(&error) {
            return jobs.iter_mut().for_each(|job| job.fail(translate(&self.path, &error)));
        }
        // One at a time and carefully: whoever caused it fails alone, and a repeated request gets its first answer.
        self.careful = true;
        let mut busy = None;
        for job in jobs {
            // Nobody waits for the same lock again and again.
            let outcome = match &busy {
                Some(error) => Err(translate(&self.path, error)),
                None => self.try_commit(std::slice::from_mut(job)).map_err(|error| {
                    self.undo();
                    let words = translate(&self.path, &error);
                    busy = is_busy(&error).then_some(error);
                    words
                }),
            };
            match outcome {
                Ok(()) => job.tell(),
                Err(error) => job.fail(error),
            }
        }
        self.careful = false;
    }

    /// Nothing of the transaction is stored, and what is kept in memory may be ahead of the file.
    fn undo(&mut self) {
        let _ = self.connection.execute_batch("ROLLBACK");
        self.cache = SessionCache::default();
    }

    fn try_commit(&mut self, jobs: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
        self.begin()?;
        for job in jobs {
            job.apply_command(self)?;
        }
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.broadcaster.notify(std::mem::take(&mut self.written));
        Ok(())
    }

    fn begin(&mut self) -> rusqlite::Result<()> {
        self.written.clear();
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let version =
            self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get::<_, i64>(0))?;
        if self.data_version.replace(version) != Some(version) {
            self.cache = SessionCache::default();
        }
        Ok(())
    }
}

/// Something to be done in the writer's transaction, and somebody who waits for it.
trait Job: Send {
    /// An error undoes the whole batch; a refusal is an outcome.
    fn apply_command(&mut self, state: &mut WriterState) -> rusqlite::Result<()>;
    /// Gives the outcome to whoever waits, if they still do.
    fn tell(&mut self);
    fn fail(&mut self, error: LedgerError);
}

struct Asked<T, F> {
    act: F,
    outcome: Option<LedgerResult<T>>,
    to: Option<oneshot::Sender<LedgerResult<T>>>,
}

impl<T, F> Job for Asked<T, F>
where
    T: Send,
    F: FnMut(&mut WriterState) -> Result<T, Fault> + Send,
{
    fn apply_command(&mut self, state: &mut WriterState) -> rusqlite::Result<()> {
        // A defect in one command must not end the writing of all others.
        let act = AssertUnwindSafe(|| (self.act)(state));
        self.outcome = Some(match catch_unwind(act).map_err(|_| rusqlite::Error::UnwindingPanic)? {
            Ok(outcome) => Ok(outcome),
            Err(Fault::Ledger(error)) => Err(error),
            Err(Fault::Sqlite(error)) => return Err(error),
        });
        Ok(())
    }

    fn tell(&mut self) {
        if let (Some(to), Some(outcome)) = (self.to.take(), self.outcome.take()) {
            let _ = to.send(outcome);
        }
    }

    fn fail(&mut self, error: LedgerError) {
        self.outcome = Some(Err(error));
        self.tell();
    }
}
