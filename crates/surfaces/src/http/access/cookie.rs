//! The cookie that a browser gets for the token. No server keeps a list of them: a cookie says when it ends, and is
//! sealed with a key made of the token. Every server with the same token takes it, and a new token ends them all.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, header};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::http::token::hex;

pub(crate) const NAME: &str = "planwright";

/// Thirty days.
const LIFE_SECONDS: u64 = 30 * 24 * 60 * 60;

/// The form of what is sealed; another form gets another number.
const FORM: &str = "1";

pub(super) struct CookieKey([u8; 32]);

impl std::fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CookieKey")
    }
}

impl CookieKey {
    pub(super) fn new(token: &str) -> Self {
        let hash = Sha256::new().chain_update(b"planwright cookie 1\0").chain_update(token.as_bytes());
        Self(hash.finalize().into())
    }

    fn seal(&self, text: &str) -> Hmac<Sha256> {
        let Ok(seal) = Hmac::<Sha256>::new_from_slice(&self.0) else { unreachable!("any length is a key") };
        seal.chain_update(text.as_bytes())
    }
}

/// `1.ENDS.CHANCE.SEAL`; none if there is no chance to be had.
pub(super) fn make(key: &CookieKey) -> Option<String> {
    let mut chance = [0; 16];
    getrandom::fill(&mut chance).ok()?;
    let text = format!("{FORM}.{}.{}", now() + LIFE_SECONDS, hex(&chance));
    let seal = hex(&key.seal(&text).finalize().into_bytes());
    Some(format!("{text}.{seal}"))
}

pub(super) fn is_ours(value: &str, key: &CookieKey) -> bool {
    let Some((text, seal)) = value.rsplit_once('.') else { return false };
    let Some(seal) = from_hex(seal) else { return false };
    if key.seal(text).verify_slice(&seal).is_err() {
        return false;
    }
    let mut parts = text.split('.');
    let (Some(FORM), Some(ends)) = (parts.next(), parts.next()) else { return false };
    ends.parse::<u64>().is_ok_and(|ends| now() < ends)
}

/// Every cookie of this name, however many headers they stand in.
pub(super) fn all(headers: &HeaderMap) -> Vec<&str> {
    let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == NAME).map(|(_, value)| value).collect()
}

/// What the browser is told when somebody signs in.
pub(crate) fn set(value: &str, encrypted: bool) -> String {
    line(value, LIFE_SECONDS, encrypted)
}

/// What the browser is told when somebody leaves.
pub(crate) fn clear() -> String {
    line("", 0, false)
}

fn line(value: &str, seconds: u64, encrypted: bool) -> String {
    let secure = if encrypted { "; Secure" } else { "" };
    format!("{NAME}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}")
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[high, low]| u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
