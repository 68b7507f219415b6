//! The ledger in a PostgreSQL database, which any number of machines may share.
//!
//! - `address`: what the URL, service files, variables and password files say, as libpq reads them
//! - `connect`, `tls`: the one place that makes connections, and their encryption
//! - `target`, `statement`: the database, whether a pooler is in between, and how statements are sent
//! - `schema`, `data_migrations`: migrations
//! - `writer_pool`, `writer_connection`: the writers, and what they do when the database goes away
//! - `batch`: many callers' commands in one transaction
//! - `client_pool`, `sql`: the connections for everything else, and statements on them
//! - `rows`, `leases`: single rows
//! - `delete`, `restore`: a session that goes, and one that comes back from a backup
//! - `changes`: announces which sessions were written to
//! - `errors`, `inspect`: errors in words, and the state of a database
//!
//! Nothing here needs more than row locks, `UNNEST` and `ON CONFLICT`, so that databases that speak PostgreSQL's language
//! without being it can take its place.

pub(crate) mod address;
mod batch;
mod changes;
mod client_pool;
mod connect;
mod data_migrations;
mod delete;
mod errors;
pub(crate) mod inspect;
mod leases;
mod restore;
mod rows;
mod schema;
mod sql;
mod statement;
mod target;
mod tls;
mod writer_connection;
mod writer_pool;

use std::sync::Arc;

use planwright_core::ids::PlanId;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, JournalSource, Lease, LedgerError, LedgerResult, StoreChange, StoreFacts, StoredSession, Submission,
};
use tokio::sync::broadcast;
use tokio_postgres::Client;

use crate::backend::{Backend, SqlLedger};
use crate::location::PostgresAddress;
use crate::restore::RestoredSession;
use crate::sql::{Row, Sql as _, sql};
use crate::write_health::WriteHealth;
use changes::Changes;
use client_pool::ClientPool;
use restore::RestoreConnection;
use rows::{FOUND_SESSIONS, RECENT_SESSIONS, SESSION_COLUMNS, SESSION_TABLES};
use target::Target;
use writer_pool::WriterPool;

pub type PostgresLedger = SqlLedger<Postgres>;

#[derive(Debug)]
pub struct Postgres {
    writers: WriterPool,
    clients: ClientPool,
    beats: ClientPool,
    changes: Changes,
    restoring: RestoreConnection,
}

impl PostgresLedger {
    /// Reaches the database and brings its schema up to date.
    pub async fn open(address: impl Into<PostgresAddress>) -> LedgerResult<Self> {
        let target = Target::find(&address.into()).await?;
        let client = target.connect().await.map_err(|error| error.to_error())?;
        schema::migrate(&client).await.map_err(|error| error.to_error())?;
        let changes = Changes::new(&client, &target).await.map_err(|error| error.to_error())?;
        let health = Arc::<WriteHealth>::default();
        let writers = WriterPool::start(&target, &changes, &health);
        let restoring = RestoreConnection::new(&target, &changes);
        let (clients, beats) = (ClientPool::new(&target, &health)?, ClientPool::for_beats(&target, &health)?);
        Ok(Self(Postgres { writers, clients, beats, changes, restoring }))
    }
}

/// Clients without a store around them, made as the store makes its own.
pub async fn clients(address: impl Into<PostgresAddress>, count: usize) -> LedgerResult<Vec<Client>> {
    let target = Target::find(&address.into()).await?;
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(target.connect().await.map_err(|error| error.to_error())?);
    }
    Ok(clients)
}

impl Backend for Postgres {
    const SESSION_COLUMNS: &'static str = SESSION_COLUMNS;
    const SESSION_TABLES: &'static str = SESSION_TABLES;
    const RECENT_SESSIONS: &'static str = RECENT_SESSIONS;
    const FOUND_SESSIONS: &'static str = FOUND_SESSIONS;
    const ALL_COLUMNS: &'static str = "SELECT CAST(table_name AS text), CAST(column_name AS text),
            CAST(CASE data_type WHEN 'bytea' THEN 1 ELSE 0 END AS bigint)
        FROM information_schema.columns
        WHERE table_schema = current_schema() AND data_type IN ('text', 'bytea')
        ORDER BY table_name, ordinal_position";
    // An execution says to the nanosecond when its plan changed; without its last letter that is in the order of time. A
    // damaged time is last, or brought into the range of what the database can print, so that it does not fail the list.
    const PLAN_CHANGED: &'static str = r#"coalesce(CASE WHEN execution.updated_at IS NULL
         THEN to_char(to_timestamp(least(greatest(plan.updated_at, 0), 253402300799000000) / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
             || '.' || lpad((least(greatest(plan.updated_at, 0), 253402300799000000) % 1000000)::text, 6, '0')
         WHEN execution.updated_at ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}.*Z$'
         THEN rtrim(execution.updated_at, 'Z') END, '') COLLATE "C""#;

    fn read_session(row: &Row) -> LedgerResult<StoredSession> {
        rows::stored_session(row)
    }

    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        self.writers.submit(submission).await
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        let find = sql!(rows::FIND_SESSION, session.conversation.as_str(), session.channel.as_str());
        self.query(find).await?.first().map(rows::stored_session).transpose()
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.clients.snapshot(session, plan).await
    }

    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        delete::delete(&self.clients, &self.changes, lease).await
    }

    async fn restore(&self, restored: RestoredSession, journal: Arc<dyn JournalSource>) -> LedgerResult<()> {
        self.restoring.restore(self, &restored, journal.as_ref()).await
    }

    fn changes(&self) -> broadcast::Receiver<StoreChange> {
        self.changes.subscribe()
    }

    fn health(&self) -> &WriteHealth {
        self.clients.health()
    }

    /// The server checks its pages itself, if it was made with checksums.
    async fn check_pages(&self) -> LedgerResult<Vec<String>> {
        Ok(Vec::new())
    }

    async fn facts(&self) -> LedgerResult<StoreFacts> {
        if !self.writers.are_open() {
            return Err(LedgerError::Unavailable("the writer has stopped".to_owned()));
        }
        let facts = self.query(sql!("SELECT version(), version FROM planwright_schema WHERE one = 1")).await?;
        let row = facts.first().ok_or_else(|| LedgerError::Internal("the schema has no version".to_owned()))?;
        // The rest of it is about how it was built.
        let kind = row.get::<&str>(0)?.split_ascii_whitespace().take(2).collect::<Vec<_>>().join(" ");
        Ok(StoreFacts { kind, schema: row.get(1)?, told_by_others: self.changes.reach_others() })
    }
}
