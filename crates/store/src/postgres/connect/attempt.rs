//! One try to connect to one address of a server.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::timeout;
use tokio_postgres::config::{self, SslNegotiation};
use tokio_postgres::{Client, Config, Error, SimpleQueryMessage};

use super::password::Password;
use super::{Connected, Protection, RawConnection};
use crate::postgres::address::hosts::{ServerAddress, ServerPlace};
use crate::postgres::address::settings::{ChannelBinding, ConnectionSettings, SessionKind};
use crate::postgres::errors::describe;
use crate::postgres::tls::{self, Connector, Handshake};

/// What a server says of a client's certificate, in the words of `rustls`.
const CLIENT_ALERTS: [&str; 8] = [
    "AccessDenied",
    "BadCertificate",
    "CertificateExpired",
    "CertificateRequired",
    "CertificateRevoked",
    "CertificateUnknown",
    "UnknownCA",
    "UnsupportedCertificate",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    None,
    /// The server may say that it cannot.
    Preferred,
    Required,
}

pub(super) struct ConnectAttempt<'a> {
    pub(super) settings: &'a ConnectionSettings,
    pub(super) server: &'a ServerAddress,
    /// `None` is a socket of this machine.
    pub(super) address: Option<IpAddr>,
    pub(super) password: &'a Password,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureKind {
    /// The handshake of TLS failed.
    Tls,
    /// The server takes no such connection: `pg_hba.conf` has no line for it.
    NotAllowed,
    WrongPassword,
    /// There is no such database.
    NoDatabase,
    /// The server answers, but is a standby where a primary is wanted, or the other way round.
    OtherKind,
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct ConnectError {
    pub(super) message: String,
    kind: FailureKind,
}

impl ConnectError {
    pub(super) fn other(message: &str) -> Self {
        Self { message: message.to_owned(), kind: FailureKind::Other }
    }

    /// Whether other servers would say the same. Trying a wrong password again and again locks people out.
    pub(super) fn is_final(&self) -> bool {
        match self.kind {
            FailureKind::WrongPassword | FailureKind::NotAllowed | FailureKind::NoDatabase => true,
            FailureKind::Tls | FailureKind::OtherKind | FailureKind::Other => false,
        }
    }

    pub(super) fn is_other_kind(&self) -> bool {
        self.kind == FailureKind::OtherKind
    }

    pub(super) fn is_wrong_password(&self) -> bool {
        self.kind == FailureKind::WrongPassword
    }

    /// Whether it may go better the other way, with or without encryption.
    pub(super) fn may_differ(&self, tried: Encryption) -> bool {
        match self.kind {
            FailureKind::NotAllowed => true,
            FailureKind::Tls => tried == Encryption::Preferred,
            FailureKind::WrongPassword | FailureKind::NoDatabase | FailureKind::OtherKind | FailureKind::Other => false,
        }
    }

    /// What another address of the same server said as well.
    pub(super) fn then(self, other: &Self) -> Self {
        let message = match self.message == other.message {
            true => self.message,
            false => format!("{}; {}", self.message, other.message),
        };
        Self { message, kind: other.kind }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { message: format!("{}; the other way: {}", self.message, other.message), kind: other.kind }
    }
}

