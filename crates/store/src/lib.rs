//! The ledger, on SQLite and on PostgreSQL. Both keep the same promises, which one contract suite checks.
//!
//! - `location`: [`Location`], where the data is
//! - [`open`]: the ledger there, its schema brought up to date
//! - [`inspect`]: the state of a store, without opening it for work
//! - `backend`: `SqlLedger`, for which the ports are implemented once, and what each database does in its own way
//! - `sql`: the small interface to a database that the ports are implemented over
//! - `sessions`, `plans`, `memories`, `leases`, `chats`, `approvals`: the six ports of the ledger; `claims`: requests that
//!   clients may send twice, which is part of `leases`
//! - `apply_command`: what is done with a command, once the session is loaded
//! - `plan_rows`, `memory_rows`, `derived_rows`, `vectors`, `encode`: plans, memories and the rest as they are stored
//! - `waiting`: the list of plans that may wait for a person
//! - `leasing`: which process may write to a session
//! - `paging`, `overview`: pages of lists in the order of time, and plans over all sessions
//! - `server_beats`: the heartbeats of servers
//! - `project_places`: which machine has the project folder of a session
//! - `shared_files`, `object_blobs`: the files that servers share, in the database, and in a folder or an S3-compatible storage
//! - `restore`: a session from its journal
//! - `version_lookup`, `version_backfill`: the entry that made a version, and the versions of older journals
//! - `changes`, `write_health`: announces which sessions were written to, and whether writes succeed
//! - `text_search`: where a text stands
//! - `transport`: valid names of transports
//! - `sqlite`: one file, one writer thread that commits many callers' work at once
//! - `postgres`: any number of machines on one database
//! - `location`: where the data is, as people write it
//!
//! Never in it: policy. What a command leads to is decided in `core`; the store loads, applies and writes it.

mod apply_command;
mod approvals;
mod backend;
mod changes;
mod chats;
mod claims;
mod derived_rows;
mod encode;
mod inspect;
mod leases;
mod leasing;
mod location;
mod memories;
mod memory_rows;
mod object_blobs;
mod overview;
mod paging;
mod plan_rows;
mod plans;
mod postgres;
mod project_places;
mod restore;
mod server_beats;
mod sessions;
mod shared_files;
mod sql;
mod sqlite;
mod text_search;
mod transport;
mod vectors;
mod version_backfill;
mod version_lookup;
mod waiting;
mod write_health;

use std::sync::Arc;

use planwright_engine::ledger::{Ledger, LedgerResult};
use planwright_engine::project_places::ProjectPlaceStore;
use planwright_engine::server_beats::ServerBeats;
use planwright_engine::shared_files::{BlobStore, FolderIndex};

pub use inspect::{DatabaseFacts, Inspection, LinkSafety, Pooler, inspect};
pub use location::{Location, PostgresAddress};
pub use object_blobs::ObjectBlobs;
pub use postgres::{PostgresLedger, clients as postgres_clients};
pub use sqlite::SqliteLedger;
pub use text_search::TextSearch;

/// A store, and the parts of it that servers share files through.
#[derive(Debug, Clone)]
pub struct OpenedStore {
    pub ledger: Arc<dyn Ledger>,
    pub folders: Arc<dyn FolderIndex>,
    /// The pieces of files that are kept in the database.
    pub pieces: Arc<dyn BlobStore>,
    pub project_places: Arc<dyn ProjectPlaceStore>,
    pub beats: Arc<dyn ServerBeats>,
    pub search: Arc<dyn TextSearch>,
}

impl OpenedStore {
    fn of<T: Ledger + FolderIndex + BlobStore + ProjectPlaceStore + ServerBeats + TextSearch>(store: T) -> Self {
        let store = Arc::new(store);
        Self {
            ledger: store.clone(),
            folders: store.clone(),
            pieces: store.clone(),
            project_places: store.clone(),
            beats: store.clone(),
            search: store,
        }
    }
}

/// Opens the store, making what is missing.
pub async fn open_store(location: &Location) -> LedgerResult<OpenedStore> {
    Ok(match location {
        Location::Sqlite(path) => OpenedStore::of(SqliteLedger::open(path).await?),
        Location::Postgres(address) => OpenedStore::of(PostgresLedger::open(address.clone()).await?),
    })
}

/// Opens the ledger, making what is missing.
pub async fn open(location: &Location) -> LedgerResult<Arc<dyn Ledger>> {
    Ok(open_store(location).await?.ledger)
}
