//! The token as it is now, and what was given out for it. When it is replaced, everything that rests on the old one ends.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use super::Admitted;
use super::cookie::{self, CookieKey};
use crate::http::token::Token;

#[derive(Debug)]
pub(crate) struct Keys {
    source: Token,
    now: RwLock<Arc<Generation>>,
    /// One look after another, so that an older one never comes last.
    looking: Mutex<()>,
}

/// From one token to the next.
#[derive(Debug, Default)]
struct Generation {
    /// Without a token nobody comes in.
    lock: Option<Lock>,
    admitted: CancellationToken,
}

#[derive(Debug)]
struct Lock {
    token: Hash,
    cookies: CookieKey,
}

/// What somebody shows. Only its hash is compared, which takes the same time whatever it is.
#[derive(Debug)]
pub(crate) struct Presented(Hash);

struct Hash([u8; 32]);

impl Presented {
    pub(crate) fn new(token: &[u8]) -> Self {
        Self(Hash(Sha256::digest(token).into()))
    }
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hash")
    }
}

impl Keys {
    pub(crate) fn new(source: Token) -> Self {
        let keys = Self { source, now: RwLock::default(), looking: Mutex::default() };
        keys.refresh();
        keys
    }

    pub(super) fn admit(&self, presented: &Presented) -> Option<Admitted> {
        let now = self.now();
        let lock = now.lock.as_ref()?;
        bool::from(lock.token.0.ct_eq(&presented.0.0)).then(|| Admitted(now.admitted.clone()))
    }

    pub(super) fn admit_cookie(&self, value: &str) -> Option<Admitted> {
        let now = self.now();
        cookie::is_ours(value, &now.lock.as_ref()?.cookies).then(|| Admitted(now.admitted.clone()))
    }

    pub(super) fn cookie(&self) -> Option<String> {
        cookie::make(&self.now().lock.as_ref()?.cookies)
    }

    /// Looks whether the token is still the same. A token that cannot be read lets nobody in.
    pub(super) fn refresh(&self) {
        let _one = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let token = self.source.read().unwrap_or_else(|error| {
            tracing::warn!(event = "token_unreadable", %error, "nobody is let in");
            None
        });
        let lock = token.map(|token| Lock {
            token: Presented::new(token.expose_secret().as_bytes()).0,
            cookies: CookieKey::new(token.expose_secret()),
        });
        let now = self.now();
        let same = match (&now.lock, &lock) {
            (Some(old), Some(new)) => old.token.0 == new.token.0,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if same {
            return;
        }
        if now.lock.is_some() {
            tracing::info!(event = "token_changed", "whoever came in with the old one is cut off");
        }
        *self.now.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(Generation { lock, admitted: CancellationToken::new() });
        now.admitted.cancel();
    }

    fn now(&self) -> Arc<Generation> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }
}
