//! Changes by other processes, found by polling: a thread with a connection of its own often asks whether the file has
//! changed, which is cheap, and reads what is new if it has. The writer announces the changes of this process itself.

use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerResult, StoreChange};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::broadcast;

use super::connection;
use super::errors::translate;
use super::store_file::StoreFile;
use crate::changes::ChangeBroadcaster;

const PAUSE: Duration = Duration::from_millis(25);
/// The pause after a file could not be read.
const LONG_PAUSE: Duration = Duration::from_secs(1);

const LAST_ENTRY: &str = "SELECT coalesce(max(id), 0) FROM journal";

/// Polls from the first subscription on, until it is dropped.
#[derive(Debug)]
pub(super) struct Changes {
    file: StoreFile,
    broadcaster: ChangeBroadcaster,
    thread: OnceLock<Option<PollingThread>>,
}

#[derive(Debug)]
struct PollingThread {
    /// The thread ends when this is gone.
    ending: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Changes {
    pub(super) fn new(file: StoreFile, broadcaster: ChangeBroadcaster) -> Self {
        Self { file, broadcaster, thread: OnceLock::new() }
    }

    /// The first announcement is [`StoreChange::Anywhere`], once polling has begun: changes by others before it are not known.
    pub(super) fn subscribe(&self) -> broadcast::Receiver<StoreChange> {
        let changes = self.broadcaster.subscribe();
        self.thread.get_or_init(|| {
            let (ending, ended) = mpsc::channel();
            let (file, broadcaster) = (self.file.clone(), self.broadcaster.clone());
            let thread = std::thread::Builder::new().name("ledger-changes".to_owned());
            match thread.spawn(move || poll_until(&file, &broadcaster, &ended)) {
                Ok(thread) => Some(PollingThread { ending: Some(ending), thread: Some(thread) }),
                Err(error) => {
                    tracing::error!(%error, "changes by other processes cannot be followed");
                    None
                }
            }
        });
        changes
    }
}

impl Drop for PollingThread {
    fn drop(&mut self) {
        self.ending = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn poll_until(file: &StoreFile, broadcaster: &ChangeBroadcaster, ended: &mpsc::Receiver<()>) {
    let mut seen = None;
    loop {
        let looked = match &mut seen {
            None => ChangePoller::begin(file).map(|begun| {
                seen = Some(begun);
                broadcaster.notify_unknown();
            }),
            Some(seen) => seen.poll(broadcaster).map_err(|error| translate(file.path(), &error)),
        };
        let pause = match looked {
            Ok(()) => PAUSE,
            Err(error) => {
                tracing::warn!(%error, "changes by other processes cannot be followed now");
                seen = None;
                LONG_PAUSE
            }
        };
        if ended.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// How far the file was read.
struct ChangePoller {
    connection: Connection,
    /// Changes with every commit of another connection.
    version: i64,
    /// The last number of an entry, over all sessions.
    entry: i64,
    /// The last number of a deletion.
    deletion: i64,
}

/// What is new.
struct NewChanges {
    entry: i64,
    deletion: i64,
    /// `None` if it is not known.
    sessions: Option<Vec<SessionIdentity>>,
}

impl ChangePoller {
    fn begin(file: &StoreFile) -> LedgerResult<Self> {
        let connection = connection::open_again(file)?;
        let facts = || -> rusqlite::Result<(i64, i64, i64)> {
            // Asked first: what is written after it is found when it is asked again.
            let version = data_version(&connection)?;
            let moment = Transaction::new_unchecked(&connection, TransactionBehavior::Deferred)?;
            let entry = one_number(&moment, LAST_ENTRY)?;
            let deletion = one_number(&moment, "SELECT coalesce(max(id), 0) FROM deleted_session")?;
            Ok((version, entry, deletion))
        };
        let (version, entry, deletion) = facts().map_err(|error| translate(file.path(), &error))?;
        Ok(Self { connection, version, entry, deletion })
    }

    fn poll(&mut self, broadcaster: &ChangeBroadcaster) -> rusqlite::Result<()> {
        let version = data_version(&self.connection)?;
        if version == self.version {
            return Ok(());
        }
        let new = self.new_changes()?;
        match new.sessions {
            Some(sessions) => broadcaster.notify(sessions),
            None => broadcaster.notify_unknown(),
        }
        (self.version, self.entry, self.deletion) = (version, new.entry, new.deletion);
        Ok(())
    }

    fn new_changes(&self) -> rusqlite::Result<NewChanges> {
        let moment = Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
        let (mut from, mut deletion, mut names, mut sure) = (self.entry, self.deletion, Vec::new(), true);
        let sql = "SELECT id, name, journal_end FROM deleted_session WHERE id > ?1 ORDER BY id";
        let mut statement = moment.prepare_cached(sql)?;
        let mut rows = statement.query([self.deletion])?;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            // Deletions that were not read yet are forgotten already.
            sure &= id == deletion + 1;
            deletion = id;
            names.push(row.get::<_, String>(1)?);
            // Numbers of entries are given out again once the entries are gone.
            from = from.min(row.get(2)?);
        }
        let entry = one_number(&moment, LAST_ENTRY)?;
        // Entries were removed by another program.
        sure &= entry >= from;
        let sql = "SELECT DISTINCT session.channel || ':' || session.conversation
                   FROM journal CROSS JOIN session ON session.id = journal.session_id WHERE journal.id > ?1";
        let mut statement = moment.prepare_cached(sql)?;
        let mut rows = statement.query([from])?;
        while let Some(row) = rows.next()? {
            names.push(row.get(0)?);
        }
        let sessions = names.iter().map(|name| name.parse().ok()).collect::<Option<Vec<_>>>();
        Ok(NewChanges { entry, deletion, sessions: sessions.filter(|_| sure) })
    }
}

fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    one_number(connection, "PRAGMA data_version")
}

fn one_number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}
