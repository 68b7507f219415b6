//! A token for a cookie, by script or by a plain form.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Form, Json};
use serde::Deserialize;
use serde_json::json;

use super::start;
use crate::http::access::places::came_encrypted;
use crate::http::access::{Access, Peer, cookie};
use crate::http::extract::{Body, whole};
use crate::http::problem::{Answered, Problem};

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
    let signed_in = read(request, is_form).await.and_then(|shown| access.sign_in(from, shown.token.trim()));
    let value = match signed_in {
        Ok(value) => value,
        Err(problem) if is_form => return start::refused(&problem),
        Err(problem) => return problem.into_response(),
    };
    let cookie = cookie::set(&value, came_encrypted(&headers));
    answer(is_form, true, &cookie)
}

/// `POST /api/logout`. The cookie is gone from this browser; only a new token makes it worthless everywhere.
pub(super) async fn sign_out(headers: HeaderMap) -> Response {
    answer(is_form(&headers), false, &cookie::clear())
}

async fn read(request: Request, is_form: bool) -> Answered<SignIn> {
    if !is_form {
        return Body::from_request(request, &()).await.map(|Body(shown)| shown);
    }
    let headers = request.headers().clone();
    let bytes: Bytes = whole(request).await?;
    let mut request = Request::post("/").body(bytes.into()).unwrap_or_default();
    *request.headers_mut() = headers;
    let form = Form::<SignIn>::from_request(request, &()).await;
    form.map(|Form(shown)| shown).map_err(|_| not_a_form())
}

fn not_a_form() -> Problem {
    planwright_core::refusal::Refusal::invalid("the form has one field: token").into()
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
