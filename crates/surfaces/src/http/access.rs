//! Authentication. Every endpoint requires the token, except a short list of open ones.
//!
//! A request is meant for this server and comes from one of its pages ([`allowed_hosts`]); then it presents the token
//! ([`credentials`]) or the cookie of a browser that signed in ([`cookie`]). Requests are limited after that, so that
//! those without the token never use up what the owner may send ([`request_rate`]).
//!
//! - `authority`: the syntax of `Host` and `Origin`
//! - `browsers`: the browsers that are signed in
//! - `client`: which client sent a request
//! - `revoked_cookies`: cookies of browsers that signed out
//! - `start_link`: the link that the server shows when it starts
//! - `token_throttle`: wrong tokens are counted by address

pub(super) mod allowed_hosts;
mod authority;
mod browsers;
pub(super) mod client;
pub(super) mod cookie;
pub(super) mod credentials;
mod request_rate;
mod revoked_cookies;
mod start_link;
mod token_throttle;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_engine::approvals::BrowserSecret;
use tokio_util::sync::CancellationToken;

use self::allowed_hosts::AllowedHosts;
use self::client::Client;
use self::cookie::CookieScope;
use self::credentials::{Credential, Credentials, PresentedToken};
use self::request_rate::RequestRate;
use self::start_link::StartLink;
use self::token_throttle::TokenThrottle;
use super::ServerLimits;
use super::extract::body_limits::BodyLimits;
use super::problem::{ApiProblem, ApiResult};
use super::server::connection::ConnectionHandle;
use super::webhook::{self, UpdateReceiver};

pub(super) use self::browsers::SignedInBrowser;

/// How often the files of the token and of revoked cookies are read.
const REFRESH: Duration = Duration::from_millis(250);

/// A file that is sent to a session may be larger than other bodies.
const FILE_BYTES: usize = 10 * 1024 * 1024;

/// Without the token only the login has a body, and that is small.
const UNAUTHENTICATED_BODY_BYTES: usize = 8 * 1024;

/// The address at the other end of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The request presented valid credentials. Responses and WebSockets that stay open end when this is cancelled: the
/// token was replaced, or the browser signed out.
#[derive(Debug, Clone)]
pub(crate) struct Authenticated(pub(crate) CancellationToken);

#[derive(Debug)]
pub(crate) struct Access {
    credentials: Credentials,
    hosts: AllowedHosts,
    wrong_tokens: TokenThrottle,
    rate: RequestRate,
    body_limits: BodyLimits,
    start_link: StartLink,
    updates: Option<Arc<dyn UpdateReceiver>>,
}

impl Access {
    pub(crate) fn new(credentials: Credentials, hosts: AllowedHosts, limits: &ServerLimits) -> Self {
        let ServerLimits { body_bytes, body_time, json_depth, .. } = *limits;
        Self {
            credentials,
            hosts,
            wrong_tokens: TokenThrottle::new(limits.wrong_tokens_per_minute),
            rate: RequestRate::new(limits),
            body_limits: BodyLimits { body_bytes, body_time, json_depth },
            start_link: StartLink::default(),
            updates: None,
        }
    }

    /// Adds the receiver of Telegram's updates.
    pub(crate) fn with_updates(self, updates: Option<Arc<dyn UpdateReceiver>>) -> Self {
        Self { updates, ..self }
    }

    pub(crate) fn updates(&self) -> Option<&Arc<dyn UpdateReceiver>> {
        self.updates.as_ref()
    }

    /// The request as handlers get it. If it is authenticated it carries [`Authenticated`] and its [`Client`].
    pub(crate) fn admit(&self, mut request: Request) -> ApiResult<Request> {
        let from = address(&request);
        self.hosts.check(&request).map_err(|problem| self.refuse(from, problem))?;
        let mut body_limits = self.body_limits;
        if let Some(updates) = self.updates.as_deref().filter(|_| is_own_secret(&request)) {
            if !webhook::is_authentic(updates, request.headers()) {
                return Err(self.refuse(from, unauthenticated("this is not the secret of the webhook")));
            }
            if let Some(connection) = request.extensions().get::<ConnectionHandle>() {
                connection.set_authenticated();
            }
            return body_limits.apply(request);
        }
        match self.authenticate(&request) {
            Ok((authenticated, credential)) => {
                if let Some(connection) = request.extensions().get::<ConnectionHandle>() {
                    connection.set_authenticated();
                }
                self.rate.check_authenticated().map_err(|wait| too_many("there are too many requests", wait))?;
                if let Credential::Cookie(id) = &credential {
                    self.credentials.note_browser(id, request.headers());
                }
                if is_file_sent(&request) {
                    body_limits.body_bytes = body_limits.body_bytes.max(FILE_BYTES);
                }
                let client = Client::new(&credential, from, request.headers());
                request.extensions_mut().insert(authenticated);
                request.extensions_mut().insert(client);
            }
            // Answering an open endpoint costs no more than refusing the request.
            Err(_) if is_open(request.method(), request.uri().path()) => {
                body_limits.body_bytes = body_limits.body_bytes.min(UNAUTHENTICATED_BODY_BYTES);
            }
            Err(problem) => return Err(self.refuse(from, problem)),
        }
        body_limits.apply(request)
    }