impl ConnectAttempt<'_> {
    pub(super) async fn make(&self, encryption: Encryption, kind: SessionKind) -> Result<Connected, ConnectError> {
        // The network and signing in have that time each.
        let limit = self.settings.connect_timeout * 2;
        // On the heap: it is large, and whoever waits for a connection has it on their stack otherwise.
        let made = timeout(limit, Box::pin(self.make_in_time(encryption, kind))).await;
        made.unwrap_or_else(|_| Err(ConnectError::other("it does not answer")))
    }

    async fn make_in_time(&self, encryption: Encryption, kind: SessionKind) -> Result<Connected, ConnectError> {
        let handshake = Arc::<Handshake>::default();
        let (connector, is_verified) = match (&self.server.place, encryption) {
            (ServerPlace::Network { name, .. }, Encryption::Preferred | Encryption::Required) => {
                let found = tls::connector(&self.settings.tls, name, &handshake);
                found.map_err(|message| ConnectError { message, kind: FailureKind::Tls })?
            }
            (ServerPlace::Network { .. } | ServerPlace::Socket(_), _) => (Connector::unused(), false),
        };
        let connected = self.config(encryption).connect(connector).await;
        let (client, mut connection) = connected.map_err(|error| self.explain(&error, encryption, &handshake))?;
        if kind != SessionKind::Any {
            check_kind(&client, &mut connection, kind).await?;
        }
        let protection = match (self.address, handshake.finished.get()) {
            (None, _) => Protection::Socket,
            (Some(_), None) => Protection::None,
            (Some(_), Some(())) => Protection::Encrypted { is_verified },
        };
        Ok(Connected { client, connection, protection })
    }

    fn config(&self, encryption: Encryption) -> Config {
        let settings = self.settings;
        let mut config = Config::new();
        match &self.server.place {
            ServerPlace::Socket(folder) => config.host_path(folder),
            ServerPlace::Network { name, .. } => config.host(name),
        };
        if let Some(address) = self.address {
            config.hostaddr(address);
        }
        config.port(self.server.port);
        config.application_name(&settings.application_name).connect_timeout(settings.connect_timeout);
        if let Some(user) = &settings.user {
            config.user(user);
        }
        if let Password::Known(password) = self.password {
            config.password(password);
        }
        if let Some(database) = &settings.database {
            config.dbname(database);
        }
        if let Some(options) = &settings.options {
            config.options(options);
        }
        config.ssl_mode(match encryption {
            Encryption::None => config::SslMode::Disable,
            Encryption::Preferred => config::SslMode::Prefer,
            Encryption::Required => config::SslMode::Require,
        });
        if settings.tls.direct && encryption == Encryption::Required {
            config.ssl_negotiation(SslNegotiation::Direct);
        }
        config.channel_binding(match settings.channel_binding {
            ChannelBinding::Disable => config::ChannelBinding::Disable,
            ChannelBinding::Prefer => config::ChannelBinding::Prefer,
            ChannelBinding::Require => config::ChannelBinding::Require,
        });
        self.set_keep_alive(&mut config);
        config
    }

    fn set_keep_alive(&self, config: &mut Config) {
        let keep_alive = &self.settings.keep_alive;
        config.keepalives(!keep_alive.is_off);
        if let Some(idle) = keep_alive.idle {
            config.keepalives_idle(idle);
        }
        if let Some(interval) = keep_alive.interval {
            config.keepalives_interval(interval);
        }
        if let Some(count) = keep_alive.count {
            config.keepalives_retries(count);
        }
        if let Some(timeout) = keep_alive.user_timeout {
            config.tcp_user_timeout(timeout);
        }
    }

    /// The failure in words, and what to change.
    fn explain(&self, error: &Error, encryption: Encryption, handshake: &Handshake) -> ConnectError {
        if let Some(code) = error.code() {
            let kind = match code.code() {
                "28P01" => FailureKind::WrongPassword,
                "28000" => FailureKind::NotAllowed,
                "3D000" => FailureKind::NoDatabase,
                _ => FailureKind::Other,
            };
            return ConnectError { message: describe(error), kind };
        }
        if let Some(reason) = handshake.refusal.get() {
            return ConnectError { message: reason.clone(), kind: FailureKind::Tls };
        }
        let message = describe(error);
        if message.contains("server does not support TLS") {
            let message = "the server takes no encrypted connections; switch TLS on there (`ssl = on` in postgresql.conf), or \
                           use `sslmode=prefer` where nothing has to be encrypted";
            return ConnectError { message: message.to_owned(), kind: FailureKind::Tls };
        }
        if CLIENT_ALERTS.iter().any(|alert| message.contains(&format!("fatal alert: {alert}"))) {
            let hint = "the server wants another client certificate (`sslcert`, `sslkey`)";
            return ConnectError { message: format!("{message}; {hint}"), kind: FailureKind::Tls };
        }
        if handshake.began.get().is_some() && handshake.finished.get().is_none() {
            let message = format!("TLS failed: {message}; version 1.2 with ECDHE, or 1.3, has to be on at the server");
            return ConnectError { message, kind: FailureKind::Tls };
        }
        if message.contains("password missing") {
            return self.without_password();
        }
        if message.contains("did not use channel binding") {
            let hint = match encryption {
                Encryption::None => "it needs an encrypted connection",
                Encryption::Preferred | Encryption::Required => {
                    "the server has to sign people in with scram-sha-256 and a certificate that is not signed with Ed25519"
                }
            };
            let message = format!("`channel_binding=require` cannot be had: {hint}");
            return ConnectError { message, kind: FailureKind::Other };
        }
        ConnectError { message, kind: FailureKind::Other }
    }

    fn without_password(&self) -> ConnectError {
        let message = match self.password {
            Password::Unknown(Some(reason)) => format!("the server asks for a password, and there is none: {reason}"),
            Password::Unknown(None) | Password::Known(_) => {
                "the server asks for a password, and there is none in the URL, in PGPASSWORD, in the password file \
                 (PGPASSFILE, ~/.pgpass) or by `database_password_command`"
                    .to_owned()
            }
        };
        ConnectError { message, kind: FailureKind::WrongPassword }
    }
}

/// Asks the server what it is. Databases that only speak PostgreSQL's language know `transaction_read_only`.
async fn check_kind(client: &Client, connection: &mut RawConnection, kind: SessionKind) -> Result<(), ConnectError> {
    let (question, wanted, message) = match kind {
        SessionKind::Any | SessionKind::PreferStandby => return Ok(()),
        SessionKind::ReadWrite => ("SHOW transaction_read_only", "off", "it takes no writes"),
        SessionKind::ReadOnly => ("SHOW transaction_read_only", "on", "it takes writes"),
        SessionKind::Primary => ("SELECT pg_catalog.pg_is_in_recovery()", "f", "it is a standby"),
        SessionKind::Standby => ("SELECT pg_catalog.pg_is_in_recovery()", "t", "it is a primary"),
    };
    let answer = drive(connection, client.simple_query(question)).await;
    let answer = answer.map_err(|error| ConnectError::other(&describe(&error)))?;
    let found = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    if found == Some(wanted) {
        return Ok(());
    }
    Err(ConnectError { message: format!("{message} (`target_session_attrs`)"), kind: FailureKind::OtherKind })
}

/// Carries the messages of a question to the server and back; nothing else does yet.
async fn drive<T>(
    connection: &mut RawConnection,
    question: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut question = pin!(question);
    poll_fn(|context| {
        if let Poll::Ready(answer) = question.as_mut().poll(context) {
            return Poll::Ready(answer);
        }
        // What else the server says now is not for anyone; a connection that has ended fails the question.
        while let Poll::Ready(Some(message)) = connection.poll_message(context) {
            if let Err(error) = message {
                return Poll::Ready(Err(error));
            }
        }
        question.as_mut().poll(context)
    })
    .await
}
