//! What is at a location, without working there: nothing is made and nothing is brought up to date.

use planwright_engine::ledger::LedgerResult;

use crate::{Location, postgres, sqlite};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The version of the schema; 0 if there is none yet.
    pub schema: u32,
    /// The version that this program works with.
    pub known: u32,
    /// Whether SQLite lets readers and a writer work side by side, as it does unless somebody changed it. Nothing on other
    /// stores.
    pub write_ahead: Option<bool>,
    /// Whether others could listen on the way to it: a database on another machine, without encryption.
    pub unencrypted_remote: bool,
}

pub async fn inspect(location: &Location) -> LedgerResult<Inspection> {
    match location {
        Location::Sqlite(path) => sqlite::inspect::inspect(path.clone()).await,
        Location::Postgres(url) => postgres::inspect::inspect(url).await,
    }
}
