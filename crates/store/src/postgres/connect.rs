//! The one place where connections to a PostgreSQL server are made: of several servers the one that fits, encrypted as the
//! address asks for, as libpq does it.
//!
//! - `attempt`: one try at one address
//! - `current_server`: which server takes the writes
//! - `password`: the password for a server
//! - `server_order`: which server is tried first

mod attempt;
mod current_server;
mod password;
mod server_order;

use std::net::IpAddr;
use std::time::Instant;

use planwright_engine::ledger::LedgerError;
use tokio::net::lookup_host;
use tokio::time::timeout;
use tokio_postgres::{Client, Connection, Socket};

use super::address::hosts::{ServerAddress, ServerPlace};
use super::address::settings::{ConnectionSettings, SessionKind};
use super::address::tls_settings::SslMode;
use super::errors::DatabaseError;
use super::tls::TlsLayer;
use attempt::{ConnectAttempt, ConnectError, Encryption};
use current_server::CurrentServer;
use password::Passwords;
use server_order::ServerOrder;

/// What carries a client's messages.
pub(super) type RawConnection = Connection<Socket, TlsLayer<tokio_rustls::client::TlsStream<Socket>>>;

/// How safe a connection is from others on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    /// It does not leave the machine.
    Socket,
    None,
    Encrypted {
        /// The server's certificate was checked.
        is_verified: bool,
    },
}

pub(super) struct Connected {
    pub(super) client: Client,
    pub(super) connection: RawConnection,
    pub(super) protection: Protection,
}

/// Makes connections to one database, and remembers which servers did not answer.
pub(super) struct Connecting {
    settings: ConnectionSettings,
    order: ServerOrder,
    passwords: Passwords,
    current: CurrentServer,
}

impl Connecting {
    pub(super) fn new(settings: ConnectionSettings, password_command: Option<String>) -> Self {
        let order = ServerOrder::new(settings.hosts.len(), settings.is_balanced);
        Self { settings, order, passwords: Passwords::new(password_command), current: CurrentServer::default() }
    }

    pub(super) fn settings(&self) -> &ConnectionSettings {
        &self.settings
    }

    pub(super) async fn connect(&self) -> Result<Connected, DatabaseError> {
        let kinds = match self.settings.session_kind {
            // Any of them will do if there is no standby.
            SessionKind::PreferStandby => vec![SessionKind::Standby, SessionKind::Any],
            kind => vec![kind],
        };
        let mut failures = Vec::new();
        for kind in kinds {
            failures.clear();
            for index in self.order.indices() {
                match self.connect_to(index, kind).await {
                    Ok(connected) => {
                        self.order.note_success(index);
                        match kind {
                            // One of them takes writes, and no other.
                            SessionKind::ReadWrite | SessionKind::Primary => self.current.note(index),
                            SessionKind::Any
                            | SessionKind::ReadOnly
                            | SessionKind::Standby
                            | SessionKind::PreferStandby => {}
                        }
                        return Ok(connected);
                    }
                    Err(failure) => {
                        let is_final = failure.is_final();
                        // A server that is of another kind answers all the same.
                        if !failure.is_other_kind() {
                            self.order.note_failure(index);
                        }
                        failures.push((index, failure));
                        if is_final {
                            return Err(self.failure(&failures));
                        }
                    }
                }
            }
        }
        Err(self.failure(&failures))
    }

    /// Whether connections find another server than those that were made at `opened`.
    pub(super) fn has_moved_since(&self, opened: Instant) -> bool {
        self.current.has_moved_since(opened)
    }

    /// Resolves once connections find another server than those that were made at `opened`.
    pub(super) async fn moved_since(&self, opened: Instant) {
        self.current.moved_since(opened).await;
    }

    /// With several servers each failure names its own.
    fn failure(&self, failures: &[(usize, ConnectError)]) -> DatabaseError {
        let name = self.settings.name();
        let reasons: Vec<_> = match failures {
            [(_, failure)] if self.settings.hosts.len() == 1 => vec![failure.message.clone()],
            failures => failures
                .iter()
                .map(|(index, failure)| format!("{}: {}", self.settings.hosts[*index], failure.message))
                .collect(),
        };
        DatabaseError::Unreachable(format!("{name} cannot be reached: {}", reasons.join("; ")))
    }

    /// Tries every IP address of a server.
    async fn connect_to(&self, index: usize, kind: SessionKind) -> Result<Connected, ConnectError> {
        let server = &self.settings.hosts[index];
        let mut failed: Option<ConnectError> = None;
        for address in self.addresses(server).await? {
            match Box::pin(self.try_address(server, address, kind)).await {
                Ok(connected) => return Ok(connected),
                Err(error) if error.is_final() => return Err(error),
                Err(error) => failed = Some(failed.map_or_else(|| error.clone(), |before| before.then(&error))),
            }
        }
        Err(failed.unwrap_or_else(|| ConnectError::other("its name has no address")))
    }

    /// `None` stands for a socket of this machine.
    async fn addresses(&self, server: &ServerAddress) -> Result<Vec<Option<IpAddr>>, ConnectError> {
        let (name, address) = match &server.place {
            ServerPlace::Socket(_) => return Ok(vec![None]),
            ServerPlace::Network { name, address } => (name, address),
        };
        if let Some(address) = address.or_else(|| name.parse().ok()) {
            return Ok(vec![Some(address)]);
        }
        let found = timeout(self.settings.connect_timeout, lookup_host((name.as_str(), server.port))).await;
        let found = found.map_err(|_| ConnectError::other("its name could not be looked up in time"))?;
        let found = found.map_err(|error| ConnectError::other(&format!("its name could not be looked up: {error}")))?;
        let mut addresses: Vec<_> = found.map(|address| Some(address.ip())).collect();
        if self.settings.is_balanced {
            server_order::shuffle(&mut addresses);
        }
        Ok(addresses)
    }

    /// As often as `sslmode` has another way to try.
    async fn try_address(
        &self,
        server: &ServerAddress,
        address: Option<IpAddr>,
        kind: SessionKind,
    ) -> Result<Connected, ConnectError> {
        let password = self.passwords.for_server(&self.settings, server).await;
        let attempt = ConnectAttempt { settings: &self.settings, server, address, password: &password };
        let (first, second) = match (address, self.settings.tls.mode) {
            // TLS is not spoken on sockets of the machine, whatever the mode.
            (None, _) | (_, SslMode::Disable) => (Encryption::None, None),
            (_, SslMode::Allow) => (Encryption::None, Some(Encryption::Required)),
            (_, SslMode::Prefer) => (Encryption::Preferred, Some(Encryption::None)),
            (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => (Encryption::Required, None),
        };
        let outcome = match attempt.make(first, kind).await {
            Err(failure) if failure.may_differ(first) => match second {
                Some(second) => attempt.make(second, kind).await.map_err(|other| failure.and(other)),
                None => Err(failure),
            },
            outcome => outcome,
        };
        if outcome.as_ref().is_err_and(ConnectError::is_wrong_password) {
            self.passwords.forget(server).await;
        }
        outcome
    }
}

/// The error of a setting that cannot be used.
pub(super) fn unusable(message: &str) -> LedgerError {
    LedgerError::Unavailable(format!("the database's URL cannot be used: {message}"))
}
