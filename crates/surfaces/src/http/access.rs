//! Who comes in. Everything is behind this but a short list of open places.
//!
//! In this order: the request is meant for this server ([`places`]), no foreign web page asks, there are not too many
//! requests, and whoever asks knows the token ([`keys`]) or has the cookie that was given for it ([`cookie`]).
//!
//! - `authority`: what stands in `Host` and `Origin`
//! - `guessing`: wrong tokens are counted by address

mod authority;
pub(super) mod cookie;
mod guessing;
pub(super) mod keys;
pub(super) mod places;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use governor::clock::{Clock, MonotonicClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use planwright_core::refusal::{Refusal, RefusalCode};
use tokio_util::sync::CancellationToken;

use self::guessing::Guessing;
use self::keys::{Keys, Presented};
use self::places::Places;
use super::ServerLimits;
use super::extract::intake::Intake;
use super::problem::{Answered, Problem};

/// How often a token in a file is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Who is at the other end of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Let in, until the token changes: what stays open ends when this is cancelled.
#[derive(Debug, Clone)]
pub(crate) struct Admitted(pub(crate) CancellationToken);

#[derive(Debug)]
pub(crate) struct Access {
    keys: Keys,
    places: Places,
    guessing: Guessing,
    requests: Option<DefaultDirectRateLimiter>,
    intake: Intake,
}

impl Access {
    pub(crate) fn new(keys: Keys, places: Places, limits: &ServerLimits) -> Self {
        let requests = NonZeroU32::new(limits.requests_per_second).map(|rate| {
            let burst = NonZeroU32::new(limits.burst).unwrap_or(rate);
            RateLimiter::direct(Quota::per_second(rate).allow_burst(burst))
        });
        let intake =
            Intake { body_bytes: limits.body_bytes, body_time: limits.body_time, json_depth: limits.json_depth };
        Self { keys, places, guessing: Guessing::new(limits.wrong_tokens_per_minute), requests, intake }
    }

    /// The request as handlers may have it, with [`Admitted`] if whoever asks may come in.
    pub(crate) fn admit(&self, mut request: Request) -> Answered<Request> {
        self.places.check(&request)?;
        if request.uri().path() != "/healthz" {
            self.check_rate()?;
        }
        match self.who(&request) {
            Ok(admitted) => {
                request.extensions_mut().insert(admitted);
            }
            Err(_) if is_open(request.method(), request.uri().path()) => {}
            Err(problem) => return Err(problem),
        }
        self.intake.watch(request)
    }

    /// Somebody shows a token: a cookie for it, or a refusal.
    pub(crate) fn sign_in(&self, from: Peer, token: &str) -> Answered<String> {
        let admitted = self.check_token(from.0.ip(), &Presented::new(token.as_bytes()))?;
        drop(admitted);
        self.keys.cookie().ok_or_else(|| unauthenticated("there is no token any more"))
    }

    /// Keeps up with a token that is replaced, until it is aborted.
    pub(crate) async fn watch(self: Arc<Self>) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let access = Arc::clone(&self);
            let looked = tokio::task::spawn_blocking(move || {
                access.keys.refresh();
                access.guessing.tidy();
            });
            if let Err(error) = looked.await {
                tracing::error!(event = "token_watch_failed", %error);
            }
        }
    }

    fn check_rate(&self) -> Answered<()> {
        let Some(requests) = &self.requests else { return Ok(()) };
        requests.check().map_err(|until| {
            let wait = until.wait_time_from(MonotonicClock.now());
            too_many("there are too many requests", wait)
        })
    }

    fn who(&self, request: &Request) -> Answered<Admitted> {
        let (headers, open) = (request.headers(), is_open(request.method(), request.uri().path()));
        if !headers.contains_key(header::AUTHORIZATION) {
            return self.by_cookie(request);
        }
        // Nobody guesses where nothing is to be had.
        if open {
            return Err(unauthenticated("this place is open"));
        }
        let Some(token) = bearer(headers) else {
            return Err(unauthenticated("send one header `Authorization: Bearer TOKEN`"));
        };
        let from = request.extensions().get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
        self.check_token(from, &Presented::new(token))
    }

    fn check_token(&self, from: IpAddr, presented: &Presented) -> Answered<Admitted> {
        self.guessing.check(from).map_err(|wait| too_many("there were too many wrong tokens", wait))?;
        if let Some(admitted) = self.keys.admit(presented) {
            return Ok(admitted);
        }
        self.guessing.count(from).map_err(|wait| too_many("there were too many wrong tokens", wait))?;
        // It may be the new one of somebody who just replaced it.
        self.keys.refresh();
        self.keys.admit(presented).ok_or_else(|| unauthenticated("this is not the token"))
    }

    /// A cookie is sent by the browser, whoever made it do so: what changes anything has to come from our own page.
    fn by_cookie(&self, request: &Request) -> Answered<Admitted> {
        let headers = request.headers();
        let cookies = cookie::all(headers);
        if cookies.is_empty() {
            return Err(unauthenticated("send the header `Authorization: Bearer TOKEN`, or sign in"));
        }
        let Some(admitted) = cookies.iter().find_map(|cookie| self.keys.admit_cookie(cookie)) else {
            return Err(unauthenticated("the cookie is not valid any more; sign in again"));
        };
        let is_safe = matches!(*request.method(), Method::GET | Method::HEAD) && !headers.contains_key(header::UPGRADE);
        if is_safe || headers.contains_key(header::ORIGIN) {
            Ok(admitted)
        } else {
            Err(Refusal::policy_denied("with the cookie this needs an `Origin`, which browsers send").into())
        }
    }
}

/// What may be read without the token. Whatever is not here needs it, also what does not exist.
pub(super) const OPEN_TO_READ: [&str; 6] = ["/", "/start.js", "/start.css", "/icon.svg", "/healthz", "/readyz"];

/// What may be posted without the token: the token itself.
pub(super) const OPEN_TO_POST: [&str; 1] = ["/api/login"];

fn is_open(method: &Method, path: &str) -> bool {
    match *method {
        Method::GET | Method::HEAD => OPEN_TO_READ.contains(&path),
        Method::POST => OPEN_TO_POST.contains(&path),
        _ => false,
    }
}

/// The token of the one `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(header::AUTHORIZATION).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.as_bytes().split_at_checked(7)?;
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

fn unauthenticated(message: &str) -> Problem {
    Refusal::new(RefusalCode::Unauthenticated, message).into()
}

fn too_many(message: &str, wait: Duration) -> Problem {
    Problem::new(Refusal::limit(message)).with_status(StatusCode::TOO_MANY_REQUESTS).retry_after(wait)
}

/// A handler that asks for it cannot be reached around the door.
impl<S: Send + Sync> FromRequestParts<S> for Admitted {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answered<Self> {
        parts.extensions.get().cloned().ok_or_else(|| unauthenticated("sign in"))
    }
}
