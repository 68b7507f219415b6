//! A fresh store for each test, and a way behind its back.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_engine::ledger::{Ledger, LedgerResult};
use planwright_store::Location;
use tokio_postgres::NoTls;

#[derive(Debug)]
pub enum Store {
    Sqlite {
        folder: tempfile::TempDir,
    },
    /// `direct` leads to the server itself, where `url` leads to a pooler in front of it.
    Postgres {
        url: String,
        direct: String,
    },
}

impl Store {
    pub fn sqlite() -> Self {
        Self::Sqlite { folder: tempfile::tempdir().unwrap() }
    }

    /// A schema of its own in the server that the tests were given.
    pub async fn postgres() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = server();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let schema = format!("t{}_{since}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        run(&server, &format!("CREATE SCHEMA {schema}")).await;
        let sign = if server.contains('?') { '&' } else { '?' };
        // The name of the application tells the connections of one test from those of all others.
        let url = format!("{server}{sign}options=-c%20search_path%3D{schema}&application_name={schema}");
        Self::Postgres { direct: url.clone(), url }
    }

    /// A database of its own behind PgBouncer, which does not pass on the option that chooses a schema.
    pub async fn pgbouncer() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = server();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let database = format!("t{}_{since}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        run(&server, &format!("CREATE DATABASE {database}")).await;
        let named = |url: &str| url.replacen("postgres:///postgres", &format!("postgres:///{database}"), 1);
        Self::Postgres { url: named(&pooler()), direct: named(&server) }
    }

    /// A fresh one of the same kind.
    pub async fn another(&self) -> Self {
        match self {
            Self::Sqlite { .. } => Self::sqlite(),
            Self::Postgres { url, direct } if url != direct => Self::pgbouncer().await,
            Self::Postgres { .. } => Self::postgres().await,
        }
    }

    pub fn location(&self) -> Location {
        match self {
            Self::Sqlite { .. } => Location::Sqlite(self.file()),
            Self::Postgres { url, .. } => Location::Postgres(url.into()),
        }
    }

    /// A handle of its own, as another process would have it.
    pub async fn open(&self) -> LedgerResult<Arc<dyn Ledger>> {
        planwright_store::open(&self.location()).await
    }

    pub async fn ledger(&self) -> Arc<dyn Ledger> {
        self.open().await.unwrap()
    }

    pub async fn engine(&self) -> Engine {
        Engine::new(self.ledger().await, Policy::default())
    }

    /// Changes something behind the store's back and says how many rows that were.
    pub async fn tamper(&self, sql: &str) -> u64 {
        match self {
            Self::Sqlite { .. } => {
                let connection = raw(&self.file());
                // Damage does not respect what belongs together.
                connection.pragma_update(None, "foreign_keys", false).unwrap();
                connection.execute(sql, []).unwrap() as u64
            }
            Self::Postgres { direct, .. } => run(direct, sql).await,
        }
    }

    /// Makes a store as a program of schema `version` left it: its schema, and rows in every table and column it had.
    ///
    /// The rows of versions 1, 2 and 3 each stand alone. A later version has those of version 3, and what every version since
    /// then added.
    pub async fn make_version(&self, version: usize) {
        assert!((1..=LATEST_EARLIER).contains(&version), "there is no content of schema {version} in {}", file!());
        let mut scripts = Vec::new();
        for (number, migration) in (1..=version).zip(self.migrations()) {
            scripts.push(migration);
            if number == version.min(STANDALONE) || number > STANDALONE {
                scripts.push(self.content(number));
            }
        }
        match self {
            Self::Sqlite { .. } => {
                let connection = raw(&self.file());
                connection.pragma_update(None, "journal_mode", "WAL").unwrap();
                for script in scripts {
                    connection.execute_batch(script).unwrap();
                }
            }
            Self::Postgres { direct, .. } => {
                let client = client(direct).await;
                for script in scripts {
                    client.batch_execute(script).await.unwrap();
                }
            }
        }
        self.set_schema_version(u32::try_from(version).unwrap()).await;
    }

    fn migrations(&self) -> [&'static str; LATEST_EARLIER] {
        match self {
            Self::Sqlite { .. } => SQLITE_MIGRATIONS,
            Self::Postgres { .. } => POSTGRES_MIGRATIONS,
        }
    }

    /// What programs of this schema wrote.
    fn content(&self, version: usize) -> &'static str {
        match self {
            Self::Sqlite { .. } => SQLITE_CONTENT[version - 1],
            Self::Postgres { .. } => POSTGRES_CONTENT[version - 1],
        }
    }

    /// One text as it is stored.
    pub async fn look(&self, sql: &str) -> String {
        match self {
            Self::Sqlite { .. } => raw(&self.file()).query_row(sql, [], |row| row.get(0)).unwrap(),
            Self::Postgres { direct, .. } => client(direct).await.query_one(sql, &[]).await.unwrap().get(0),
        }
    }

    /// Makes it look as if a later version of the program had been here.
    pub async fn set_schema_version(&self, version: u32) {
        match self {
            Self::Sqlite { .. } => raw(&self.file()).pragma_update(None, "user_version", version).unwrap(),
            Self::Postgres { direct, .. } => {
                run(direct, &format!("UPDATE planwright_schema SET version = {version}")).await;
                // Later ones say which programs they leave room for.
                if version as usize > LATEST_EARLIER {
                    run(direct, &format!("UPDATE planwright_compatibility SET oldest = {version}")).await;
                }
            }
        }
    }

    pub async fn schema_version(&self) -> String {
        match self {
            Self::Sqlite { .. } => self.look("SELECT CAST(user_version AS TEXT) FROM pragma_user_version").await,
            Self::Postgres { .. } => self.look("SELECT version::text FROM planwright_schema").await,
        }
    }

    fn file(&self) -> PathBuf {
        match self {
            Self::Sqlite { folder } => folder.path().join("planwright.db"),
            Self::Postgres { .. } => unreachable!("a server has no file"),
        }
    }
}

