//! The current token, and the cookies that were given out for it. When the token is replaced, everything that was
//! authenticated with the old one ends.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use axum::http::HeaderMap;
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use super::Authenticated;
use super::browsers::{self, Browsers, SignedInBrowser};
use super::cookie::{self, CookieKey, CookieScope, ValidCookie};
use super::revoked_cookies::RevokedCookies;
use crate::http::token::Token;

/// What a request was authenticated with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Credential {
    Token,
    /// The cookie's id.
    Cookie(String),
}

#[derive(Debug)]
pub(crate) struct Credentials {
    source: Token,
    current: RwLock<Arc<Generation>>,
    /// One read after another, so that an older one never comes last.
    refreshing: Mutex<()>,
    revoked: RevokedCookies,
    browsers: Browsers,
}

/// From one token to the next.
#[derive(Debug, Default)]
struct Generation {
    /// Without a token nothing is authenticated.
    keys: Option<Keys>,
    ended: CancellationToken,
    /// The cookies that were presented, by id.
    cookies: Mutex<HashMap<String, CookieUse>>,
}

#[derive(Debug)]
struct Keys {
    token: Hash,
    cookies: CookieKey,
}

#[derive(Debug)]
struct CookieUse {
    ends: u64,
    /// Cancelled when the browser signs out.
    ended: CancellationToken,
}

/// A token that a client presents. Only hashes are compared, in constant time.
#[derive(Debug)]
pub(super) struct PresentedToken(Hash);

struct Hash([u8; 32]);

impl PresentedToken {
    pub(super) fn new(token: &[u8]) -> Self {
        Self(Hash(Sha256::digest(token).into()))
    }
}

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hash")
    }
}

impl Credentials {
    /// `revoked_cookies` is the file in which sign-outs are kept, with the list of browsers beside it; without it they are
    /// forgotten with the process.
    pub(crate) fn new(source: Token, revoked_cookies: Option<PathBuf>) -> Self {
        let (current, refreshing) = Default::default();
        let browsers = Browsers::new(revoked_cookies.as_ref().map(|path| path.with_file_name(browsers::FILE)));
        let revoked = RevokedCookies::new(revoked_cookies);
        let credentials = Self { source, current, refreshing, revoked, browsers };
        credentials.refresh();
        credentials
    }

    /// Cancelled when the token is replaced. `None` without a token.
    pub(super) fn token_ended(&self) -> Option<CancellationToken> {
        let current = self.current();
        current.keys.as_ref().map(|_| current.ended.clone())
    }

    pub(super) fn check_token(&self, presented: &PresentedToken) -> Option<Authenticated> {
        let current = self.current();
        let keys = current.keys.as_ref()?;
        bool::from(keys.token.0.ct_eq(&presented.0.0)).then(|| Authenticated(current.ended.clone()))
    }

    pub(super) fn check_cookie(&self, value: &str, scope: &CookieScope) -> Option<(Authenticated, Credential)> {
        let current = self.current();
        let ValidCookie { id, ends } = cookie::verify(value, &current.keys.as_ref()?.cookies, scope)?;
        let mut cookies = current.cookies();
        // Checked under the lock: a sign-out either is seen here, or cancels what is put into the map here.
        if self.revoked.contains(&id) {
            return None;
        }
        let of_cookie = || CookieUse { ends, ended: current.ended.child_token() };
        let ended = cookies.entry(id.clone()).or_insert_with(of_cookie).ended.clone();
        Some((Authenticated(ended), Credential::Cookie(id)))
    }

    pub(super) fn new_cookie(&self, scope: &CookieScope) -> Option<String> {
        cookie::make(&self.current().keys.as_ref()?.cookies, scope)
    }

    /// From now on the cookie is refused, and what is open with it ends.
    pub(super) fn revoke_cookie(&self, value: &str, scope: &CookieScope) {
        let current = self.current();
        let Some(keys) = &current.keys else { return };
        let Some(ValidCookie { id, ends }) = cookie::verify(value, &keys.cookies, scope) else { return };
        if let Err(error) = self.revoked.add(&id, ends) {
            tracing::warn!(event = "sign_out_not_kept", %error, "the cookie is refused until this process ends");
        }
        current.end_revoked(&self.revoked);
    }

    /// Notes the browser that presented the cookie with this id.
    pub(super) fn note_browser(&self, id: &str, headers: &HeaderMap) {
        let current = self.current();
        let Some(keys) = &current.keys else { return };
        let Some(ends) = current.cookies().get(id).map(|cookie| cookie.ends) else { return };
        let link = CookieScope::of(headers).browser_secret(headers).map(|secret| secret.hashed());
        self.browsers.note(id, ends, keys.cookies.mark(), link, headers);
    }

    /// The browsers that are signed in, the one that was seen last first.
    pub(super) fn browsers(&self) -> Vec<SignedInBrowser> {
        self.current()
            .keys
            .as_ref()
            .map_or_else(Vec::new, |keys| self.browsers.list(keys.cookies.mark(), |id| self.revoked.contains(id)))
    }

    /// Ends the cookie of the browser with this name among clients. `None` if no browser has it.
    pub(super) fn end_browser(&self, client: &str) -> Option<SignedInBrowser> {
        let browser = self.browsers().into_iter().find(|browser| browser.client() == client)?;
        if let Err(error) = self.revoked.add(&browser.cookie, browser.ends) {
            tracing::warn!(event = "sign_out_not_kept", %error, "the cookie is refused until this process ends");
        }
        self.current().end_revoked(&self.revoked);
        Some(browser)
    }

    /// Writes the list of browsers if there is something to write.
    pub(super) fn write_browsers(&self) {
        // Without a readable token it is not known which cookies are valid.
        if let Some(keys) = &self.current().keys {
            self.browsers.write(keys.cookies.mark(), |id| self.revoked.contains(id));
        }
    }

    /// Reads the token and the revoked cookies again. Without a readable token nothing is authenticated.
    pub(super) fn refresh(&self) {
        let _one = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.revoked.refresh() {
            self.current().end_revoked(&self.revoked);
        }
        let token = self.source.read().unwrap_or_else(|error| {
            tracing::warn!(event = "token_unreadable", %error, "every request that needs the token is refused");
            None
        });
        let keys = token.map(|token| Keys {
            token: PresentedToken::new(token.expose_secret().as_bytes()).0,
            cookies: CookieKey::new(token.expose_secret()),
        });
        let current = self.current();
        let same = match (&current.keys, &keys) {
            (Some(old), Some(new)) => old.token.0 == new.token.0,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if same {
            current.forget_ended_cookies();
            return;
        }
        if current.keys.is_some() {
            tracing::info!(event = "token_changed", "what was authenticated with the old token ends");
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(Generation { keys, ..Generation::default() });
        current.ended.cancel();
    }

    fn current(&self) -> Arc<Generation> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Generation {
    fn end_revoked(&self, revoked: &RevokedCookies) {
        self.cookies().retain(|id, cookie| {
            let keep = !revoked.contains(id);
            if !keep {
                cookie.ended.cancel();
            }
            keep
        });
    }

    fn forget_ended_cookies(&self) {
        let now = cookie::now();
        self.cookies().retain(|_, cookie| {
            let keep = now < cookie.ends;
            if !keep {
                cookie.ended.cancel();
            }
            keep
        });
    }

    fn cookies(&self) -> MutexGuard<'_, HashMap<String, CookieUse>> {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
