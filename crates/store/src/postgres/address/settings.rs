//! A whole address: the URL first, then a service file, then the variables, then the defaults.

use std::path::PathBuf;
use std::time::Duration;

use super::environment::Environment;
use super::hosts::{self, ServerAddress};
use super::parameters::Parameters;
use super::tls_settings::TlsSettings;
use super::{AddressError, service_file, url};

/// How long one attempt to connect may take, unless the address says another time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Which of several servers is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionKind {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelBinding {
    Disable,
    Prefer,
    Require,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct KeepAlive {
    pub(crate) is_off: bool,
    pub(crate) idle: Option<Duration>,
    pub(crate) interval: Option<Duration>,
    pub(crate) count: Option<u32>,
    pub(crate) user_timeout: Option<Duration>,
}

/// It has a password in it, so it has no `Debug`.
#[derive(Clone)]
pub(crate) struct ConnectionSettings {
    pub(crate) hosts: Vec<ServerAddress>,
    /// The server itself, where `hosts` leads to a pooler.
    pub(crate) listening: Option<Vec<ServerAddress>>,
    pub(crate) database: Option<String>,
    pub(crate) user: Option<String>,
    /// From the URL or a service file.
    pub(crate) password: Option<String>,
    /// From a variable.
    pub(crate) variable_password: Option<String>,
    pub(crate) pass_file: Option<PathBuf>,
    pub(crate) options: Option<String>,
    pub(crate) application_name: String,
    pub(crate) connect_timeout: Duration,
    pub(crate) keep_alive: KeepAlive,
    pub(crate) channel_binding: ChannelBinding,
    pub(crate) session_kind: SessionKind,
    /// Servers and their addresses are tried in a random order.
    pub(crate) is_balanced: bool,
    pub(crate) tls: TlsSettings,
}

impl ConnectionSettings {
    pub(crate) fn read(url: &str, environment: &Environment) -> Result<Self, AddressError> {
        let mut parameters = url::parse(url)?;
        let service = parameters.get("service").or_else(|| environment.variable("PGSERVICE")).map(str::to_owned);
        if let Some(service) = service {
            let file = parameters.get("servicefile").or_else(|| environment.variable("PGSERVICEFILE"));
            let found = service_file::find(&service, file, environment)?;
            parameters.fill_from(found);
        }
        parameters.fill_from_variables(|name| environment.variable(name))?;
        refuse_what_is_not_spoken(&parameters)?;
        let owned = |keyword| parameters.get(keyword).map(str::to_owned);
        let hosts = hosts::all(&parameters)?;
        let listening = hosts::listening(&parameters, &hosts)?;
        let user = owned("user").or_else(|| environment.user.clone());
        Ok(Self {
            listening,
            hosts,
            database: owned("dbname").or_else(|| user.clone()),
            user,
            password: owned("password"),
            variable_password: environment.variable("PGPASSWORD").map(str::to_owned),
            pass_file: owned("passfile").map(PathBuf::from).or_else(|| environment.at_home(".pgpass")),
            options: owned("options"),
            application_name: owned("application_name")
                .or_else(|| owned("fallback_application_name"))
                .unwrap_or_else(|| "planwright".to_owned()),
            connect_timeout: seconds(&parameters, "connect_timeout")?.unwrap_or(CONNECT_TIMEOUT),
            keep_alive: KeepAlive {
                is_off: choose(&parameters, "keepalives", &[("0", true), ("1", false)])?.unwrap_or_default(),
                idle: seconds(&parameters, "keepalives_idle")?,
                interval: seconds(&parameters, "keepalives_interval")?,
                count: number(&parameters, "keepalives_count")?.and_then(|count| u32::try_from(count).ok()),
                user_timeout: number(&parameters, "tcp_user_timeout")?.map(Duration::from_millis),
            },
            channel_binding: channel_binding(&parameters)?,
            session_kind: session_kind(&parameters)?,
            is_balanced: choose(&parameters, "load_balance_hosts", &[("disable", false), ("random", true)])?
                .unwrap_or_default(),
            tls: TlsSettings::read(&parameters, environment)?,
        })
    }

    /// The database at the addresses for announcements, if it has such.
    pub(crate) fn for_listening(&self) -> Option<Self> {
        let hosts = self.listening.clone()?;
        Some(Self { hosts, listening: None, ..self.clone() })
    }

    pub(crate) fn is_remote(&self) -> bool {
        self.hosts.iter().any(ServerAddress::is_remote)
    }

    /// The database and its servers, without anything secret.
    pub(crate) fn name(&self) -> String {
        let hosts: Vec<_> = self.hosts.iter().map(ToString::to_string).collect();
        let database = self.database.as_deref().unwrap_or_default();
        format!("the PostgreSQL database {database:?} at {}", hosts.join(", "))
    }
}

fn channel_binding(parameters: &Parameters) -> Result<ChannelBinding, AddressError> {
    let choices = [
        ("disable", ChannelBinding::Disable),
        ("prefer", ChannelBinding::Prefer),
        ("require", ChannelBinding::Require),
    ];
    Ok(choose(parameters, "channel_binding", &choices)?.unwrap_or(ChannelBinding::Prefer))
}

fn session_kind(parameters: &Parameters) -> Result<SessionKind, AddressError> {
    let choices = [
        ("any", SessionKind::Any),
        ("read-write", SessionKind::ReadWrite),
        ("read-only", SessionKind::ReadOnly),
        ("primary", SessionKind::Primary),
        ("standby", SessionKind::Standby),
        ("prefer-standby", SessionKind::PreferStandby),
    ];
    Ok(choose(parameters, "target_session_attrs", &choices)?.unwrap_or(SessionKind::Any))
}

fn refuse_what_is_not_spoken(parameters: &Parameters) -> Result<(), AddressError> {
    choose(parameters, "gssencmode", &[("disable", ()), ("prefer", ())]).map_err(|_| {
        AddressError("`gssencmode` cannot be `require`: Kerberos is not spoken; `sslmode` encrypts".to_owned())
    })?;
    let encodings = [("UTF8", ()), ("utf8", ()), ("UTF-8", ()), ("utf-8", ()), ("auto", ())];
    choose(parameters, "client_encoding", &encodings)?;
    choose(parameters, "replication", &[("false", ()), ("off", ()), ("no", ()), ("0", ())])?;
    Ok(())
}

/// The choice that the parameter's value names.
pub(super) fn choose<T: Copy>(
    parameters: &Parameters,
    keyword: &str,
    choices: &[(&str, T)],
) -> Result<Option<T>, AddressError> {
    let Some(value) = parameters.get(keyword) else { return Ok(None) };
    match choices.iter().find(|(name, _)| *name == value) {
        Some((_, choice)) => Ok(Some(*choice)),
        None => {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            Err(AddressError(format!("`{keyword}` is one of {}", names.join(", "))))
        }
    }
}

fn number(parameters: &Parameters, keyword: &str) -> Result<Option<u64>, AddressError> {
    let Some(value) = parameters.get(keyword) else { return Ok(None) };
    let number = value.trim().parse::<i64>().map_err(|_| AddressError(format!("`{keyword}` is a whole number")))?;
    Ok(u64::try_from(number).ok().filter(|number| *number > 0))
}

/// Nothing and less mean the default, as in libpq.
fn seconds(parameters: &Parameters, keyword: &str) -> Result<Option<Duration>, AddressError> {
    Ok(number(parameters, keyword)?.map(Duration::from_secs))
}

#[cfg(test)]
mod tests;
