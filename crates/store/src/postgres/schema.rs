//! The schema, brought up to date one version after the other and never backwards.

use planwright_engine::ledger::LedgerError;
use tokio_postgres::{Client, Error};

use super::errors::{Failure, is_already_made, is_undefined_table};
use super::moving::{fill_session_columns, move_runs_out};

const MIGRATIONS: [&str; 5] = [
    include_str!("migrations/001.sql"),
    include_str!("migrations/002.sql"),
    include_str!("migrations/003.sql"),
    include_str!("migrations/004.sql"),
    include_str!("migrations/005.sql"),
];
/// The version since which outcomes have rows of their own.
const RUNS_APART: usize = 3;
/// The version since which sessions have columns beside their state.
const SESSION_COLUMNS: usize = 4;

/// One row, which whoever migrates holds.
const VERSION_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS planwright_schema (one int PRIMARY KEY, version int NOT NULL);
    INSERT INTO planwright_schema (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING";

pub(super) async fn migrate(client: &Client) -> Result<(), Failure> {
    let found = match version(client, "").await {
        Err(error) if is_undefined_table(&error) => 0,
        found => found?,
    };
    // A database that is up to date is only looked at, so that a user without the right to make tables can work with it.
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

async fn migrate_locked(client: &Client) -> Result<(), Failure> {
    // Somebody else may have done it while this one waited for the row.
    let found = version(client, "FOR UPDATE").await?;
    if is_current(found)? {
        return Ok(());
    }
    for (version, migration) in (1..).zip(MIGRATIONS).skip(found.unsigned_abs() as usize) {
        client.batch_execute(migration).await?;
        if version == RUNS_APART {
            move_runs_out(client).await?;
        }
        if version == SESSION_COLUMNS {
            fill_session_columns(client).await?;
        }
    }
    let known = MIGRATIONS.len() as i32;
    client.execute("UPDATE planwright_schema SET version = $1 WHERE one = 1", &[&known]).await?;
    Ok(())
}

async fn version(client: &Client, lock: &str) -> Result<i32, Error> {
    let row = client.query_opt(&format!("SELECT version FROM planwright_schema WHERE one = 1 {lock}"), &[]).await?;
    row.map_or(Ok(0), |row| row.try_get(0))
}

fn is_current(found: i32) -> Result<bool, LedgerError> {
    let (found, known) = (found.unsigned_abs(), MIGRATIONS.len() as u32);
    if found > known { Err(LedgerError::TooNew { found, known }) } else { Ok(found == known) }
}

/// The version that is there, 0 if there is none, and the one that this program works with.
pub(super) async fn versions(client: &Client) -> Result<(u32, u32), Failure> {
    let found = match version(client, "").await {
        Err(error) if is_undefined_table(&error) => 0,
        found => found?,
    };
    Ok((found.unsigned_abs(), MIGRATIONS.len() as u32))
}
