//! The cookie that a browser gets for the token: `2.ENDS.ID.SEAL`.
//!
//! It states when it ends and is sealed with a key derived from the token, so servers with the same token accept it
//! without keeping a list, and a new token ends them all. The seal also covers the host and port that the browser asked:
//! browsers send a cookie to every port of a host, and a cookie of one server must not be accepted by another one there.
//! For the same reason its name contains the port.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, header};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use planwright_engine::approvals::BrowserSecret;

use super::authority::Authority;

/// Thirty days.
pub(super) const LIFE_SECONDS: u64 = 30 * 24 * 60 * 60;

/// The version of the format.
const FORMAT: &str = "2";

pub(super) struct CookieKey([u8; 32]);

impl std::fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CookieKey")
    }
}

impl CookieKey {
    pub(super) fn new(token: &str) -> Self {
        let hash = Sha256::new().chain_update(b"planwright cookie 2\0").chain_update(token.as_bytes());
        Self(hash.finalize().into())
    }

    /// A few bits that tell tokens apart. Too few to try out tokens with.
    pub(super) fn mark(&self) -> u16 {
        let hash = Sha256::new().chain_update(b"planwright browsers\0").chain_update(self.0).finalize();
        u16::from_be_bytes([hash[0], hash[1]])
    }

    fn seal(&self, text: &str, scope: &CookieScope) -> Hmac<Sha256> {
        let Ok(seal) = Hmac::<Sha256>::new_from_slice(&self.0) else { unreachable!("any length is a key") };
        seal.chain_update(text.as_bytes()).chain_update(b"\0").chain_update(scope.authority.as_bytes())
    }
}

/// The host and port that a browser asks. A cookie is valid only there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CookieScope {
    name: String,
    authority: String,
}

impl CookieScope {
    /// From the `Host` header, which was checked before.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = match Authority::parse(host).and_then(|authority| authority.port) {
            Some(port) => format!("planwright_{port}"),
            None => "planwright".to_owned(),
        };
        Self { name, authority: host.to_ascii_lowercase() }
    }

    /// Every cookie of this name, in however many headers.
    pub(super) fn values<'a>(&self, headers: &'a HeaderMap) -> Vec<&'a str> {
        let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.name).map(|(_, value)| value).collect()
    }

    /// `Set-Cookie` for a browser that signs in.
    pub(super) fn set(&self, value: &str, encrypted: bool) -> String {
        self.line(value, LIFE_SECONDS, encrypted)
    }

    /// The secret of a browser that was signed in with a link.
    pub(super) fn browser_secret(&self, headers: &HeaderMap) -> Option<BrowserSecret> {
        let named = Self { name: self.browser_name(), authority: String::new() };
        named.values(headers).first().map(|value| BrowserSecret((*value).to_owned()))
    }

    /// `Set-Cookie` for that secret. Without an end the browser forgets it when it is closed, and does not write it to disk in
    /// the clear.
    pub(super) fn set_browser(&self, secret: &BrowserSecret, encrypted: bool) -> String {
        let secure = if encrypted { "; Secure" } else { "" };
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/{secure}", self.browser_name(), secret.0)
    }

    /// `Set-Cookie` that removes it.
    pub(super) fn clear_browser(&self) -> String {
        format!("{}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0", self.browser_name())
    }

    fn browser_name(&self) -> String {
        format!("{}_browser", self.name)
    }

    /// `Set-Cookie` for a browser that signs out.
    pub(super) fn clear(&self) -> String {
        self.line("", 0, false)
    }

    fn line(&self, value: &str, seconds: u64, encrypted: bool) -> String {
        let secure = if encrypted { "; Secure" } else { "" };
        format!("{}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}", self.name)
    }
}

/// A cookie with a valid seal that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValidCookie {
    pub(super) id: String,
    /// In seconds since 1970.
    pub(super) ends: u64,
}

/// `None` if the system has no random bytes.
pub(super) fn make(key: &CookieKey, scope: &CookieScope) -> Option<String> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).ok()?;
    let text = format!("{FORMAT}.{}.{}", now() + LIFE_SECONDS, hex::encode(id));
    let seal = hex::encode(key.seal(&text, scope).finalize().into_bytes());
    Some(format!("{text}.{seal}"))
}

pub(super) fn verify(value: &str, key: &CookieKey, scope: &CookieScope) -> Option<ValidCookie> {
    let (text, seal) = value.rsplit_once('.')?;
    key.seal(text, scope).verify_slice(&hex::decode(seal).ok()?).ok()?;
    let mut parts = text.split('.');
    let (Some(FORMAT), Some(ends), Some(id), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return None;
    };
    let ends = ends.parse().ok().filter(|ends| now() < *ends)?;
    Some(ValidCookie { id: id.to_owned(), ends })
}

/// In seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(host: &str) -> CookieScope {
        CookieScope::of(&[(header::HOST, host.parse().unwrap())].into_iter().collect())
    }

    #[test]
    fn a_cookie_is_valid_for_one_token_and_one_port() {
        let (key, other) = (CookieKey::new("one"), CookieKey::new("other"));
        let here = scope("127.0.0.1:7717");
        let value = make(&key, &here).unwrap();
        assert!(verify(&value, &key, &here).is_some());
        assert_eq!(verify(&value, &other, &here), None);
        for elsewhere in ["127.0.0.1:7718", "localhost:7717", "127.0.0.1", "plans.example.org"] {
            assert_eq!(verify(&value, &key, &scope(elsewhere)), None, "{elsewhere}");
        }
    }

    #[test]
    fn nothing_of_it_can_be_changed() {
        let (key, here) = (CookieKey::new("one"), scope("localhost:7717"));
        let value = make(&key, &here).unwrap();
        let parts: Vec<_> = value.split('.').collect();
        let [format, ends, id, seal] = parts[..] else { panic!("{value}") };
        let later = (ends.parse::<u64>().unwrap() + 1).to_string();
        for changed in [
            format!("1.{ends}.{id}.{seal}"),
            format!("{format}.{later}.{id}.{seal}"),
            format!("{format}.{ends}.{}.{seal}", "0".repeat(32)),
            format!("{format}.{ends}.{id}.{}", "0".repeat(64)),
            format!("{format}.{ends}.{id}"),
            String::new(),
        ] {
            assert_eq!(verify(&changed, &key, &here), None, "{changed}");
        }
    }

    #[test]
    fn it_is_named_by_port() {
        let line = scope("LocalHost:7717").set("x", false);
        assert_eq!(line, "planwright_7717=x; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
        assert_eq!(scope("[::1]:80").clear(), "planwright_80=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
        assert!(scope("plans.example.org").set("x", true).starts_with("planwright=x; "));
        let secret = BrowserSecret("s".to_owned());
        let line = scope("localhost:7717").set_browser(&secret, true);
        assert_eq!(line, "planwright_7717_browser=s; HttpOnly; SameSite=Strict; Path=/; Secure", "it has no end");
        let headers = [(header::COOKIE, "planwright=a; planwright_7717=b".parse().unwrap())].into_iter().collect();
        assert_eq!(scope("localhost:7717").values(&headers), ["b"]);
    }
}
