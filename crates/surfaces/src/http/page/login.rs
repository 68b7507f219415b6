//! Signing in with the token for a cookie, by script or by a plain form, and signing out.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Form, Json};
use planwright_core::refusal::{Refusal, RefusalCode};
use serde::Deserialize;
use serde_json::json;

use super::start;
use crate::http::access::{Access, Peer};
use crate::http::extract::{Body, read_body};
use crate::http::problem::{ApiResult, Problem};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignIn {
    token: String,
}

/// `POST /api/login`
pub(super) async fn sign_in(
    State(access): State<Arc<Access>>,
    Extension(from): Extension<Peer>,
    request: Request,
) -> Response {
    let (headers, is_form) = (request.headers().clone(), is_form(request.headers()));
    let read = read(request, is_form).await;
    match read.and_then(|presented| access.sign_in(from, &headers, presented.token.trim())) {
        Ok(cookie) => answer(is_form, true, &cookie),
        Err(problem) if is_form => start::refused(&problem),
        Err(problem) => problem.into_response(),
    }
}

/// `POST /api/logout`. The browser's cookie is removed and is not accepted any more.
pub(super) async fn sign_out(State(access): State<Arc<Access>>, headers: HeaderMap) -> Response {
    let is_form = is_form(&headers);
    // The revocation is written to disk.
    let revoked = tokio::task::spawn_blocking(move || access.sign_out(&headers)).await;
    match revoked {
        Ok(cookie) => answer(is_form, false, &cookie),
        Err(_) => Problem::new(Refusal::new(RefusalCode::Internal, "the cookie could not be revoked")).into_response(),
    }
}

async fn read(request: Request, is_form: bool) -> ApiResult<SignIn> {
    if !is_form {
        return Body::from_request(request, &()).await.map(|Body(presented)| presented);
    }
    let headers = request.headers().clone();
    let bytes: Bytes = read_body(request).await?;
    let mut request = Request::post("/").body(bytes.into()).unwrap_or_default();
    *request.headers_mut() = headers;
    let form = Form::<SignIn>::from_request(request, &()).await;
    form.map(|Form(presented)| presented).map_err(|_| not_a_form())
}

fn not_a_form() -> Problem {
    Refusal::invalid("the form has one field: token").into()
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    kind.starts_with(b"application/x-www-form-urlencoded")
}

/// A form leads back to the page; a program gets JSON.
fn answer(is_form: bool, signed_in: bool, cookie: &str) -> Response {
    let cookie = [(header::SET_COOKIE, cookie)];
    if is_form {
        (StatusCode::SEE_OTHER, cookie, [(header::LOCATION, "/")]).into_response()
    } else {
        (cookie, Json(json!({ "signedIn": signed_in }))).into_response()
    }
}
