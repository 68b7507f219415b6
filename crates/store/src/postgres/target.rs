//! Reaching the database: what the URL says, single connections for the writers, a pool for the readers.

use std::fmt;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use planwright_engine::ledger::{LedgerError, LedgerResult};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Connection, NoTls, Socket};

use super::errors::{Failure, words};

const CONNECT: Duration = Duration::from_secs(5);
const READERS: usize = 8;
const WAIT_FOR_READER: Duration = Duration::from_secs(10);

/// What carries a client's messages.
pub(super) type RawConnection = Connection<Socket, NoTlsStream>;

/// Which database. Its words never have the password in them.
#[derive(Clone)]
pub(super) struct Target {
    config: Config,
    name: String,
}

impl Target {
    pub(super) fn parse(url: &str) -> LedgerResult<Self> {
        if url.contains("sslmode=verify") || url.contains("sslrootcert=") {
            return Err(no_encryption());
        }
        // The driver's own words may quote a piece of a password that was not written as a URL wants it.
        let mut config: Config = url.parse().map_err(|_| {
            LedgerError::Unavailable(
                "the database's URL cannot be understood; it is postgres://USER:PASSWORD@HOST/DATABASE, and special \
                 characters in the password are percent-encoded"
                    .to_owned(),
            )
        })?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err(no_encryption());
        }
        let name = name(&config);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("planwright");
        }
        Ok(Self { config, name })
    }

    pub(super) async fn connect(&self) -> Result<Client, Failure> {
        let (client, connection) = self.line().await?;
        // It carries the messages of this client and ends with it, or with the server.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %words(&error), "a connection to the database ended");
            }
        });
        Ok(client)
    }

    /// A client, and the line that has to be polled for it.
    pub(super) async fn line(&self) -> Result<(Client, RawConnection), Failure> {
        let attempt = tokio::time::timeout(2 * CONNECT, self.config.connect(NoTls)).await;
        let unreachable = |why: String| Failure::Unreachable(format!("{} cannot be reached: {why}", self.name));
        match attempt {
            Ok(Ok(connected)) => Ok(connected),
            Ok(Err(error)) => Err(unreachable(words(&error))),
            Err(_) => Err(unreachable("it does not answer".to_owned())),
        }
    }

    pub(super) fn pool(&self) -> LedgerResult<Pool> {
        let settings = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        Pool::builder(Manager::from_config(self.config.clone(), NoTls, settings))
            .max_size(READERS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT_FOR_READER))
            .create_timeout(Some(2 * CONNECT))
            .recycle_timeout(Some(CONNECT))
            .build()
            .map_err(|error| LedgerError::Internal(format!("the readers cannot be set up: {error}")))
    }
}

impl Target {
    /// Whether what is sent leaves this machine.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.config.get_hosts().iter().any(|host| match host {
            Host::Unix(_) => false,
            Host::Tcp(name) => {
                let address = name.parse::<std::net::IpAddr>().map(|address| address.is_loopback());
                name != "localhost" && !address.unwrap_or(false)
            }
        })
    }
}

fn no_encryption() -> LedgerError {
    LedgerError::Unavailable(
        "the database's URL asks for an encrypted connection (sslmode), which this version cannot make yet; use a local \
         socket, or a private network with sslmode=disable"
            .to_owned(),
    )
}

/// The hosts and the database, without anything secret.
fn name(config: &Config) -> String {
    let hosts: Vec<_> = config
        .get_hosts()
        .iter()
        .map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(folder) => folder.display().to_string(),
        })
        .collect();
    let database = config.get_dbname().unwrap_or_default();
    format!("the PostgreSQL database {database:?} at {}", hosts.join(", "))
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
