//! The ledger in one SQLite file, which any number of processes on the machine may share.
//!
//! - `connection`: the settings every connection has, and the schema; `schema_version`: its version
//! - `sql`: statements; `readers`: connections for reading
//! - `writer`: the thread that commits many callers' work at once
//! - `submit`, `restore`, `delete`: one command, a session from a backup, and a deletion inside the writer's transaction
//! - `session_cache`: sessions the writer keeps in memory
//! - `rows`, `executions`, `waiting`, `memory`, `auto`, `leases`: the rows that commands read and write
//! - `changes`: changes by other processes
//! - `store_file`: whether the file is still the one that was opened
//! - `errors`, `inspect`: errors in words, and the state of a file
//! - `scans`: the tests that no list over all sessions reads more than it shows

mod auto;
mod changes;
pub(crate) mod connection;
mod delete;
mod errors;
mod executions;
pub(crate) mod inspect;
mod leases;
mod memory;
mod readers;
mod restore;
mod rows;
#[cfg(test)]
mod scans;
mod schema_version;
mod session_cache;
mod sql;
mod store_file;
mod submit;
mod waiting;
mod writer;

use std::path::Path;
use std::sync::Arc;

use planwright_core::ids::PlanId;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, JournalSource, Lease, LedgerError, LedgerResult, StoreChange, StoreFacts, StoredSession, Submission,
};
use tokio::sync::broadcast;

use crate::backend::{Backend, SqlLedger};
use crate::changes::ChangeBroadcaster;
use crate::restore::RestoredSession;
use crate::sql::Row;
use crate::write_health::WriteHealth;
use changes::Changes;
use readers::Readers;
use rows::{FOUND_SESSIONS, RECENT_SESSIONS, SESSION_COLUMNS, SESSION_TABLES};
use store_file::StoreFile;
use writer::Writer;

pub type SqliteLedger = SqlLedger<Sqlite>;

#[derive(Debug)]
pub struct Sqlite {
    file: StoreFile,
    writer: Writer,
    readers: Readers,
    changes: Changes,
}

/// An error inside a transaction: an answer of this store, or an error of SQLite.
#[derive(Debug)]
enum TransactionError {
    Ledger(LedgerError),
    Sqlite(rusqlite::Error),
}

impl From<LedgerError> for TransactionError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl From<Refusal> for TransactionError {
    fn from(refusal: Refusal) -> Self {
        Self::Ledger(refusal.into())
    }
}

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl SqliteLedger {
    /// Opens the file, making it and its folder if they are missing.
    pub async fn open(path: &Path) -> LedgerResult<Self> {
        let path = path.to_owned();
        let open = move || {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder).map_err(|error| {
                    LedgerError::Unavailable(format!("the folder {} cannot be made: {error}", folder.display()))
                })?;
            }
            make_private(&path);
            let connection = connection::open(&path)?;
            let broadcaster = ChangeBroadcaster::new();
            let file = StoreFile::opened(path);
            let writer = Writer::start(connection, file.clone(), broadcaster.clone())?;
            let (readers, changes) = (Readers::new(file.clone()), Changes::new(file.clone(), broadcaster));
            Ok(Self(Sqlite { file, writer, readers, changes }))
        };
        tokio::task::spawn_blocking(open)
            .await
            .map_err(|error| LedgerError::Internal(format!("opening the store failed: {error}")))?
    }
}

/// A new file can be read by its owner only. An existing file keeps its permissions. If the file cannot be made here,
/// opening it reports why.
fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

impl Backend for Sqlite {
    const SESSION_COLUMNS: &'static str = SESSION_COLUMNS;
    const SESSION_TABLES: &'static str = SESSION_TABLES;
    const RECENT_SESSIONS: &'static str = RECENT_SESSIONS;
    const FOUND_SESSIONS: &'static str = FOUND_SESSIONS;
    const ALL_COLUMNS: &'static str = "SELECT tables.name, columns.name, 0
        FROM sqlite_schema AS tables CROSS JOIN pragma_table_info(tables.name) AS columns
        WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' ORDER BY tables.name, columns.cid";
    // An execution says to the nanosecond when its plan changed; without its last letter that is in the order of time.
    const PLAN_CHANGED: &'static str = "coalesce(CASE WHEN execution.updated_at IS NULL
         THEN strftime('%Y-%m-%dT%H:%M:%S', plan.updated_at / 1000000, 'unixepoch')
             || printf('.%06d', plan.updated_at % 1000000)
         WHEN execution.updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z'
         THEN rtrim(execution.updated_at, 'Z') END, '')";

    fn read_session(row: &Row) -> LedgerResult<StoredSession> {
        rows::read_session(row).and_then(rows::stored)
    }

    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        self.writer.ask(move |state| state.submit(&submission)).await
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        let session = session.clone();
        let query = move |connection: &_| {
            rows::find_session(connection, &session)?.map(|row| Ok(rows::stored(row)?)).transpose()
        };
        self.readers.read_inline(query).await
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        let (session, plan) = (session.clone(), plan.cloned());
        self.readers.read_inline(move |connection| rows::snapshot(connection, &session, plan.as_ref())).await
    }

    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        let lease = lease.clone();
        self.writer.ask(move |state| state.delete_session(&lease)).await
    }

    async fn restore(&self, restored: RestoredSession, journal: Arc<dyn JournalSource>) -> LedgerResult<()> {
        self.writer.ask(move |state| state.restore(&restored, journal.as_ref())).await
    }

    fn changes(&self) -> broadcast::Receiver<StoreChange> {
        self.changes.subscribe()
    }

    fn health(&self) -> &WriteHealth {
        self.writer.health()
    }

    async fn check_pages(&self) -> LedgerResult<Vec<String>> {
        let check = |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            let lines = lines.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(lines.into_iter().filter(|line| line != "ok").collect())
        };
        self.readers.read(check).await
    }

    async fn facts(&self) -> LedgerResult<StoreFacts> {
        self.file.check()?;
        let facts = self.readers.read(|connection| {
            let version: String = connection.query_row("SELECT sqlite_version()", [], |row| row.get(0))?;
            let schema = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            // Reading a table fails where the file is damaged.
            connection.query_row("SELECT count(*) FROM (SELECT id FROM session LIMIT 1)", [], |_| Ok(()))?;
            Ok(StoreFacts { kind: format!("SQLite {version}"), schema, told_by_others: false })
        });
        facts.await
    }
}
