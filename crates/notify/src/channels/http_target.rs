//! An address that is called over HTTP. Redirects are not followed, and addresses of private networks are not called unless they
//! are allowed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Url};
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::ChannelError;

#[derive(Debug)]
pub(super) struct HttpTarget {
    /// What it is, for messages: "the webhook".
    pub(super) name: &'static str,
    /// The setting that allows private networks.
    pub(super) private_setting: &'static str,
    pub(super) url: Url,
    pub(super) allow_private: bool,
    pub(super) answer_time: Duration,
}

impl HttpTarget {
    /// Checks the address.
    pub(super) fn parse(name: &'static str, url: &str) -> Result<Url, String> {
        let url = Url::parse(url).map_err(|_| format!("the address of {name} is not an address"))?;
        if !matches!(url.scheme(), "https" | "http") || url.host_str().is_none() {
            return Err(format!("the address of {name} begins with https:// or http://"));
        }
        Ok(url)
    }

    /// Makes one call, whose body and headers the caller adds.
    pub(super) async fn post(
        &self,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder + Send,
    ) -> Result<(), ChannelError> {
        self.outcome(self.post_for_status(fill).await?)
    }

    /// Posts, and returns the status for a channel to which a status means something of its own.
    pub(super) async fn post_for_status(
        &self,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder + Send,
    ) -> Result<u16, ChannelError> {
        let addresses = self.addresses().await?;
        let host = self.url.host_str().unwrap_or_default();
        let client = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(self.answer_time)
            .resolve_to_addrs(host, &addresses)
            .build()
            .map_err(|error| ChannelError::Transient(error.without_url().to_string()))?;
        match fill(client.post(self.url.clone())).send().await {
            Ok(response) => Ok(response.status().as_u16()),
            Err(error) if error.is_timeout() => Err(ChannelError::Transient(format!("{} does not answer", self.name))),
            Err(_) => Err(ChannelError::Transient(format!("{} cannot be reached", self.name))),
        }
    }

    /// The addresses of the host. The call goes to exactly these.
    async fn addresses(&self) -> Result<Vec<SocketAddr>, ChannelError> {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = self.url.port_or_known_default().unwrap_or(443);
        let unknown = || ChannelError::Transient(format!("the host of {} is not known", self.name));
        let found = timeout(self.answer_time, lookup_host((host, port))).await;
        let found: Vec<_> = found.map_err(|_| unknown())?.map_err(|_| unknown())?.collect();
        if !self.allow_private && found.iter().any(|address| is_private(address.ip())) {
            return Err(ChannelError::Permanent(format!(
                "{} leads to this machine or a private network; `{} = true` allows it",
                self.name, self.private_setting
            )));
        }
        Ok(found)
    }

    /// What a status usually means.
    pub(super) fn outcome(&self, status: u16) -> Result<(), ChannelError> {
        match status {
            200..=299 => Ok(()),
            300..=399 => Err(ChannelError::Permanent(format!("{} redirects, which is not followed", self.name))),
            408 | 425 | 429 | 500.. => Err(ChannelError::Transient(format!("{} answered {status}", self.name))),
            _ => Err(ChannelError::Permanent(format!("{} answered {status}", self.name))),
        }
    }
}

/// Whether an address is of this machine, of a private network, or of no network.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation()
        || first == 0
        || first >= 240
        || (first == 100 && (64..128).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && (18..20).contains(&second))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_private_v4(inner);
    }
    // Addresses that carry one of the older kind: translation, and tunnels.
    let [.., high, low] = segments;
    let inner = Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] || segments[..6] == [0; 6] {
        return is_private_v4(inner);
    }
    if segments[0] == 0x2002 {
        return is_private_v4(Ipv4Addr::from((u32::from(segments[1]) << 16) | u32::from(segments[2])));
    }
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || (segments[0] & 0xfe00) == 0xfc00
        || (segments[0] & 0xffc0) == 0xfe80
        || segments[0] == 0x2001 && segments[1] == 0xdb8
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_recognised() {
        for (address, private) in [
            ("127.0.0.1", true),
            ("10.1.2.3", true),
            ("172.16.0.1", true),
            ("192.168.1.1", true),
            ("169.254.169.254", true),
            ("100.64.0.1", true),
            ("0.0.0.0", true),
            ("::1", true),
            ("::", true),
            ("fd00::1", true),
            ("fe80::1", true),
            ("::ffff:127.0.0.1", true),
            ("64:ff9b::7f00:1", true),
            ("2002:7f00:1::", true),
            ("8.8.8.8", false),
            ("2606:4700::1", false),
        ] {
            assert_eq!(is_private(address.parse().unwrap()), private, "{address}");
        }
    }
}
