//! What happens to every request and every answer, whatever it is about: it is let in or not, it is logged and counted,
//! and its answer says what a browser may do with it.
//!
//! - `ending`: an answer that goes on for long ends when the token is replaced
//! - `shape`: refusals that others made become problems, and headers that every answer has

mod ending;
mod shape;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::RequestExt;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use tracing::{Instrument, Span, field};

use super::access::{Access, Admitted};
use super::metrics::Metrics;
use super::problem::Problem;

#[derive(Debug, Clone)]
pub(super) struct Entrance {
    pub(super) access: Arc<Access>,
    pub(super) metrics: Metrics,
}

pub(super) async fn enter(State(entrance): State<Entrance>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let id = next_id();
    // What is done for the request is logged with its number and its session.
    let span = tracing::info_span!("request", request_id = %id, session_identity = field::Empty);

    let mut response = match entrance.access.admit(request) {
        Ok(request) => pass(request, next, route, &span).await,
        Err(problem) => problem.into_response(),
    };
    shape::dress(&mut response);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-request-id", id);
    }
    let (status, took) = (response.status(), begun.elapsed());
    entrance.metrics.answered(&method, route, status, took);
    span.in_scope(|| log(&method, route, status.as_u16(), took.as_secs_f64() * 1000.0));
    response
}

async fn pass(request: Request, next: Next, route: &str, span: &Span) -> Response {
    let mut request = request;
    if route.contains("{sessionId}") && !span.is_disabled() {
        tell_session(&mut request, span).await;
    }
    let admitted = request.extensions().get::<Admitted>().cloned();
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone()).await;
    let response = answered.unwrap_or_else(|_| {
        tracing::error!(event = "request_panicked", route);
        Problem::new(Refusal::new(RefusalCode::Internal, "something went wrong while answering")).into_response()
    });
    let response = shape::as_problem(response);
    match admitted {
        Some(Admitted(until)) => ending::until(response, until),
        None => response,
    }
}

/// The session that is named in the address, for the log.
async fn tell_session(request: &mut Request, span: &Span) {
    let Ok(params) = request.extract_parts::<RawPathParams>().await else { return };
    let Some((_, key)) = params.iter().find(|(name, _)| *name == "sessionId") else { return };
    let query = request.uri().query().unwrap_or_default();
    let channel = query.split('&').find_map(|pair| pair.strip_prefix("channel=")).unwrap_or(Channel::Web.as_str());
    // Only what is surely a session is logged; anything else could be anything.
    if let (Ok(channel), Ok(key)) = (channel.parse(), ConversationKey::existing(key)) {
        span.record("session_identity", field::display(SessionIdentity::new(channel, key)));
    }
}

/// Never what was asked beyond the route: addresses, headers and bodies may hold secrets and people's words.
fn log(method: &axum::http::Method, route: &str, status: u16, milliseconds: f64) {
    let is_routine = matches!(route, "/healthz" | "/readyz" | "/metrics" | "/start.js" | "/start.css" | "/icon.svg");
    if status >= 500 {
        tracing::warn!(event = "http_request", %method, route, status, milliseconds);
    } else if is_routine {
        tracing::debug!(event = "http_request", %method, route, status, milliseconds);
    } else {
        tracing::info!(event = "http_request", %method, route, status, milliseconds);
    }
}

/// Unlike any other of this process.
fn next_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static START: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let start = START.get_or_init(|| {
        let mut chance = [0; 4];
        let _ = getrandom::fill(&mut chance);
        super::token::hex(&chance)
    });
    format!("{start}-{:x}", COUNT.fetch_add(1, Ordering::Relaxed))
}
