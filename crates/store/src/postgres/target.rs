//! The database that a URL names: single connections for the writers, a pool for the readers.

mod pooler;

use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, Object, Pool, RecycleError, RecycleResult};
use deadpool_postgres::ClientWrapper;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::Client;

use super::address::environment::Environment;
use super::address::settings::ConnectionSettings;
use super::connect::{Connected, Connecting, Protection, RawConnection, unusable};
use super::errors::{DatabaseError, RetryPolicy, describe};
use super::statement::StatementMode;
use crate::location::PostgresAddress;

const WAIT_FOR_READER: Duration = Duration::from_secs(10);

pub(super) type ReaderPool = Pool<ReaderManager>;
pub(super) type PooledReader = Object<ReaderManager>;

/// Which database, and how it is reached. Its `Display` and `Debug` never show the password.
#[derive(Clone)]
pub(super) struct Target {
    connecting: Arc<Connecting>,
    /// The server itself, where the first address leads to a pooler.
    direct: Option<Arc<Connecting>>,
    name: String,
    pooled: bool,
    protection: Protection,
}

impl Target {
    /// Understands the address and finds out whether it leads to a connection pooler.
    pub(super) async fn find(address: &PostgresAddress) -> LedgerResult<Self> {
        let settings = ConnectionSettings::read(address.url(), &Environment::of_process());
        let settings = settings.map_err(|error| unusable(&error.0))?;
        let command = address.password_command().map(str::to_owned);
        let direct = settings.for_listening().map(|settings| Arc::new(Connecting::new(settings, command.clone())));
        let name = settings.name();
        let connecting = Arc::new(Connecting::new(settings, command));
        let mut target = Self { connecting, direct, name, pooled: false, protection: Protection::None };
        let (pooled, protection) = look(&target.connecting).await.map_err(|error| error.to_error())?;
        (target.pooled, target.protection) = (pooled, protection);
        if let Some(direct) = &target.direct
            && look(direct).await.map_err(|error| error.to_error())?.0
        {
            return Err(LedgerError::Unavailable(
                "listen_host in the database's URL leads to a connection pooler as well; it has to name the PostgreSQL \
                 server itself"
                    .to_owned(),
            ));
        }
        Ok(target)
    }

    /// Whether a connection pooler is in between.
    pub(super) fn is_pooled(&self) -> bool {
        self.pooled
    }

    /// How the first connection was protected; the others are asked for the same.
    pub(super) fn protection(&self) -> Protection {
        self.protection
    }

    /// Prepared statements belong to a server connection, and a pooler changes that with every transaction.
    pub(super) fn statement_mode(&self) -> StatementMode {
        if self.pooled { StatementMode::Unnamed } else { StatementMode::Prepared }
    }

    /// Whether the server can announce changes to this process: `LISTEN` needs a server connection of its own.
    pub(super) fn can_listen(&self) -> bool {
        !self.pooled || self.direct.is_some()
    }

    pub(super) async fn connect(&self) -> Result<Client, DatabaseError> {
        let Connected { client, connection, .. } = self.connecting.connect().await?;
        // It carries the messages of this client and ends with it, or with the server.
        drop(carry(connection));
        Ok(client)
    }

    /// A client for `LISTEN`, and the connection that has to be polled for it.
    pub(super) async fn connect_to_listen(&self) -> Result<(Client, RawConnection), DatabaseError> {
        let connected = self.direct.as_ref().unwrap_or(&self.connecting).connect().await?;
        Ok((connected.client, connected.connection))
    }

    /// Whether a connection that was made at `opened` leads to a server that takes the writes no more. Behind a pooler that is the
    /// pooler's affair.
    pub(super) fn has_moved_since(&self, opened: Instant) -> bool {
        !self.pooled && self.connecting.has_moved_since(opened)
    }

    /// Resolves once a connection that was made at `opened` leads to a server that takes the writes no more.
    pub(super) async fn moved_since(&self, opened: Instant) {
        if self.pooled {
            return pending().await;
        }
        self.connecting.moved_since(opened).await;
    }

    /// A pool of at most so many connections, each made when it is needed.
    pub(super) fn pool(&self, size: usize) -> LedgerResult<ReaderPool> {
        let manager = ReaderManager { connecting: Arc::clone(&self.connecting), pooled: self.pooled };
        Pool::builder(manager)
            .max_size(size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT_FOR_READER))
            .build()
            .map_err(|error| LedgerError::Internal(format!("the readers cannot be set up: {error}")))
    }

    /// Whether what is sent leaves this machine.
    pub(super) fn is_remote(&self) -> bool {
        self.connecting.settings().is_remote()
    }
}

/// A server that has let someone in answers at once.
const SETTING_TIMEOUT: Duration = Duration::from_secs(5);
/// The server ends a read that is given up here, unless its owner chose a time. Behind a pooler the setting would stay with a server
/// connection that others use.
const END_LONG_READS: &str =
    "SELECT set_config('statement_timeout', '30s', false) WHERE current_setting('statement_timeout', true) = '0'";

/// Makes the connections of the pool. An attempt to connect ends by itself, so nothing limits it here.
pub(super) struct ReaderManager {
    connecting: Arc<Connecting>,
    pooled: bool,
}

impl fmt::Debug for ReaderManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReaderManager").field(&self.connecting.settings().name()).finish()
    }
}

impl Manager for ReaderManager {
    type Type = ClientWrapper;
    type Error = DatabaseError;

    async fn create(&self) -> Result<ClientWrapper, DatabaseError> {
        let Connected { client, connection, .. } = Box::pin(self.connecting.connect()).await?;
        let client = ClientWrapper::new(client, carry(connection));
        if self.pooled {
            return Ok(client);
        }
        let limit = timeout(SETTING_TIMEOUT, client.batch_execute(END_LONG_READS)).await;
        if let Err(error) = limit.map_err(|_| DatabaseError::TimedOut)?.map_err(DatabaseError::from) {
            if error.retry_policy() == RetryPolicy::Reconnect {
                return Err(error);
            }
            tracing::debug!(error = %error.to_error(), "the database does not take a time limit");
        }
        Ok(client)
    }

    async fn recycle(&self, client: &mut ClientWrapper, metrics: &Metrics) -> RecycleResult<DatabaseError> {
        if client.is_closed() {
            return Err(RecycleError::message("the connection has ended"));
        }
        if !self.pooled && self.connecting.has_moved_since(metrics.created) {
            return Err(RecycleError::message("another server takes the writes now"));
        }
        Ok(())
    }
}

fn carry(connection: RawConnection) -> JoinHandle<()> {
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(error = %describe(&error), "a connection to the database ended");
        }
    })
}

/// Whether a pooler is in between, and how the way there is protected.
async fn look(connecting: &Connecting) -> Result<(bool, Protection), DatabaseError> {
    let Connected { client, connection, protection } = connecting.connect().await?;
    let carrying = carry(connection);
    let pooled = pooler::is_pooled(&client).await;
    carrying.abort();
    let unreachable = |error| {
        DatabaseError::Unreachable(format!("{} cannot be reached: {}", connecting.settings().name(), describe(&error)))
    };
    Ok((pooled.map_err(unreachable)?, protection))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
