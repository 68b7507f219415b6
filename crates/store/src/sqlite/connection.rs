//! Opening the file: the settings every connection has, and the schema brought up to date.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use planwright_engine::ledger::{LedgerError, LedgerResult};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::TransactionError;
use super::errors::{is_busy, translate};
use super::executions::move_runs_out;
use super::rows::{fill_from_states, fill_session_columns, fill_versions};
use super::schema_version::{KNOWN_SCHEMA, schema_version};
use super::store_file::StoreFile;
use super::waiting;

/// How long a process waits for another one that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Plans and entries are around a kilobyte; pages of this size are split less often than the default ones.
const PAGE_SIZE: i64 = 8_192;
const NAP: Duration = Duration::from_millis(2);

/// Marks the file as ours: "PLWR".
const APPLICATION_ID: i32 = 0x504c_5752;

const MIGRATIONS: [Migration; KNOWN_SCHEMA as usize] = [
    |connection| connection.execute_batch(include_str!("migrations/001.sql")),
    |connection| connection.execute_batch(include_str!("migrations/002.sql")),
    |connection| {
        connection.execute_batch(include_str!("migrations/003.sql"))?;
        move_runs_out(connection)
    },
    |connection| {
        connection.execute_batch(include_str!("migrations/004.sql"))?;
        fill_session_columns(connection)
    },
    |connection| connection.execute_batch(include_str!("migrations/005.sql")),
    |connection| {
        connection.execute_batch(include_str!("migrations/006.sql"))?;
        fill_versions(connection)
    },
    |connection| connection.execute_batch(include_str!("migrations/007.sql")),
    |connection| connection.execute_batch(include_str!("migrations/008.sql")),
    |connection| connection.execute_batch(include_str!("migrations/009.sql")),
    |connection| connection.execute_batch(include_str!("migrations/010.sql")),
    |connection| connection.execute_batch(include_str!("migrations/011.sql")),
    |connection| connection.execute_batch(include_str!("migrations/012.sql")),
    |connection| connection.execute_batch(include_str!("migrations/013.sql")),
    |connection| connection.execute_batch(include_str!("migrations/014.sql")),
    |connection| connection.execute_batch(include_str!("migrations/015.sql")),
    |connection| connection.execute_batch(include_str!("migrations/016.sql")),
    |connection| {
        connection.execute_batch(include_str!("migrations/017.sql"))?;
        waiting::fill(connection)?;
        fill_from_states(connection)
    },
];
type Migration = fn(&Connection) -> rusqlite::Result<()>;

/// A connection on a file whose schema is up to date.
pub(crate) fn open(path: &Path) -> LedgerResult<Connection> {
    open_with(path, OpenFlags::default())
}

/// Another connection on a file that is open. No new file is made in its place.
pub(super) fn open_again(file: &StoreFile) -> LedgerResult<Connection> {
    file.check()?;
    open_with(file.path(), OpenFlags::default().difference(OpenFlags::SQLITE_OPEN_CREATE))
}

fn open_with(path: &Path, flags: OpenFlags) -> LedgerResult<Connection> {
    let connect = || -> rusqlite::Result<Connection> {
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_handler(Some(wait_for_others))?;
        connection.set_prepared_statement_cache_capacity(64);
        // Otherwise a statement is compiled anew whenever another value is bound, in case a partial index fits that one.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "foreign_keys", false)?;
        connection.pragma_update(None, "page_size", PAGE_SIZE)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "cache_size", -16_384)?;
        connection.pragma_update(None, "wal_autocheckpoint", 2_000)?;
        connection.set_transaction_behavior(TransactionBehavior::Immediate);
        Ok(connection)
    };
    let mut connection = connect().map_err(|error| translate(path, &error))?;
    check_owner(&connection, path)?;
    migrate(&mut connection, path)?;
    Ok(connection)
}

thread_local! {
    static MAY_WAIT: Cell<bool> = const { Cell::new(true) };
}

/// Runs a read that fails with `SQLITE_BUSY` at once where it would have to wait for a lock.
pub(super) fn without_waiting<T>(read: impl FnOnce() -> T) -> T {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            MAY_WAIT.set(true);
        }
    }
    MAY_WAIT.set(false);
    let _restore = Restore;
    read()
}

