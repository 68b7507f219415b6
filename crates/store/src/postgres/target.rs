//! Reaching the database: what the URL says, single connections for the writers, a pool for the readers.

mod pooler;

use std::fmt;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use planwright_engine::ledger::{LedgerError, LedgerResult};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Connection, NoTls, Socket};

use super::errors::{DatabaseError, describe};
use super::statement::StatementMode;

const CONNECT: Duration = Duration::from_secs(5);
const READERS: usize = 8;
const WAIT_FOR_READER: Duration = Duration::from_secs(10);

/// What carries a client's messages.
pub(super) type RawConnection = Connection<Socket, NoTlsStream>;

/// Which database, and how it is reached. Its `Display` and `Debug` never show the password.
#[derive(Clone)]
pub(super) struct Target {
    config: Config,
    /// The server itself, where the first address leads to a pooler.
    direct: Option<Config>,
    name: String,
    pooled: bool,
}

impl Target {
    /// Understands the URL and finds out whether it leads to a connection pooler.
    pub(super) async fn find(url: &str) -> LedgerResult<Self> {
        let mut target = Self::parse(url)?;
        target.pooled = pooler::is_pooled(&target.config).await.map_err(|error| error.to_error())?;
        if let Some(direct) = &target.direct
            && pooler::is_pooled(direct).await.map_err(|error| error.to_error())?
        {
            return Err(LedgerError::Unavailable(
                "listen_host in the database's URL leads to a connection pooler as well; it has to name the PostgreSQL \
                 server itself"
                    .to_owned(),
            ));
        }
        Ok(target)
    }

    fn parse(url: &str) -> LedgerResult<Self> {
        if url.contains("sslmode=verify") || url.contains("sslrootcert=") {
            return Err(no_encryption());
        }
        // The driver's own words may quote a piece of a password that was not written as a URL wants it.
        let misspelt = || {
            LedgerError::Unavailable(
                "the database's URL cannot be understood; it is postgres://USER:PASSWORD@HOST/DATABASE, and special \
                 characters in the password are percent-encoded"
                    .to_owned(),
            )
        };
        let (url, listen) = split_listen(url);
        let mut config: Config = url.parse().map_err(|_| misspelt())?;
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
        let direct = match listen {
            Some(address) => Some(direct(&config, &address.parse().map_err(|_| misspelt())?)),
            None => None,
        };
        Ok(Self { config, direct, name, pooled: false })
    }

    /// Whether a connection pooler is in between.
    pub(super) fn is_pooled(&self) -> bool {
        self.pooled
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
        let (client, connection) = connect(&self.config).await?;
        // It carries the messages of this client and ends with it, or with the server.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %describe(&error), "a connection to the database ended");
            }
        });
        Ok(client)
    }

    /// A client for `LISTEN`, and the connection that has to be polled for it.
    pub(super) async fn connect_to_listen(&self) -> Result<(Client, RawConnection), DatabaseError> {
        connect(self.direct.as_ref().unwrap_or(&self.config)).await
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

    /// Whether what is sent leaves this machine.
    pub(super) fn is_remote(&self) -> bool {
        self.config.get_hosts().iter().any(|host| match host {
            Host::Unix(_) => false,
            Host::Tcp(name) => {
                let address = name.parse::<std::net::IpAddr>().map(|address| address.is_loopback());
                name != "localhost" && !address.unwrap_or(false)
            }
        })
    }
}

async fn connect(config: &Config) -> Result<(Client, RawConnection), DatabaseError> {
    let unreachable = |why: String| DatabaseError::Unreachable(format!("{} cannot be reached: {why}", name(config)));
    match tokio::time::timeout(2 * CONNECT, config.connect(NoTls)).await {
        Ok(Ok(connected)) => Ok(connected),
        Ok(Err(error)) => Err(unreachable(describe(&error))),
        Err(_) => Err(unreachable("it does not answer".to_owned())),
    }
}