    /// The `Set-Cookie` header for a browser that presents the token.
    pub(crate) fn sign_in(&self, from: Peer, headers: &HeaderMap, token: &str) -> ApiResult<String> {
        self.check_token(from.0.ip(), &PresentedToken::new(token.as_bytes()))?;
        let scope = CookieScope::of(headers);
        let value = self.credentials.new_cookie(&scope);
        let value = value.ok_or_else(|| unauthenticated("there is no token any more"))?;
        Ok(scope.set(&value, allowed_hosts::came_encrypted(headers)))
    }

    /// Refuses links of an address that presented too many wrong ones.
    pub(crate) fn check_links(&self, from: Peer) -> ApiResult<()> {
        self.wrong_tokens.check(from.0.ip()).map_err(|wait| too_many("there were too many wrong links", wait))
    }

    /// A wrong link counts like a wrong token.
    pub(crate) fn count_wrong_link(&self, from: Peer) {
        let _ = self.wrong_tokens.count(from.0.ip());
    }

    /// The secret of a link that signs one browser in as the token does. `None` without a token.
    pub(crate) fn make_start_link(&self) -> Option<String> {
        self.start_link.make(self.credentials.token_ended()?)
    }

    /// The `Set-Cookie` header for a browser that presents the link of the start. `None` if this is not its secret.
    pub(crate) fn use_start_link(&self, headers: &HeaderMap, secret: &str) -> Option<String> {
        if !self.start_link.take(secret) {
            return None;
        }
        let scope = CookieScope::of(headers);
        let value = self.credentials.new_cookie(&scope)?;
        Some(scope.set(&value, allowed_hosts::came_encrypted(headers)))
    }

    /// The `Set-Cookie` headers for a browser that used a link of a person: the cookie of every browser that signed in, and
    /// the one that this browser is recognised by.
    pub(crate) fn sign_in_browser(&self, headers: &HeaderMap, secret: &BrowserSecret) -> ApiResult<[String; 2]> {
        let (scope, encrypted) = (CookieScope::of(headers), allowed_hosts::came_encrypted(headers));
        let value = self.credentials.new_cookie(&scope).ok_or_else(|| unauthenticated("there is no token any more"))?;
        Ok([scope.set(&value, encrypted), scope.set_browser(secret, encrypted)])
    }

    /// Revokes the cookies of this request, and gives the `Set-Cookie` headers that remove them from the browser.
    pub(crate) fn sign_out(&self, headers: &HeaderMap) -> [String; 2] {
        let scope = CookieScope::of(headers);
        scope.values(headers).into_iter().for_each(|value| self.credentials.revoke_cookie(value, &scope));
        [scope.clear(), scope.clear_browser()]
    }

    /// The browsers that are signed in, the one that was seen last first.
    pub(crate) fn browsers(&self) -> Vec<SignedInBrowser> {
        self.credentials.browsers()
    }

    /// Ends the cookie of a browser, and what is open with it. `None` if no browser has this name.
    pub(crate) fn end_browser(&self, client: &str) -> Option<SignedInBrowser> {
        self.credentials.end_browser(client)
    }

