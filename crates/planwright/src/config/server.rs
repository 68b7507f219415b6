//! Where the server listens, under which names, and what it allows.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use planwright_core::visible::quoted;
use secrecy::SecretString;
use serde::Deserialize;

use super::variables::{number, variable};
use crate::failure::Failure;
use crate::logging::LogFormat;

const PORT: u16 = 7717;
/// How long what is under way may take to reach a safe point.
const GRACE: Duration = Duration::from_secs(30);
/// A token that people think up should at least not be guessed.
const SHORTEST_TOKEN: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct ServerSettings {
    pub(crate) listen: SocketAddr,
    /// The names it is reached by, besides its address and those of this machine.
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) grace: Duration,
    /// How long a session stays held when its server is gone.
    pub(crate) lease: Option<Duration>,
    pub(crate) log_format: Option<LogFormat>,
    /// Instead of the one in the file.
    pub(crate) token: Option<SecretString>,
    pub(crate) limits: LimitSettings,
}

/// `None` where the server's own limit is kept.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LimitSettings {
    pub(crate) body_bytes: Option<NonZeroU32>,
    pub(crate) header_bytes: Option<NonZeroU32>,
    pub(crate) headers: Option<NonZeroU32>,
    pub(crate) json_depth: Option<NonZeroU32>,
    pub(crate) connections: Option<NonZeroU32>,
    pub(crate) connections_per_address: Option<NonZeroU32>,
    pub(crate) header_seconds: Option<NonZeroU32>,
    pub(crate) body_seconds: Option<NonZeroU32>,
    pub(crate) write_seconds: Option<NonZeroU32>,
    pub(crate) requests_per_second: Option<NonZeroU32>,
    pub(crate) burst: Option<NonZeroU32>,
    pub(crate) wrong_tokens_per_minute: Option<NonZeroU32>,
}

/// `[server]` as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerSection {
    listen: Option<Listen>,
    hosts: Option<Vec<HostName>>,
    origins: Option<Vec<Origin>>,
    grace_seconds: Option<NonZeroU32>,
    lease_seconds: Option<NonZeroU32>,
    log_format: Option<LogFormat>,
    body_bytes: Option<NonZeroU32>,
    header_bytes: Option<NonZeroU32>,
    headers: Option<NonZeroU32>,
    json_depth: Option<NonZeroU32>,
    connections: Option<NonZeroU32>,
    connections_per_address: Option<NonZeroU32>,
    header_seconds: Option<NonZeroU32>,
    body_seconds: Option<NonZeroU32>,
    write_seconds: Option<NonZeroU32>,
    requests_per_second: Option<NonZeroU32>,
    burst: Option<NonZeroU32>,
    wrong_tokens_per_minute: Option<NonZeroU32>,
}

