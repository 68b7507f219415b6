//! The names under which this server is reached, and the web pages that may send requests to it.
//!
//! A web page can make a browser send a request to any address, and its own domain name can resolve to this machine. Such
//! a request carries that name in `Host`, and the page it comes from in `Origin`.

use std::net::SocketAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use planwright_core::refusal::Refusal;

use super::authority::{Authority, Host};
use crate::http::problem::{ApiProblem, ApiResult};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    #[error("{0:?} is not a host: a name or an address, perhaps with a port, such as plans.example.org:8443")]
    Host(String),
    #[error("{0:?} is not an origin: http or https, a host and perhaps a port, such as https://dash.example.org")]
    Origin(String),
}

#[derive(Debug)]
pub(crate) struct AllowedHosts {
    /// Names of this machine, valid with the listening port.
    own: Vec<Host>,
    port: u16,
    hosts: Vec<Authority>,
    origins: Vec<Origin>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: Scheme,
    authority: Authority,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl AllowedHosts {
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Result<Self, HostError> {
        let hosts = hosts.iter().map(|host| Authority::parse(host).ok_or_else(|| HostError::Host(host.clone())));
        let origins =
            origins.iter().map(|origin| Origin::parse(origin).ok_or_else(|| HostError::Origin(origin.clone())));
        let own = ["localhost", "127.0.0.1", "[::1]"].into_iter().filter_map(Authority::parse);
        Ok(Self {
            own: own.map(|authority| authority.host).collect(),
            port: 0,
            hosts: hosts.collect::<Result<_, _>>()?,
            origins: origins.collect::<Result<_, _>>()?,
        })
    }

    /// The listening address is one of the names, unless it stands for all addresses.
    pub(crate) fn listen_on(&mut self, address: SocketAddr) {
        self.port = address.port();
        if !address.ip().is_unspecified() {
            self.own.push(Host::Address(address.ip()));
        }
    }

    pub(crate) fn check(&self, request: &Request) -> ApiResult<()> {
        let host = self.host(request)?;
        match only(request.headers(), &header::ORIGIN) {
            Ok(None) => Ok(()),
            Ok(Some(origin)) if self.may_ask(origin, &host) => Ok(()),
            Ok(Some(_)) | Err(TwiceOrUnreadable) => {
                Err(Refusal::policy_denied("web pages of this origin may not send requests to this server").into())
            }
        }
    }

    /// The host that the request names, if it is this server.
    fn host(&self, request: &Request) -> ApiResult<Authority> {
        let named = only(request.headers(), &header::HOST).ok().flatten().and_then(Authority::parse);
        let Some(named) = named.filter(|named| self.is_own(named)) else { return Err(misdirected()) };
        // The request target may name a host as well; it has to be one of ours, too.
        match request.uri().authority() {
            None => Ok(named),
            Some(target) => match Authority::parse(target.as_str()) {
                Some(target) if self.is_own(&target) => Ok(named),
                Some(_) | None => Err(misdirected()),
            },
        }
    }

    fn is_own(&self, named: &Authority) -> bool {
        let own = named.port_or(80) == self.port && self.own.contains(&named.host);
        own || self.hosts.iter().any(|host| host.host == named.host && (host.port.is_none() || host.port == named.port))
    }

    /// A page of this server, under the name of the request or another of its names, or one of a listed origin. A host
    /// that is configured without a port means the default port: other ports of the machine belong to other programs.
    fn may_ask(&self, origin: &str, host: &Authority) -> bool {
        let Some(origin) = Origin::parse(origin) else { return false };
        let default = origin.scheme.default_port();
        let port = origin.authority.port_or(default);
        let is = |authority: &Authority| authority.host == origin.authority.host && authority.port_or(default) == port;
        is(host)
            || (port == self.port && self.own.contains(&origin.authority.host))
            || self.hosts.iter().any(is)
            || self.origins.iter().any(|listed| listed.scheme == origin.scheme && is(&listed.authority))
    }
}

impl Origin {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = match scheme {
            _ if scheme.eq_ignore_ascii_case("http") => Scheme::Http,
            _ if scheme.eq_ignore_ascii_case("https") => Scheme::Https,
            _ => return None,
        };
        Some(Self { scheme, authority: Authority::parse(authority)? })
    }
}

impl Scheme {
    const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Whether the browser reaches the server over https, for example through a proxy.
pub(crate) fn came_encrypted(headers: &HeaderMap) -> bool {
    let origin = only(headers, &header::ORIGIN).ok().flatten().and_then(Origin::parse);
    origin.is_some_and(|origin| origin.scheme == Scheme::Https)
}

struct TwiceOrUnreadable;

/// A header that may be sent at most once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, TwiceOrUnreadable> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| TwiceOrUnreadable),
        (Some(_), Some(_)) => Err(TwiceOrUnreadable),
    }
}

fn misdirected() -> ApiProblem {
    let refusal =
        Refusal::policy_denied("this server is not known under this name; the setting `server.hosts` adds names");
    ApiProblem::new(refusal).with_status(StatusCode::MISDIRECTED_REQUEST)
}