    /// Reads a replaced token and newly revoked cookies, until it is aborted.
    pub(crate) async fn watch(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(REFRESH);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let access = Arc::clone(&self);
            let refreshed = tokio::task::spawn_blocking(move || {
                access.credentials.refresh();
                access.credentials.write_browsers();
                access.wrong_tokens.tidy();
                access.rate.tidy();
            });
            if let Err(error) = refreshed.await {
                tracing::error!(event = "token_watch_failed", %error);
            }
        }
    }

    /// A refused request counts for its address; beyond the limit it is told to wait, and its connection is closed.
    fn refuse(&self, from: IpAddr, problem: ApiProblem) -> ApiProblem {
        match self.rate.count_refused(from) {
            Ok(()) => problem,
            Err(wait) => too_many("there are too many requests without a valid token", wait).closing_connection(),
        }
    }

    fn authenticate(&self, request: &Request) -> ApiResult<(Authenticated, Credential)> {
        let (headers, open) = (request.headers(), is_open(request.method(), request.uri().path()));
        if !headers.contains_key(header::AUTHORIZATION) {
            return self.authenticate_cookie(request);
        }
        // A wrong token at an open endpoint gains nothing, and is not counted.
        if open {
            return Err(unauthenticated("this endpoint is open"));
        }
        let Some(token) = bearer(headers) else {
            return Err(unauthenticated("send one header `Authorization: Bearer TOKEN`"));
        };
        let authenticated = self.check_token(address(request), &PresentedToken::new(token))?;
        Ok((authenticated, Credential::Token))
    }

    fn check_token(&self, from: IpAddr, presented: &PresentedToken) -> ApiResult<Authenticated> {
        self.wrong_tokens.check(from).map_err(|wait| too_many("there were too many wrong tokens", wait))?;
        if let Some(authenticated) = self.credentials.check_token(presented) {
            return Ok(authenticated);
        }
        self.wrong_tokens.count(from).map_err(|wait| too_many("there were too many wrong tokens", wait))?;
        // The token may have been replaced a moment ago.
        self.credentials.refresh();
        self.credentials.check_token(presented).ok_or_else(|| unauthenticated("this is not the token"))
    }

    /// A browser sends the cookie along with requests of any page: one that changes something has to come from our own.
    fn authenticate_cookie(&self, request: &Request) -> ApiResult<(Authenticated, Credential)> {
        let headers = request.headers();
        let scope = CookieScope::of(headers);
        let values = scope.values(headers);
        if values.is_empty() {
            return Err(unauthenticated("send the header `Authorization: Bearer TOKEN`, or sign in"));
        }
        let Some(found) = values.iter().find_map(|value| self.credentials.check_cookie(value, &scope)) else {
            return Err(unauthenticated("the cookie is not valid any more; sign in again"));
        };
        let is_safe = matches!(*request.method(), Method::GET | Method::HEAD) && !headers.contains_key(header::UPGRADE);
        if is_safe || headers.contains_key(header::ORIGIN) {
            Ok(found)
        } else {
            Err(Refusal::policy_denied("with the cookie this needs an `Origin`, which browsers send").into())
        }
    }
}

/// What may be read without the token. Every other path needs it, also one that does not exist.
pub(super) const OPEN_TO_READ: [&str; 12] = [
    "/",
    "/settings",
    "/start",
    "/start.js",
    "/start.css",
    "/icon.svg",
    "/icon-192.png",
    "/icon-512.png",
    "/manifest.webmanifest",
    "/sw.js",
    "/healthz",
    "/readyz",
];

/// Below these are the pages and files of the dashboard, which are the same for everyone and contain no data.
pub(super) const OPEN_BELOW: [&str; 3] = ["/assets/{*file}", "/p/{*rest}", "/s/{*rest}"];

/// What may be posted without the token: the token itself, and a link of `planwright dashboard`.
pub(super) const OPEN_TO_POST: [&str; 2] = ["/api/login", "/api/login/link"];

/// What may be posted with a secret of its own instead of the token, if the server is set up for it.
pub(super) const OWN_SECRET: [&str; 1] = [webhook::PATH];

fn is_own_secret(request: &Request) -> bool {
    *request.method() == Method::POST && OWN_SECRET.contains(&request.uri().path())
}

fn is_open(method: &Method, path: &str) -> bool {
    match *method {
        Method::GET | Method::HEAD => {
            OPEN_TO_READ.contains(&path) || OPEN_BELOW.iter().any(|route| is_below(path, route))
        }
        Method::POST => OPEN_TO_POST.contains(&path),
        _ => false,
    }
}

fn is_below(path: &str, route: &str) -> bool {
    let start = route.split('{').next().unwrap_or(route);
    path.len() > start.len() && path.starts_with(start)
}

fn is_file_sent(request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>();
    *request.method() == Method::POST && route.is_some_and(|route| route.as_str() == "/api/sessions/{sessionId}/files")
}

fn address(request: &Request) -> IpAddr {
    request.extensions().get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip())
}

/// The token of the one `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(header::AUTHORIZATION).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.as_bytes().split_at_checked(7)?;
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

fn unauthenticated(message: &str) -> ApiProblem {
    Refusal::new(RefusalCode::Unauthenticated, message).into()
}

fn too_many(message: &str, wait: Duration) -> ApiProblem {
    ApiProblem::new(Refusal::limit(message)).with_status(StatusCode::TOO_MANY_REQUESTS).retry_after(wait)
}

/// A handler that takes it cannot be reached without the middleware.
impl<S: Send + Sync> FromRequestParts<S> for Authenticated {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        parts.extensions.get().cloned().ok_or_else(|| unauthenticated("sign in"))
    }
}
