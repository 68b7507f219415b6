//! The pages for browsers, and signing in and out. The start page works without a script; its script only takes the token
//! out of the address that was printed at the first start.
//!
//! - `dashboard`: the dashboard, if this build has it
//! - `login`: a token for a cookie
//! - `start`: what the start page says

pub(super) mod dashboard;
mod login;
mod start;

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Router};

use super::access::Access;
use super::app::App;

/// Only our own files, nothing inline, never in a frame. A picture may be part of a text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(super) fn router(access: Arc<Access>) -> Router<App> {
    let sign_in = post(login::sign_in).with_state(Arc::clone(&access));
    let sign_in_with_link = post(login::sign_in_with_link).layer(Extension(Arc::clone(&access)));
    let sign_out = post(login::sign_out).layer(Extension(access));
    dashboard::router()
        .route("/start", get(start::show))
        .route("/start.js", get(async || asset("text/javascript; charset=utf-8", include_str!("page/start.js"))))
        .route("/start.css", get(async || asset("text/css; charset=utf-8", include_str!("page/start.css"))))
        .route("/icon.svg", get(async || asset("image/svg+xml", include_str!("page/icon.svg"))))
        .route("/api/login", sign_in)
        .route("/api/login/link", sign_in_with_link)
        .route("/api/logout", sign_out)
}

fn asset(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text)
}

/// What our page may do.
fn page_headers() -> [(HeaderName, HeaderValue); 3] {
    [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        // With `no-referrer` a browser sends a form of this very page as if it came from nowhere: `Origin: null`.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    ]
}
