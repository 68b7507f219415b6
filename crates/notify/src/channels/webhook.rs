//! A webhook: JSON with a signature. Redirects are not followed, and addresses of private networks are not called unless
//! they are allowed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use async_trait::async_trait;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::{ChannelError, Notification, NotifyChannel};
use crate::options::WebhookOptions;

#[derive(Debug)]
pub struct Webhook {
    url: Url,
    secret: Option<SecretString>,
    allow_private: bool,
    answer_time: Duration,
}

impl Webhook {
    pub fn new(options: &WebhookOptions) -> Result<Self, String> {
        let url = Url::parse(&options.url).map_err(|_| "the address of the webhook is not an address".to_owned())?;
        if !matches!(url.scheme(), "https" | "http") || url.host_str().is_none() {
            return Err("the address of the webhook begins with https:// or http://".to_owned());
        }
        let WebhookOptions { secret, allow_private, answer_time, .. } = options.clone();
        Ok(Self { url, secret, allow_private, answer_time })
    }

    /// The addresses of the host. The call goes to exactly these.
    async fn addresses(&self) -> Result<Vec<SocketAddr>, ChannelError> {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = self.url.port_or_known_default().unwrap_or(443);
        let unknown = || ChannelError::Transient("the host of the webhook is not known".to_owned());
        let found = timeout(self.answer_time, lookup_host((host, port))).await;
        let found: Vec<_> = found.map_err(|_| unknown())?.map_err(|_| unknown())?.collect();
        if !self.allow_private && found.iter().any(|address| is_private(address.ip())) {
            return Err(ChannelError::Permanent(
                "the webhook leads to this machine or a private network; `notify.webhook_private = true` allows it"
                    .to_owned(),
            ));
        }
        Ok(found)
    }

    fn signature(&self, at: &str, body: &str) -> Option<String> {
        let secret = self.secret.as_ref()?.expose_secret();
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
        mac.update(at.as_bytes());
        mac.update(b".");
        mac.update(body.as_bytes());
        Some(format!("sha256={}", hex::encode(mac.finalize().into_bytes())))
    }
}

#[async_trait]
impl NotifyChannel for Webhook {
    async fn send(&self, notification: &Notification) -> Result<(), ChannelError> {
        let addresses = self.addresses().await?;
        let host = self.url.host_str().unwrap_or_default();
        let client = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(self.answer_time)
            .resolve_to_addrs(host, &addresses)
            .build()
            .map_err(|error| ChannelError::Transient(error.without_url().to_string()))?;
        let body = serde_json::to_string(notification).map_err(|error| ChannelError::Permanent(error.to_string()))?;
        let at = Timestamp::now().as_second().to_string();
        let mut request = client
            .post(self.url.clone())
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", &notification.id)
            .header("X-Planwright-Timestamp", &at);
        if let Some(signature) = self.signature(&at, &body) {
            request = request.header("X-Planwright-Signature", signature);
        }
        match request.body(body).send().await {
            Ok(response) => outcome(response.status().as_u16()),
            Err(error) if error.is_timeout() => Err(ChannelError::Transient("the webhook does not answer".to_owned())),
            Err(_) => Err(ChannelError::Transient("the webhook cannot be reached".to_owned())),
        }
    }
}

fn outcome(status: u16) -> Result<(), ChannelError> {
    match status {
        200..=299 => Ok(()),
        300..=399 => Err(ChannelError::Permanent("the webhook redirects, which is not followed".to_owned())),
        408 | 425 | 429 | 500.. => Err(ChannelError::Transient(format!("the webhook answered {status}"))),
        _ => Err(ChannelError::Permanent(format!("the webhook answered {status}"))),
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
