//! The value of `Host` and, after the scheme, of `Origin`: a name or an address, and an optional port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    pub(super) host: Host,
    pub(super) port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// In lower case.
    Name(String),
    Address(IpAddr),
}

impl Authority {
    /// `None` for any other form, such as a name with a user before it or a dot after it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix('[') {
            let (address, port) = rest.split_once(']')?;
            let host = Host::Address(address.parse::<Ipv6Addr>().ok()?.into());
            return Some(Self { host, port: parse_port(port)? });
        }
        let (host, port) = match text.find(':') {
            Some(colon) => text.split_at(colon),
            None => (text, ""),
        };
        Some(Self { host: parse_host(host)?, port: parse_port(port)? })
    }

    pub(super) fn port_or(&self, default: u16) -> u16 {
        self.port.unwrap_or(default)
    }
}

fn parse_host(text: &str) -> Option<Host> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(Host::Address(address.into()));
    }
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let is_name = text.len() <= 253 && text.split('.').all(is_label);
    is_name.then(|| Host::Name(text.to_ascii_lowercase()))
}

/// What follows the host: nothing, or a colon and a number without leading zeros.
fn parse_port(text: &str) -> Option<Option<u16>> {
    let Some(digits) = text.strip_prefix(':') else { return text.is_empty().then_some(None) };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    is_plain.then(|| digits.parse().ok()).flatten().map(Some)
}
