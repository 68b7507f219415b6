//! Errors of the libraries become problems, and every response gets default headers.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use planwright_core::refusal::{Refusal, RefusalCode};

use crate::http::problem::ApiProblem;

/// Unless the response says otherwise, a browser stores, runs and embeds nothing of it.
const DEFAULT_HEADERS: [(HeaderName, HeaderValue); 6] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    // A page that opened ours, or that ours opened, has no hold on it.
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

pub(super) fn add_default_headers(response: &mut Response) {
    let headers = response.headers_mut();
    for (name, value) in &DEFAULT_HEADERS {
        headers.entry(name).or_insert_with(|| value.clone());
    }
}

/// The libraries answer unknown paths and methods in formats of their own.
pub(super) fn as_problem(response: Response) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_ours = kind.is_some_and(|kind| {
        kind.as_bytes().starts_with(b"application/problem+json") || kind.as_bytes().starts_with(b"text/html")
    });
    if !is_error || is_ours {
        return response;
    }
    with_kept_headers(&response, described(status).into_response())
}

/// The library for MCP answers with an error of JSON-RPC where it has read the request, and in plain words before that. Clients get
/// an error of JSON-RPC for both.
pub(super) fn as_json_rpc(response: Response) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !is_error || is_json {
        return response;
    }
    let problem = match status {
        StatusCode::NOT_FOUND => {
            ApiProblem::new(Refusal::not_found("There is no such connection any more; begin one with `initialize`."))
        }
        status => described(status),
    };
    with_kept_headers(&response, problem.into_json_rpc())
}

fn described(status: StatusCode) -> ApiProblem {
    let (code, message) = describe(status);
    ApiProblem::new(Refusal::new(code, message)).with_status(status)
}

fn with_kept_headers(response: &Response, mut problem: Response) -> Response {
    for name in [header::ALLOW, header::SEC_WEBSOCKET_VERSION, header::UPGRADE, header::RETRY_AFTER] {
        if let Some(value) = response.headers().get(&name) {
            problem.headers_mut().insert(name, value.clone());
        }
    }
    problem
}

fn describe(status: StatusCode) -> (RefusalCode, &'static str) {
    match status {
        StatusCode::UNAUTHORIZED => (RefusalCode::Unauthenticated, "sign in"),
        StatusCode::FORBIDDEN => (RefusalCode::PolicyDenied, "this is not allowed"),
        StatusCode::NOT_FOUND => (RefusalCode::NotFound, "this path does not exist"),
        StatusCode::METHOD_NOT_ALLOWED => (RefusalCode::InvalidArgument, "this path does not have this method"),
        StatusCode::CONFLICT => (RefusalCode::Conflict, "the request is in conflict with the current state"),
        StatusCode::REQUEST_TIMEOUT => (RefusalCode::LimitExceeded, "the request did not arrive in time"),
        StatusCode::PAYLOAD_TOO_LARGE => (RefusalCode::LimitExceeded, "the request is too large"),
        StatusCode::TOO_MANY_REQUESTS => (RefusalCode::LimitExceeded, "there are too many requests"),
        StatusCode::SERVICE_UNAVAILABLE => (RefusalCode::Unavailable, "the server is not available now"),
        status if status.is_server_error() => (RefusalCode::Internal, "the request failed"),
        _ => (RefusalCode::InvalidArgument, "the request cannot be understood"),
    }
}
