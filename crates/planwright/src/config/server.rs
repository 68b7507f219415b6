//! The section `server`: where the server listens, under which names, and its limits.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use planwright_agent::AgentOptions;
use planwright_core::visible::quoted;
use planwright_surfaces::http::ServerLimits;
use secrecy::SecretString;

use super::setting::{Check, Checked, Choice, Choices, List, Positive, Seconds, section};
use super::variables::variable;
use crate::failure::Failure;
use crate::logging::LogFormat;

const PORT: u16 = 7717;
/// How long running work may take to reach a safe point.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);
/// A token that a person made up must not be easy to guess.
const MIN_TOKEN: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct ServerSettings {
    pub(crate) listen: SocketAddr,
    /// Names of the server, besides its address and the names of this machine.
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    /// The address that links to the server begin with.
    pub(crate) public_url: Option<String>,
    pub(crate) grace: Duration,
    /// When another process takes over the sessions of a process that died.
    pub(crate) lease: Duration,
    pub(crate) log_format: Option<LogFormat>,
    /// Replaces the token in the file.
    pub(crate) token: Option<SecretString>,
    pub(crate) limits: ServerLimits,
}

fn limits() -> ServerLimits {
    ServerLimits::default()
}

section! {
    pub(super) struct ServerSection, "server" {
        "The address that the server listens at. The flag is `--listen`."
        listen: Checked<Listen> = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PORT),
        "Other names that the server is reached by, as browsers and programs send them. The flag is `--host`."
        hosts: List<HostName> = Vec::new(),
        "Origins of other web pages that may send requests."
        origins: List<Origin> = Vec::new(),
        "The address that links in messages begin with, as people reach the server."
        public_url: Checked<PublicUrl> => "links begin with the address that the server listens at",
        "How long running work may take to reach a safe point when the server stops."
        grace_seconds: Seconds = SHUTDOWN_TIMEOUT,
        "After how long another server continues the work of one that died."
        lease_seconds: Seconds = AgentOptions::new("").lease,
        "The format of the log on stderr. The flag is `--log-format`."
        log_format: Choice<LogFormat> => "`pretty` on a terminal, else `json`",
        "The largest body of a request, in bytes."
        body_bytes: Positive<usize> = limits().body_bytes,
        "The largest request line and headers together, in bytes."
        header_bytes: Positive<usize> = limits().header_bytes,
        "The most headers of a request."
        headers: Positive<usize> = limits().headers,
        "How deeply lists and objects may be nested in a body."
        json_depth: Positive<usize> = limits().json_depth,
        "The most open connections. Half of them are reserved for clients that presented the token."
        connections: Positive<usize> = limits().connections,
        "The most open connections from one address without the token. Addresses of this machine are exempt."
        connections_per_address: Positive<usize> = limits().connections_per_address,
        "How long a client may take to send the headers of a request."
        header_seconds: Seconds = limits().header_time,
        "How long a client may take to send the body of a request."
        body_seconds: Seconds = limits().body_time,
        "How long a client may read nothing of a response."
        write_seconds: Seconds = limits().write_time,
        "The most requests per second with the token, from all clients together."
        requests_per_second: Positive<u32> = limits().requests_per_second,
        "How many requests with the token may come at once after a quiet time."
        burst: Positive<u32> = limits().burst,
        "The most requests per second from one address that are refused for lack of a valid token. Four times as many may come at once after a quiet time."
        refused_per_second: Positive<u32> = limits().refused_per_second,
        "The most wrong tokens per minute from one address."
        wrong_tokens_per_minute: Positive<u32> = limits().wrong_tokens_per_minute,
    }
}

