//! The ledger, on SQLite and on PostgreSQL. Both keep the same promises, which one contract suite checks.
//!
//! - [`Location`]: where the data is
//! - [`open`]: the ledger there, its schema brought up to date
//! - [`inspect`]: what is there, without working there
//! - `apply_command`: what both do with a command, once the session's state is in hand
//! - `changes`: what was written, told to everybody who follows it
//! - `plan_rows`: how the steps of a plan went, in rows of their own
//! - `leasing`: who may write while somebody works on the session
//! - `overview`, `claims`, `restoring`: all sessions together, what clients send twice, sessions that come back
//! - `transport`: what a pointer may be named after
//! - `sqlite`: one file, one writer thread that commits many callers' work at once
//! - `postgres`: any number of machines on one database

mod apply_command;
mod changes;
mod claims;
mod encode;
mod inspect;
mod leasing;
mod location;
mod overview;
mod plan_rows;
mod postgres;
mod restore;
mod sqlite;
mod transport;
mod version_backfill;
mod write_health;

use std::sync::Arc;

use planwright_engine::ledger::LedgerResult;
use planwright_engine::server_ledger::ServerLedger;

pub use inspect::{Inspection, Pooler, inspect};
pub use location::Location;
pub use postgres::PostgresLedger;
pub use sqlite::SqliteLedger;

/// Opens the ledger, making what is missing.
pub async fn open(location: &Location) -> LedgerResult<Arc<dyn ServerLedger>> {
    Ok(match location {
        Location::Sqlite(path) => Arc::new(SqliteLedger::open(path).await?),
        Location::Postgres(url) => Arc::new(PostgresLedger::open(url).await?),
    })
}
