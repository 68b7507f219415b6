//! Signing in with the token for a cookie, by script or by a plain form, and signing out.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Form, Json};
use planwright_core::refusal::{Refusal, RefusalCode};
use serde::Deserialize;
use serde_json::json;

use super::start;
use crate::http::access::client::Client;
use crate::http::access::{Access, Peer};
use crate::http::app::App;
use crate::http::extract::{Body, read_body};
use crate::http::problem::{ApiProblem, ApiResult};

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
        Ok(cookie) => answer(is_form, true, [cookie]),
        Err(problem) if is_form => start::refused(&problem),
        Err(problem) => problem.into_response(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkSignIn {
    link: String,
}

/// `POST /api/login/link`. A link of `planwright dashboard`, or the one that the server showed when it started, signs this
/// browser in, once.
pub(super) async fn sign_in_with_link(
    State(app): State<App>,
    Extension(access): Extension<Arc<Access>>,
    Extension(from): Extension<Peer>,
    request: Request,
) -> ApiResult<Response> {
    let headers = request.headers().clone();
    access.check_links(from)?;
    let Body(LinkSignIn { link }) = Body::from_request(request, &()).await?;
    if let Some(cookie) = access.use_start_link(&headers, link.trim()) {
        return Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), Json(json!({ "signedIn": true }))).into_response());
    }
    let secret = app.engine().approvals().use_link(&app.person(), link.trim()).await;
    if secret.is_err() {
        access.count_wrong_link(from);
    }
    let cookies = access.sign_in_browser(&headers, &secret?)?;
    let cookies = AppendHeaders(cookies.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok((cookies, Json(json!({ "signedIn": true }))).into_response())
}

/// `POST /api/logout`. The browser's cookies are removed and are not accepted any more.
pub(super) async fn sign_out(
    State(app): State<App>,
    Extension(access): Extension<Arc<Access>>,
    client: Client,
    headers: HeaderMap,
) -> Response {
    let is_form = is_form(&headers);
    if let Some(browser) = &client.browser
        && let Err(error) = app.engine().approvals().sign_out(&app.person(), browser).await
    {
        tracing::warn!(event = "sign_out_not_kept", %error);
    }
    if let Err(error) = app.engine().push().remove_client(client.id()).await {
        tracing::warn!(event = "push_not_ended", %error);
    }
    // The revocation is written to disk.
    let revoked = tokio::task::spawn_blocking(move || access.sign_out(&headers)).await;
    match revoked {
        Ok(cookies) => answer(is_form, false, cookies),
        Err(_) => {
            ApiProblem::new(Refusal::new(RefusalCode::Internal, "the cookie could not be revoked")).into_response()
        }
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

fn not_a_form() -> ApiProblem {
    Refusal::invalid("the form has one field: token").into()
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    kind.starts_with(b"application/x-www-form-urlencoded")
}

/// A form leads back to the page; a program gets JSON.
fn answer<const N: usize>(is_form: bool, signed_in: bool, cookies: [String; N]) -> Response {
    let cookies = AppendHeaders(cookies.map(|cookie| (header::SET_COOKIE, cookie)));
    if is_form {
        (StatusCode::SEE_OTHER, cookies, [(header::LOCATION, "/")]).into_response()
    } else {
        (cookies, Json(json!({ "signedIn": signed_in }))).into_response()
    }
}
