//! The schema, brought up to date one version after the other and never backwards.

use planwright_engine::ledger::LedgerError;
use tokio_postgres::{Client, Error, Row};

use super::data_migrations::{
    fill_from_states, fill_session_columns, fill_versions, fill_waiting_plans, move_runs_out,
};
use super::errors::{DatabaseError, is_already_made, is_undefined_table};
use super::statement;

const MIGRATIONS: [&str; 17] = [
    include_str!("migrations/001.sql"),
    include_str!("migrations/002.sql"),
    include_str!("migrations/003.sql"),
    include_str!("migrations/004.sql"),
    include_str!("migrations/005.sql"),
    include_str!("migrations/006.sql"),
    include_str!("migrations/007.sql"),
    include_str!("migrations/008.sql"),
    include_str!("migrations/009.sql"),
    include_str!("migrations/010.sql"),
    include_str!("migrations/011.sql"),
    include_str!("migrations/012.sql"),
    include_str!("migrations/013.sql"),
    include_str!("migrations/014.sql"),
    include_str!("migrations/015.sql"),
    include_str!("migrations/016.sql"),
    include_str!("migrations/017.sql"),
];
/// The version since which outcomes have rows of their own.
const RUNS_APART: usize = 3;
/// The version since which sessions have columns beside their state.
const SESSION_COLUMNS: usize = 4;

/// The version since which entries say which version of a plan they made.
const VERSION_INDEX: usize = 6;

/// The version since which the plans that may wait for a person have a list, and searches a text.
const WAITING_PLANS: usize = 17;

pub(super) const VERSION: &str = "SELECT version FROM planwright_schema WHERE one = 1";

/// No other process writes to a session while its tables change. A database without table locks does without.
const LOCK_OUT_WRITERS: &str = "SAVEPOINT locking; LOCK TABLE session IN EXCLUSIVE MODE; RELEASE SAVEPOINT locking";

/// One row, which the migrating process locks.
const VERSION_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS planwright_schema (one int PRIMARY KEY, version int NOT NULL);
    INSERT INTO planwright_schema (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING";

pub(super) async fn migrate(client: &Client) -> Result<(), DatabaseError> {
    let found = match version(client, "").await {
        Err(error) if is_undefined_table(&error) => 0,
        found => found?,
    };
    // A current database is only read, so that a user without the right to make tables can work with it.
    if is_current(found)? {
        return Ok(());
    }
    if let Err(error) = client.batch_execute(VERSION_TABLE).await {
        if !is_already_made(&error) {
            return Err(error.into());
        }
        client.batch_execute(VERSION_TABLE).await?;
    }
    client.batch_execute("BEGIN").await?;
    let outcome = migrate_locked(client).await;
    let end = if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end).await;
    outcome?;
    Ok(ended?)
}

async fn migrate_locked(client: &Client) -> Result<(), DatabaseError> {
    // Another process may have done it while this one waited for the row.
    let found = version(client, "FOR UPDATE").await?;
    if is_current(found)? {
        return Ok(());
    }
    if found > 0 && client.batch_execute(LOCK_OUT_WRITERS).await.is_err() {
        client.batch_execute("ROLLBACK TO SAVEPOINT locking").await?;
    }
    for (version, migration) in (1..).zip(MIGRATIONS).skip(found.unsigned_abs() as usize) {
        client.batch_execute(migration).await?;
        if version == RUNS_APART {
            move_runs_out(client).await?;
        }
        if version == SESSION_COLUMNS {
            fill_session_columns(client).await?;
        }
        if version == VERSION_INDEX {
            fill_versions(client).await?;
        }
        if version == WAITING_PLANS {
            fill_waiting_plans(client).await?;
            fill_from_states(client).await?;
        }
    }
    let known = MIGRATIONS.len() as i32;
    statement::execute(client, "UPDATE planwright_schema SET version = $1 WHERE one = 1", &[&known]).await?;
    Ok(())
}

async fn version(client: &Client, lock: &str) -> Result<i32, Error> {
    let rows = statement::query(client, &format!("{VERSION} {lock}"), &[]).await?;
    rows.first().map_or(Ok(0), |row| row.try_get(0))
}

fn is_current(found: i32) -> Result<bool, LedgerError> {
    let (found, known) = (found.unsigned_abs(), MIGRATIONS.len() as u32);
    if found > known { Err(LedgerError::TooNew { found, known }) } else { Ok(found == known) }
}

/// Fails if a newer program has upgraded the database. `rows` is the answer to [`VERSION`].
pub(super) fn check_version(rows: &[Row]) -> Result<(), DatabaseError> {
    let found: i32 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    is_current(found)?;
    Ok(())
}

/// The version of the database, 0 if it has none, and the one that this program works with.
pub(super) async fn versions(client: &Client) -> Result<(u32, u32), DatabaseError> {
    let found = match version(client, "").await {
        Err(error) if is_undefined_table(&error) => 0,
        found => found?,
    };
    Ok((found.unsigned_abs(), MIGRATIONS.len() as u32))
}
