//! Which client sent a request: one browser, one program.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use planwright_core::session::TransportChat;
use planwright_engine::approvals::BrowserSecret;
use sha2::{Digest, Sha256};

use super::cookie::CookieScope;
use super::credentials::Credential;

/// With this header, programs that share an address tell themselves apart.
pub(crate) const CLIENT_HEADER: &str = "planwright-client";

/// The default is a router without the middleware.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Client {
    /// A hash: it tells neither the address nor the cookie.
    id: String,
    is_websocket: bool,
    /// The secret of a browser that says that it was signed in with a link. It is not checked yet.
    pub(crate) browser: Option<BrowserSecret>,
}

impl Client {
    /// A browser is known by its cookie. A program is known by the name it sends, or else by its address and kind.
    pub(super) fn new(credential: &Credential, from: IpAddr, headers: &HeaderMap) -> Self {
        let header = |name| headers.get(name).map(axum::http::HeaderValue::as_bytes).unwrap_or_default();
        let mut hash = Sha256::new();
        match credential {
            Credential::Cookie(id) => hash.update(cookie_text(id)),
            Credential::Token => match header(CLIENT_HEADER) {
                b"" => {
                    hash.update(format!("address\0{}\0", from.to_canonical()));
                    hash.update(header(header::USER_AGENT.as_str()));
                }
                name => hash.update([b"name\0", name].concat()),
            },
        }
        let browser = match credential {
            Credential::Cookie(_) => CookieScope::of(headers).browser_secret(headers),
            Credential::Token => None,
        };
        Self { id: hex::encode(&hash.finalize()[..12]), is_websocket: false, browser }
    }

    /// The name of the browser that has the cookie with this id.
    pub(super) fn id_of_cookie(id: &str) -> String {
        hex::encode(&Sha256::digest(cookie_text(id))[..12])
    }

    /// Its name, which tells neither its address nor its cookie.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Whether this is the client of that name.
    pub(crate) fn is(&self, id: &str) -> bool {
        self.id == id
    }

    /// A WebSocket is a client of its own: two tabs of one browser are two.
    pub(crate) fn of_websocket(&self) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut chance = [0; 8];
        let _ = getrandom::fill(&mut chance);
        let id = format!("{}-{}-{:x}", self.id, hex::encode(chance), COUNT.fetch_add(1, Ordering::Relaxed));
        Self { id, is_websocket: true, browser: self.browser.clone() }
    }

    /// Where answers to this client are delivered.
    pub(crate) fn transport(&self) -> TransportChat {
        if self.is_websocket {
            return TransportChat::of_connection(&self.id);
        }
        TransportChat(format!("http:{}", self.id))
    }
}

fn cookie_text(id: &str) -> Vec<u8> {
    [b"cookie\0", id.as_bytes()].concat()
}

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(credential: &Credential, from: &str, headers: &[(&'static str, &str)]) -> Client {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        Client::new(credential, from.parse().unwrap(), &headers)
    }

    #[test]
    fn clients_differ_by_cookie_name_or_address() {
        let cookie = |id: &str| Credential::Cookie(id.to_owned());
        let here = "127.0.0.1";
        let all = [
            client(&cookie("1"), here, &[]),
            client(&cookie("2"), here, &[]),
            client(&Credential::Token, here, &[]),
            client(&Credential::Token, "192.0.2.1", &[]),
            client(&Credential::Token, here, &[("user-agent", "curl/8")]),
            client(&Credential::Token, here, &[(CLIENT_HEADER, "one")]),
            client(&Credential::Token, here, &[(CLIENT_HEADER, "two")]),
        ];
        for (position, one) in all.iter().enumerate() {
            assert!(all[position + 1..].iter().all(|other| other != one), "{one:?}");
        }
        assert_eq!(client(&cookie("1"), "192.0.2.1", &[("user-agent", "curl/8")]), all[0], "a browser may move");
        assert_eq!(client(&Credential::Token, "192.0.2.1", &[(CLIENT_HEADER, "one")]), all[5]);
        assert_ne!(all[0].of_websocket(), all[0].of_websocket());
    }
}
