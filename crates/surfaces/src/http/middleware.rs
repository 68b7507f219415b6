//! The middleware around every request: authentication, the log line, metrics, default headers, and panics.
//!
//! - `responses`: errors of the libraries become problems, and headers that every response has
//! - `revocable_body`: a response that stays open ends when its credentials are revoked

mod responses;
mod revocable_body;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::RequestExt;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use tracing::{Instrument, Span, field};

use super::access::client::Client;
use super::access::{Access, Authenticated};
use super::mcp;
use super::metrics::Metrics;
use super::page::dashboard;
use super::problem::ApiProblem;

#[derive(Debug, Clone)]
pub(super) struct RequestHandling {
    pub(super) access: Arc<Access>,
    pub(super) metrics: Metrics,
}

pub(super) async fn handle(State(handling): State<RequestHandling>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let unknown_page = if route == "none" { dashboard::for_unknown_path(&request) } else { None };
    let id = next_id();
    // Every line that is logged for the request carries these fields.
    let span = tracing::info_span!(
        "request",
        request_id = %id,
        session_identity = field::Empty,
        transport_chat_hash = field::Empty,
    );

    let mut response = match handling.access.admit(request) {
        Ok(request) => run(request, next, route, &span).await,
        Err(problem) if mcp::is_route(route) => problem.into_json_rpc(),
        Err(problem) => problem.into_response(),
    };
    if let Some(page) = unknown_page
        && matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED)
    {
        response = page;
    }
    responses::add_default_headers(&mut response);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-request-id", id);
    }
    let (status, took) = (response.status(), begun.elapsed());
    handling.metrics.answered(&method, route, status, took);
    span.in_scope(|| log(&method, route, status, took));
    response
}

async fn run(mut request: Request, next: Next, route: &str, span: &Span) -> Response {
    if !span.is_disabled() {
        if let Some(client) = request.extensions().get::<Client>() {
            span.record("transport_chat_hash", client.transport().short_hash());
        }
        if route.contains("{sessionId}") {
            record_session(&mut request, route, span).await;
        }
    }
    let authenticated = request.extensions().get::<Authenticated>().cloned();
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone()).await;
    let is_mcp = mcp::is_route(route);
    let response = answered.unwrap_or_else(|_| {
        tracing::error!(event = "request_panicked", route);
        let problem = ApiProblem::new(Refusal::new(RefusalCode::Internal, "the request failed"));
        if is_mcp { problem.into_json_rpc() } else { problem.into_response() }
    });
    let response = if is_mcp { responses::as_json_rpc(response) } else { responses::as_problem(response) };
    match authenticated {
        Some(Authenticated(until)) => revocable_body::until(response, until),
        None => response,
    }
}

/// Records the session that the path names.
async fn record_session(request: &mut Request, route: &str, span: &Span) {
    let Ok(params) = request.extract_parts::<RawPathParams>().await else { return };
    let Some((_, key)) = params.iter().find(|(name, _)| *name == "sessionId") else { return };
    if route == mcp::SESSION_ROUTE {
        if let Some(session) = mcp::session_of_path(key) {
            span.record("session_identity", field::display(session));
        }
        return;
    }
    let query = request.uri().query().unwrap_or_default();
    let channel = query.split('&').find_map(|pair| pair.strip_prefix("channel=")).unwrap_or(Channel::Web.as_str());
    // Only a valid session identity is logged: other text could be a secret.
    if let (Ok(channel), Ok(key)) = (channel.parse(), ConversationKey::existing(key)) {
        span.record("session_identity", field::display(SessionIdentity::new(channel, key)));
    }
}

/// Logs the route and never the rest of the request: paths, headers and bodies may hold secrets and personal text.
fn log(method: &Method, route: &str, status: StatusCode, took: Duration) {
    let (code, milliseconds) = (status.as_u16(), took.as_secs_f64() * 1000.0);
    // A flood of requests must not become a flood of lines; the metrics count them.
    let is_quiet = status == StatusCode::TOO_MANY_REQUESTS
        || matches!(route, "/healthz" | "/readyz" | "/metrics" | "/assets/{*file}" | "/manifest.webmanifest")
        || [".js", ".css", ".svg", ".png"].iter().any(|suffix| route.ends_with(suffix));
    if status.is_server_error() {
        tracing::warn!(event = "http_request", %method, route, status = code, milliseconds);
    } else if is_quiet {
        tracing::debug!(event = "http_request", %method, route, status = code, milliseconds);
    } else {
        tracing::info!(event = "http_request", %method, route, status = code, milliseconds);
    }
}

/// Unique among all processes, as far as four random bytes go.
fn next_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static START: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let start = START.get_or_init(|| {
        let mut chance = [0; 4];
        let _ = getrandom::fill(&mut chance);
        hex::encode(chance)
    });
    format!("{start}-{:x}", COUNT.fetch_add(1, Ordering::Relaxed))
}