pub(super) fn server(section: ServerSection) -> Result<ServerSettings, Failure> {
    let listen = variable("PLANWRIGHT_SERVER_LISTEN", listen_address)?.or(section.listen.map(|Listen(at)| at));
    let hosts = variable("PLANWRIGHT_SERVER_HOSTS", |text| list(text, host_name))?;
    let origins = variable("PLANWRIGHT_SERVER_ORIGINS", |text| list(text, origin))?;
    let in_file = |names: Vec<HostName>| names.into_iter().map(|HostName(name)| name).collect();
    let origins_in_file = |origins: Vec<Origin>| origins.into_iter().map(|Origin(origin)| origin).collect();
    let grace = number("PLANWRIGHT_SERVER_GRACE_SECONDS", section.grace_seconds)?;
    let lease = number("PLANWRIGHT_SERVER_LEASE_SECONDS", section.lease_seconds)?;
    let limits = LimitSettings {
        body_bytes: number("PLANWRIGHT_SERVER_BODY_BYTES", section.body_bytes)?,
        header_bytes: number("PLANWRIGHT_SERVER_HEADER_BYTES", section.header_bytes)?,
        headers: number("PLANWRIGHT_SERVER_HEADERS", section.headers)?,
        json_depth: number("PLANWRIGHT_SERVER_JSON_DEPTH", section.json_depth)?,
        connections: number("PLANWRIGHT_SERVER_CONNECTIONS", section.connections)?,
        connections_per_address: number("PLANWRIGHT_SERVER_CONNECTIONS_PER_ADDRESS", section.connections_per_address)?,
        header_seconds: number("PLANWRIGHT_SERVER_HEADER_SECONDS", section.header_seconds)?,
        body_seconds: number("PLANWRIGHT_SERVER_BODY_SECONDS", section.body_seconds)?,
        write_seconds: number("PLANWRIGHT_SERVER_WRITE_SECONDS", section.write_seconds)?,
        requests_per_second: number("PLANWRIGHT_SERVER_REQUESTS_PER_SECOND", section.requests_per_second)?,
        burst: number("PLANWRIGHT_SERVER_BURST", section.burst)?,
        wrong_tokens_per_minute: number("PLANWRIGHT_SERVER_WRONG_TOKENS_PER_MINUTE", section.wrong_tokens_per_minute)?,
    };
    Ok(ServerSettings {
        listen: listen.unwrap_or(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PORT)),
        hosts: hosts.or_else(|| section.hosts.map(in_file)).unwrap_or_default(),
        origins: origins.or_else(|| section.origins.map(origins_in_file)).unwrap_or_default(),
        grace: grace.map_or(GRACE, |seconds| Duration::from_secs(seconds.get().into())),
        lease: lease.map(|seconds| Duration::from_secs(seconds.get().into())),
        log_format: variable("PLANWRIGHT_SERVER_LOG_FORMAT", log_format)?.or(section.log_format),
        token: variable("PLANWRIGHT_TOKEN", token)?,
        limits,
    })
}

/// An address with its port; `localhost` is this machine.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        || format!("{} is not an address with a port, such as `127.0.0.1:{PORT}` or `[::1]:{PORT}`", quoted(text));
    if let Some(port) = text.strip_prefix("localhost:") {
        let port = u16::from_str(port).map_err(|_| wrong())?;
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    SocketAddr::from_str(text).map_err(|_| wrong())
}

/// A name as it stands in `Host`: no scheme, no path.
pub(crate) fn host_name(text: &str) -> Result<String, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    if text.is_empty() || !text.bytes().all(plain) || !text.bytes().any(|b| b.is_ascii_alphanumeric()) {
        return Err(format!("{} is not the name of a host, such as `plans.example.org`", quoted(text)));
    }
    Ok(text.to_ascii_lowercase())
}

/// Where a page comes from: a scheme and a host, no path.
fn origin(text: &str) -> Result<String, String> {
    let wrong = || format!("{} is not an origin, such as `https://plans.example.org`", quoted(text));
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or_else(wrong)?;
    host_name(host).map_err(|_| wrong())?;
    Ok(text.to_ascii_lowercase())
}

fn list(text: &str, read: fn(&str) -> Result<String, String>) -> Result<Vec<String>, String> {
    text.split(',').map(|name| read(name.trim())).collect()
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "pretty" => Ok(LogFormat::Pretty),
        "json" => Ok(LogFormat::Json),
        other => Err(format!("{} is neither `pretty` nor `json`", quoted(other))),
    }
}

/// What is wrong with it is told without showing it.
fn token(text: &str) -> Result<SecretString, String> {
    if text.len() < SHORTEST_TOKEN {
        return Err(format!("it is too short to be a token; at least {SHORTEST_TOKEN} characters are needed"));
    }
    if !text.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(
            "it has characters that a token cannot have; letters, digits and signs without spaces can".to_owned()
        );
    }
    Ok(SecretString::from(text))
}

/// What is written in the file is read while its line is known.
macro_rules! read_in_file {
    ($name:ident($inner:ty), $read:path) => {
        #[derive(Debug, Deserialize)]
        #[serde(try_from = "String")]
        struct $name($inner);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                $read(&text).map(Self)
            }
        }
    };
}

read_in_file!(Listen(SocketAddr), listen_address);
read_in_file!(HostName(String), host_name);
read_in_file!(Origin(String), origin);