/// Takes our own parameters `listen_host` and `listen_port` out of the URL. They are given back as a URL of their own, which
/// names nothing but that address.
fn split_listen(url: &str) -> (String, Option<String>) {
    let Some((address, query)) = url.split_once('?') else { return (url.to_owned(), None) };
    let (mut kept, mut listen) = (Vec::new(), Vec::new());
    for parameter in query.split('&') {
        match parameter.strip_prefix("listen_") {
            Some(parameter) if parameter.starts_with("host=") || parameter.starts_with("port=") => {
                listen.push(parameter);
            }
            Some(_) | None => kept.push(parameter),
        }
    }
    let joined = |start: &str, parameters: &[&str]| match parameters {
        [] => start.to_owned(),
        parameters => format!("{start}?{}", parameters.join("&")),
    };
    (joined(address, &kept), (!listen.is_empty()).then(|| joined("postgres:///", &listen)))
}

/// Takes database, user and settings of `config` to another address.
fn direct(config: &Config, address: &Config) -> Config {
    let mut direct = address.clone();
    if address.get_hosts().is_empty() {
        for host in config.get_hosts() {
            match host {
                Host::Tcp(name) => direct.host(name),
                Host::Unix(folder) => direct.host_path(folder),
            };
        }
    }
    if let Some(user) = config.get_user() {
        direct.user(user);
    }
    if let Some(password) = config.get_password() {
        direct.password(password);
    }
    if let Some(database) = config.get_dbname() {
        direct.dbname(database);
    }
    if let Some(options) = config.get_options() {
        direct.options(options);
    }
    if let Some(application) = config.get_application_name() {
        direct.application_name(application);
    }
    direct.connect_timeout(config.get_connect_timeout().copied().unwrap_or(CONNECT));
    direct
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]
mod tests {
    use tokio_postgres::config::TargetSessionAttrs;

    use super::*;

    #[test]
    fn the_address_for_listening_is_the_same_database_elsewhere() {
        let url = "postgres://ada:s3cret@pooler:6432/plans?listen_host=%2Frun%2Fpg&application_name=a&listen_port=5433";
        let target = Target::parse(url).unwrap();
        assert_eq!(target.config.get_hosts(), [Host::Tcp("pooler".to_owned())]);
        assert_eq!(target.config.get_application_name(), Some("a"));
        let direct = target.direct.unwrap();
        assert_eq!(direct.get_hosts(), [Host::Unix("/run/pg".into())]);
        assert_eq!(direct.get_ports(), [5433]);
        assert_eq!((direct.get_user(), direct.get_dbname()), (Some("ada"), Some("plans")));
        assert_eq!(direct.get_password(), Some("s3cret".as_bytes()));
        assert!(Target::parse("postgres://host/plans?sslmode=disable").unwrap().direct.is_none());
        let port_only = Target::parse("postgres://host:6432/plans?listen_port=5432").unwrap().direct.unwrap();
        assert_eq!((port_only.get_hosts(), port_only.get_ports()), (&[Host::Tcp("host".to_owned())][..], &[5432][..]));
    }
    #[test]
    fn two_hosts_are_named_in_either_form() {
        let two = [Host::Tcp("db-a".to_owned()), Host::Tcp("db-b".to_owned())];
        for url in [
            "postgres:///plans?user=ada&host=db-a&host=db-b&target_session_attrs=read-write",
            "postgres://ada@db-a,db-b/plans?target_session_attrs=read-write",
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(target.config.get_hosts(), two, "{url}");
            assert_eq!(target.config.get_user(), Some("ada"), "{url}");
            assert_eq!(target.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite, "{url}");
        }
        let ports = Target::parse("postgres:///plans?host=db-a&host=db-b&port=5432&port=5433").unwrap();
        assert_eq!((ports.config.get_hosts(), ports.config.get_ports()), (&two[..], &[5432, 5433][..]));
    }
}
