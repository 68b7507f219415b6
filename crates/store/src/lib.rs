//! The ledger, on SQLite and on PostgreSQL. Both keep the same promises, which one contract suite checks.
//!
//! - [`Location`]: where the data is
//! - [`open`]: the ledger there, its schema brought up to date
//! - [`inspect`]: the state of a store, without opening it for work
//! - `apply_command`: what both do with a command, once the session is loaded
//! - `changes`: announces which sessions were written to
//! - `plan_rows`: a plan as it is stored, with the outcomes of its steps in rows of their own
//! - `memory_rows`: memories as they are stored, and which rows a chain of scopes may see
//! - `leasing`: which process may write to a session
//! - `paging`: pages of lists in the order of time
//! - `pins`: upstream MCP servers, and what people accepted of them
//! - `outbox_rows`: messages to people, and the updates of chat services
//! - `overview`, `claims`, `restore`: queries over all sessions, requests that clients send twice, sessions from a backup
//! - `version_lookup`, `version_backfill`: the entry that made a version, and the versions of older journals
//! - `write_health`: whether writes succeed
//! - `transport`: valid names of transports
//! - `sqlite`: one file, one writer thread that commits many callers' work at once
//! - `postgres`: any number of machines on one database

mod apply_command;
mod auto_rows;
mod changes;
mod claims;
mod derived_rows;
mod encode;
mod heartbeats;
mod inspect;
mod leasing;
mod location;
mod memory_rows;
mod outbox_rows;
mod overview;
mod paging;
mod pins;
mod plan_rows;
mod postgres;
mod restore;
mod sqlite;
mod transport;
mod vectors;
mod version_backfill;
mod version_lookup;
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
