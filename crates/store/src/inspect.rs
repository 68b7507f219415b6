//! What is stored at a location, without working there: nothing is made and nothing is upgraded.

use std::time::Duration;

use planwright_engine::ledger::LedgerResult;

use crate::{Location, postgres, sqlite};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The version of the schema; 0 if there is none yet.
    pub schema: u32,
    /// The version that this program makes.
    pub known: u32,
    /// Whether it was made by a newer program that left no room for this one.
    pub is_too_new: bool,
    /// Whether SQLite lets readers and a writer work side by side, which is its setting unless it was changed by hand.
    /// `None` on other stores.
    pub write_ahead: Option<bool>,
    pub link: LinkSafety,
    pub pooler: Pooler,
    /// How the database server is doing. `None` on SQLite, and where a database does not tell.
    pub database: Option<DatabaseFacts>,
}

impl Inspection {
    /// Whether this program works with the store as it is.
    pub const fn is_current(&self) -> bool {
        self.schema >= self.known && !self.is_too_new
    }
}

/// What a PostgreSQL server says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseFacts {
    pub max_connections: u64,
    pub connections: u64,
    /// Standbys that receive what is written, and how many of them a commit waits for.
    pub standbys: u64,
    pub synchronous_standbys: u64,
    /// Whether a commit is on this server's own disk when it is answered.
    pub is_flushed: bool,
    /// The age of the oldest open transaction of others.
    pub oldest_transaction: Duration,
}

/// Who could read and change what goes to the store and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkSafety {
    /// It does not leave the machine.
    OwnMachine,
    /// The database is on another machine and the connection to it is not encrypted.
    Unencrypted,
    /// It is encrypted, and who the server is was not checked.
    Unverified,
    /// It is encrypted, and the server's certificate was checked.
    Verified,
}

/// A connection pooler, such as PgBouncer, in front of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooler {
    None,
    /// The URL names the server itself for `LISTEN`.
    WithDirectListen,
    /// What other processes write is found by polling.
    WithoutListen,
}

pub async fn inspect(location: &Location) -> LedgerResult<Inspection> {
    match location {
        Location::Sqlite(path) => sqlite::inspect::inspect(path.clone()).await,
        Location::Postgres(address) => postgres::inspect::inspect(address).await,
    }
}