/// The last schema before today's. A new migration needs the content of the version before it here.
const LATEST_EARLIER: usize = 16;

/// Up to this version each content is that of a whole store; later ones add to it.
const STANDALONE: usize = 3;

const SQLITE_CONTENT: [&str; LATEST_EARLIER] = [
    include_str!("stores/version_1_sqlite.sql"),
    include_str!("stores/version_2_sqlite.sql"),
    include_str!("stores/version_3_sqlite.sql"),
    include_str!("stores/version_4_sqlite.sql"),
    include_str!("stores/version_5_sqlite.sql"),
    include_str!("stores/version_6_sqlite.sql"),
    // It changed an index and nothing else.
    "",
    include_str!("stores/version_8_sqlite.sql"),
    include_str!("stores/version_9_sqlite.sql"),
    include_str!("stores/version_10_sqlite.sql"),
    include_str!("stores/version_11_sqlite.sql"),
    include_str!("stores/version_12_sqlite.sql"),
    include_str!("stores/version_13_sqlite.sql"),
    include_str!("stores/version_14_sqlite.sql"),
    include_str!("stores/version_15_sqlite.sql"),
    include_str!("stores/version_16_sqlite.sql"),
];

const POSTGRES_CONTENT: [&str; LATEST_EARLIER] = [
    include_str!("stores/version_1_postgres.sql"),
    include_str!("stores/version_2_postgres.sql"),
    include_str!("stores/version_3_postgres.sql"),
    include_str!("stores/version_4_postgres.sql"),
    include_str!("stores/version_5_postgres.sql"),
    include_str!("stores/version_6_postgres.sql"),
    // It changed an index and nothing else.
    "",
    include_str!("stores/version_8_postgres.sql"),
    include_str!("stores/version_9_postgres.sql"),
    include_str!("stores/version_10_postgres.sql"),
    include_str!("stores/version_11_postgres.sql"),
    include_str!("stores/version_12_postgres.sql"),
    include_str!("stores/version_13_postgres.sql"),
    include_str!("stores/version_14_postgres.sql"),
    include_str!("stores/version_15_postgres.sql"),
    include_str!("stores/version_16_postgres.sql"),
];

const SQLITE_MIGRATIONS: [&str; LATEST_EARLIER] = [
    include_str!("../../store/src/sqlite/migrations/001.sql"),
    include_str!("../../store/src/sqlite/migrations/002.sql"),
    include_str!("../../store/src/sqlite/migrations/003.sql"),
    include_str!("../../store/src/sqlite/migrations/004.sql"),
    include_str!("../../store/src/sqlite/migrations/005.sql"),
    include_str!("../../store/src/sqlite/migrations/006.sql"),
    include_str!("../../store/src/sqlite/migrations/007.sql"),
    include_str!("../../store/src/sqlite/migrations/008.sql"),
    include_str!("../../store/src/sqlite/migrations/009.sql"),
    include_str!("../../store/src/sqlite/migrations/010.sql"),
    include_str!("../../store/src/sqlite/migrations/011.sql"),
    include_str!("../../store/src/sqlite/migrations/012.sql"),
    include_str!("../../store/src/sqlite/migrations/013.sql"),
    include_str!("../../store/src/sqlite/migrations/014.sql"),
    include_str!("../../store/src/sqlite/migrations/015.sql"),
    include_str!("../../store/src/sqlite/migrations/016.sql"),
];

const POSTGRES_MIGRATIONS: [&str; LATEST_EARLIER] = [
    include_str!("../../store/src/postgres/migrations/001.sql"),
    include_str!("../../store/src/postgres/migrations/002.sql"),
    include_str!("../../store/src/postgres/migrations/003.sql"),
    include_str!("../../store/src/postgres/migrations/004.sql"),
    include_str!("../../store/src/postgres/migrations/005.sql"),
    include_str!("../../store/src/postgres/migrations/006.sql"),
    include_str!("../../store/src/postgres/migrations/007.sql"),
    include_str!("../../store/src/postgres/migrations/008.sql"),
    include_str!("../../store/src/postgres/migrations/009.sql"),
    include_str!("../../store/src/postgres/migrations/010.sql"),
    include_str!("../../store/src/postgres/migrations/011.sql"),
    include_str!("../../store/src/postgres/migrations/012.sql"),
    include_str!("../../store/src/postgres/migrations/013.sql"),
    include_str!("../../store/src/postgres/migrations/014.sql"),
    include_str!("../../store/src/postgres/migrations/015.sql"),
    include_str!("../../store/src/postgres/migrations/016.sql"),
];

/// The server that the tests may use.
pub fn server() -> String {
    std::env::var("PLANWRIGHT_TEST_POSTGRES").expect("run `make test`, or `scripts/with-postgres cargo test`")
}

/// The PgBouncer in front of it, in transaction mode.
pub fn pooler() -> String {
    std::env::var("PLANWRIGHT_TEST_PGBOUNCER").expect(
        "there is no PgBouncer: `scripts/with-postgres` starts one if it is installed (Debian and Ubuntu: apt-get install \
         pgbouncer) and says why where it does not start",
    )
}

pub async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn run(url: &str, sql: &str) -> u64 {
    client(url).await.execute(sql, &[]).await.unwrap()
}

pub fn raw(file: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection
}