impl ServerSection {
    pub(super) fn settings_of_server(mut self) -> Result<ServerSettings, Failure> {
        Ok(ServerSettings {
            listen: self.listen(),
            hosts: self.hosts(),
            origins: self.origins(),
            public_url: self.public_url(),
            grace: self.grace_seconds(),
            lease: self.lease_seconds(),
            log_format: self.log_format(),
            token: variable("PLANWRIGHT_TOKEN", token)?,
            limits: ServerLimits {
                body_bytes: self.body_bytes(),
                header_bytes: self.header_bytes(),
                headers: self.headers(),
                json_depth: self.json_depth(),
                connections: self.connections(),
                connections_per_address: self.connections_per_address(),
                header_time: self.header_seconds(),
                body_time: self.body_seconds(),
                write_time: self.write_seconds(),
                requests_per_second: self.requests_per_second(),
                burst: self.burst(),
                refused_per_second: self.refused_per_second(),
                wrong_tokens_per_minute: self.wrong_tokens_per_minute(),
                ..limits()
            },
        })
    }
}

/// An address with a port; `localhost` is this machine.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        || format!("{} is not an address with a port, such as `127.0.0.1:{PORT}` or `[::1]:{PORT}`", quoted(text));
    if let Some(port) = text.strip_prefix("localhost:") {
        let port = u16::from_str(port).map_err(|_| wrong())?;
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    SocketAddr::from_str(text).map_err(|_| wrong())
}

/// A name as it is in the header `Host`: no scheme, no path.
pub(crate) fn host_name(text: &str) -> Result<String, String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    if text.is_empty() || !text.bytes().all(plain) || !text.bytes().any(|b| b.is_ascii_alphanumeric()) {
        return Err(format!("{} is not the name of a host, such as `plans.example.org`", quoted(text)));
    }
    Ok(text.to_ascii_lowercase())
}

/// The origin of a web page: a scheme and a host, no path.
fn origin(text: &str) -> Result<String, String> {
    let wrong = || format!("{} is not an origin, such as `https://plans.example.org`", quoted(text));
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or_else(wrong)?;
    host_name(host).map_err(|_| wrong())?;
    Ok(text.to_ascii_lowercase())
}

/// The address of a web server; a path may follow the host.
fn public_url(text: &str) -> Result<String, String> {
    let wrong = || format!("{} is not the address of a web server, such as `https://plans.example.org`", quoted(text));
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or_else(wrong)?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    host_name(host).map_err(|_| wrong())?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    if !path.bytes().all(plain) {
        return Err(wrong());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// The errors never show the token.
fn token(text: &str) -> Result<SecretString, String> {
    if text.len() < MIN_TOKEN {
        return Err(format!("it is too short to be a token; at least {MIN_TOKEN} characters are needed"));
    }
    if !text.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(
            "it has characters that a token cannot have; letters, digits and signs without spaces can".to_owned()
        );
    }
    Ok(SecretString::from(text))
}

#[derive(Debug)]
pub(super) enum Listen {}

impl Check for Listen {
    type Value = SocketAddr;
    const KIND: &'static str = "an address with a port; port 0 takes any free one";

    fn check(text: &str) -> Result<SocketAddr, String> {
        listen_address(text)
    }

    fn show(value: &SocketAddr) -> String {
        format!("`{value}`")
    }
}

#[derive(Debug)]
pub(super) enum HostName {}

impl Check for HostName {
    type Value = String;
    const KIND: &'static str = "names of hosts, such as `plans.example.org`";

    fn check(text: &str) -> Result<String, String> {
        host_name(text)
    }

    fn show(value: &String) -> String {
        format!("`{value}`")
    }
}

#[derive(Debug)]
pub(super) enum Origin {}

impl Check for Origin {
    type Value = String;
    const KIND: &'static str = "origins, such as `https://dash.example.org`";

    fn check(text: &str) -> Result<String, String> {
        origin(text)
    }

    fn show(value: &String) -> String {
        format!("`{value}`")
    }
}

#[derive(Debug)]
pub(super) enum PublicUrl {}

impl Check for PublicUrl {
    type Value = String;
    const KIND: &'static str = "an address, such as `https://plans.example.org`";

    fn check(text: &str) -> Result<String, String> {
        public_url(text)
    }

    fn show(value: &String) -> String {
        format!("`{value}`")
    }
}

impl Choices for LogFormat {
    const NAMES: &'static [(&'static str, Self)] = &[("pretty", Self::Pretty), ("json", Self::Json)];
}