/// Short naps: SQLite's own waiting grows to a tenth of a second, in which a busy neighbour commits many times.
fn wait_for_others(naps: i32) -> bool {
    if !MAY_WAIT.get() {
        return false;
    }
    std::thread::sleep(NAP);
    NAP * naps.unsigned_abs() < BUSY_TIMEOUT
}

/// A file of another program is left alone.
pub(super) fn check_owner(connection: &Connection, path: &Path) -> LedgerResult<()> {
    // Both at one moment, because another process may be making the tables right now.
    let facts = || -> rusqlite::Result<(i32, i64)> {
        let moment = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
        let tables = moment.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let id = moment.pragma_query_value(None, "application_id", |row| row.get(0))?;
        Ok((id, tables))
    };
    match facts().map_err(|error| translate(path, &error))? {
        (APPLICATION_ID, _) | (_, 0) => Ok(()),
        _ => Err(LedgerError::Unavailable(format!("{} is a database of another program", path.display()))),
    }
}

fn migrate(connection: &mut Connection, path: &Path) -> LedgerResult<()> {
    let known = KNOWN_SCHEMA;
    let version = |connection: &Connection| {
        schema_version(connection).map_err(|error| match error {
            TransactionError::Ledger(error) => error,
            TransactionError::Sqlite(error) => translate(path, &error),
        })
    };
    if version(connection)? == known {
        return Ok(());
    }
    write_ahead(connection).map_err(|error| translate(path, &error))?;
    let transaction = connection.transaction().map_err(|error| translate(path, &error))?;
    // Another process may have done it while this one waited for the lock.
    let found = version(&transaction)?;
    let apply = || -> rusqlite::Result<()> {
        for migration in &MIGRATIONS[found as usize..] {
            migration(&transaction)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", known)
    };
    apply().and_then(|()| transaction.commit()).map_err(|error| translate(path, &error))
}

/// Switching the journal needs the file alone for a moment, and SQLite does not wait for that by itself.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if is_busy(&error) && Instant::now() < deadline => std::thread::sleep(NAP),
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]
mod tests {
    use planwright_core::actor::Actor;
    use planwright_core::plan::PlanStyle;
    use planwright_core::policy::Policy;
    use planwright_core::session::SessionIdentity;
    use planwright_engine::Engine;
    use rusqlite::StatementStatus;

    use super::open;
    use crate::SqliteLedger;
    use crate::plans::VERSION_ENTRY;
    use crate::sqlite::rows::{FIND_PLAN, FIND_SESSION, snapshot};

    /// The entry of one version is found by an index, however many there are.
    #[test]
    fn a_version_is_looked_up_by_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open(&folder.path().join("planwright.db")).unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", VERSION_ENTRY)).unwrap();
        let values = ["plan", "40", "k3yk3y8x", "cli", "32"];
        let steps = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<_> = steps.map(Result::unwrap).collect();
        for search in ["journal_version (plan_id=? AND version=?)", "journal_order (session_id=? AND seq>?)"] {
            let search = format!("SEARCH journal USING INDEX {search}");
            assert_eq!(steps.iter().filter(|step| **step == search).count(), 1, "{steps:#?}");
        }
        assert!(!steps.iter().any(|step| step.contains("SCAN journal")), "{steps:#?}");
    }

    #[tokio::test]
    async fn statements_stay_compiled_whatever_is_bound() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("planwright.db");
        let engine = Engine::new(std::sync::Arc::new(SqliteLedger::open(&file).await.unwrap()), Policy::default());
        let sessions: [SessionIdentity; 2] = ["web:session-one", "web:session-two"].map(|name| name.parse().unwrap());
        let connection = open(&file).unwrap();
        for session in &sessions {
            let by = Actor::person("ada", "test");
            engine.sessions().open(session, &by).await.unwrap();
            engine.sessions().enable_plan_mode(session, &by, PlanStyle::Document).await.unwrap();
        }
        for session in sessions.iter().cycle().take(6) {
            assert_eq!(snapshot(&connection, session, None).unwrap().plans.len(), 1);
        }
        for sql in [FIND_SESSION, FIND_PLAN] {
            let statement = connection.prepare_cached(sql).unwrap();
            assert!(statement.get_status(StatementStatus::Run) >= 6, "it is not this one that is used: {sql}");
            // It is compiled for the first time, and perhaps for what another process made since.
            assert!(statement.get_status(StatementStatus::RePrepare) <= 1, "{sql}");
        }
    }
}
