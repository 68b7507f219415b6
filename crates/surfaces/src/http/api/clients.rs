//! `/api/clients`: the browsers that are signed in.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use jiff::Timestamp;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::visible::quoted;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::access::client::Client;
use crate::http::access::{Access, SignedInBrowser};
use crate::http::app::App;
use crate::http::extract::Path;
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::{ApiProblem, ApiResult};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(end))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Clients)]
struct ClientsView {
    /// The one that was seen last first.
    clients: Vec<ClientView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Client)]
struct ClientView {
    id: String,
    kind: ClientKindView,
    /// What the browser says that it is: `Firefox on Linux`.
    name: String,
    created_at: Timestamp,
    last_seen_at: Timestamp,
    /// Whether it sent this request.
    current: bool,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ClientKind)]
enum ClientKindView {
    /// It was signed in with the access token.
    Browser,
    /// It was signed in with a link of `planwright dashboard`, and is recognised as a person.
    LinkedBrowser,
}

/// List the browsers that are signed in
///
/// Programs that send the token are not among them.
#[utoipa::path(get, path = "/api/clients", tag = "server",
    responses((status = 200, description = "The browsers", body = ClientsView, example = json!(example()))))]
async fn list(
    State(app): State<App>,
    access: Option<Extension<Arc<Access>>>,
    client: Client,
) -> ApiResult<Json<ClientsView>> {
    // Without the middleware no browser can sign in.
    let Some(Extension(access)) = access else { return Ok(Json(ClientsView { clients: Vec::new() })) };
    let browsers = blocking(move || access.browsers()).await?;
    let links = browsers.iter().filter_map(|browser| browser.link.clone()).collect();
    let linked = app.engine().approvals().signed_in(links).await?;
    let view = |browser: &SignedInBrowser| {
        let id = browser.client();
        let is_linked = browser.link.as_ref().is_some_and(|link| linked.contains(link));
        ClientView {
            kind: if is_linked { ClientKindView::LinkedBrowser } else { ClientKindView::Browser },
            name: browser.name.clone(),
            created_at: time(browser.created()),
            last_seen_at: time(browser.last_seen),
            current: client.is(&id),
            id,
        }
    };
    Ok(Json(ClientsView { clients: browsers.iter().map(view).collect() }))
}

/// Sign a browser out
///
/// Its cookie is refused from now on, its WebSockets and streams end, and it gets no more pushes.
#[utoipa::path(delete, path = "/api/clients/{id}", tag = "server",
    params(("id" = String, Path, description = "The id of the browser", pattern = "^[0-9a-f]{1,64}$", min_length = 1, max_length = 64)),
    responses((status = 204, description = "It is signed out"),
        (status = 403, description = "The caller may be an agent: it could sign the person out", body = ProblemBody),
        (status = 404, description = "There is no such browser", body = ProblemBody)))]
async fn end(
    State(app): State<App>,
    name: RequestContext,
    access: Option<Extension<Arc<Access>>>,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let person = name.person(&app);
    app.engine().approvals().check_separate(&person).await?;
    let missing = || Refusal::not_found(format!("No browser with the id {} is signed in.", quoted(&id)));
    let Some(Extension(access)) = access else { return Err(missing().into()) };
    let client = id.clone();
    // The revocation is written to disk.
    let ended = blocking(move || access.end_browser(&client)).await?.ok_or_else(missing)?;
    app.engine().push().remove_client(&id).await?;
    if let Some(link) = &ended.link {
        app.engine().approvals().sign_out_hashed(&person, link).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Carries out work that reads or writes files of the data folder.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    let failed = |_| ApiProblem::new(Refusal::new(RefusalCode::Internal, "The list of browsers could not be read."));
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

fn time(seconds: u64) -> Timestamp {
    i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok()).unwrap_or_default()
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "clients": [{
            "id": "5f0c1d2e3a4b5c6d7e8f9a0b",
            "kind": "browser",
            "name": "Firefox on Linux",
            "createdAt": "2026-03-01T12:00:00Z",
            "lastSeenAt": "2026-03-01T12:05:00Z",
            "current": true,
        }],
    })
}
