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

/// The version since which a database says which programs it leaves room for.
const OLDEST_PROGRAMS: u32 = 17;

/// The oldest version whose programs work with the schema that this program makes. A step that they can work beside leaves it as it
/// is: one that only adds tables, columns with a default and indexes. What nothing uses any more goes a version later, with a
/// number that leaves those programs out.
const OLDEST: i32 = 17;

pub(super) const VERSION: &str =
    "SELECT version, oldest FROM planwright_schema JOIN planwright_compatibility USING (one)
    WHERE one = 1";

/// The version, also of a schema that says nothing else.
const EARLIER_VERSION: &str = "SELECT version FROM planwright_schema WHERE one = 1";

/// The schema of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundSchema {
    /// 0 if there is none.
    pub(super) version: u32,
    /// The oldest version whose programs work with it.
    oldest: u32,
}

impl FoundSchema {
    const NONE: Self = Self { version: 0, oldest: 0 };

    fn of(row: &Row) -> Result<Self, Error> {
        let (version, oldest): (i32, i32) = (row.try_get(0)?, row.try_get(1)?);
        Ok(Self { version: version.unsigned_abs(), oldest: oldest.unsigned_abs() })
    }

    pub(super) fn is_too_new(self) -> bool {
        self.version > KNOWN && self.oldest > KNOWN
    }

    /// Whether this program works with it as it is. Fails if a newer program has upgraded it and left this one no room.
    fn is_current(self) -> Result<bool, LedgerError> {
        if self.is_too_new() {
            return Err(LedgerError::TooNew { found: self.version, known: KNOWN });
        }
        Ok(self.version >= KNOWN)
    }
}

/// The version that this program makes.
const KNOWN: u32 = MIGRATIONS.len() as u32;

/// No other process writes to a session while its tables change. A database without table locks does without.
const LOCK_OUT_WRITERS: &str = "SAVEPOINT locking; LOCK TABLE session IN EXCLUSIVE MODE; RELEASE SAVEPOINT locking";

/// One row, which the migrating process locks.
const VERSION_TABLE: &str = "
    CREATE TABLE IF NOT EXISTS planwright_schema (one int PRIMARY KEY, version int NOT NULL);
    INSERT INTO planwright_schema (one, version) VALUES (1, 0) ON CONFLICT (one) DO NOTHING";

pub(super) async fn migrate(client: &Client) -> Result<(), DatabaseError> {
    // A current database is only read, so that a user without the right to make tables can work with it.
    if found(client, "").await?.is_current()? {
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
    let found = found(client, "FOR UPDATE").await?;
    if found.is_current()? {
        return Ok(());
    }
    if found.version > 0 && client.batch_execute(LOCK_OUT_WRITERS).await.is_err() {
        client.batch_execute("ROLLBACK TO SAVEPOINT locking").await?;
    }
    for (version, migration) in (1..).zip(MIGRATIONS).skip(found.version as usize) {
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
    let set_oldest = "INSERT INTO planwright_compatibility (one, oldest) VALUES (1, $1)
                      ON CONFLICT (one) DO UPDATE SET oldest = excluded.oldest";
    statement::execute(client, set_oldest, &[&OLDEST]).await?;
    let known = KNOWN as i32;
    statement::execute(client, "UPDATE planwright_schema SET version = $1 WHERE one = 1", &[&known]).await?;
    Ok(())
}

async fn found(client: &Client, lock: &str) -> Result<FoundSchema, Error> {
    let earlier = match statement::query(client, &format!("{EARLIER_VERSION} {lock}"), &[]).await {
        Err(error) if is_undefined_table(&error) => return Ok(FoundSchema::NONE),
        rows => rows?,
    };
    let version = earlier.first().map_or(Ok(0), |row| row.try_get::<_, i32>(0))?.unsigned_abs();
    if version < OLDEST_PROGRAMS {
        return Ok(FoundSchema { version, oldest: version });
    }
    let rows = statement::query(client, VERSION, &[]).await?;
    rows.first().map_or(Ok(FoundSchema::NONE), FoundSchema::of)
}

/// Fails if a newer program has upgraded the database and left this one no room. `rows` is the answer to [`VERSION`].
pub(super) fn check_version(rows: &[Row]) -> Result<(), DatabaseError> {
    rows.first().map_or(Ok(FoundSchema::NONE), FoundSchema::of)?.is_current()?;
    Ok(())
}

/// The schema of the database, and the version that this program makes.
pub(super) async fn versions(client: &Client) -> Result<(FoundSchema, u32), DatabaseError> {
    Ok((found(client, "").await?, KNOWN))
}
