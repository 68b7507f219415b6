//! `/api/push`: the browsers that get pushes (Web Push).

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use jiff::Timestamp;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use planwright_engine::push::{NewPushSubscription, PushSubscription};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::clients::blocking;
use crate::http::access::client::Client;
use crate::http::access::{Access, SignedInBrowser};
use crate::http::app::App;
use crate::http::extract::{Body, Path};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list, add)).routes(routes!(remove))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Push)]
struct PushView {
    /// What a browser subscribes with (`applicationServerKey`), in base64url.
    public_key: String,
    subscriptions: Vec<PushSubscriptionView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PushSubscription)]
struct PushSubscriptionView {
    id: String,
    /// What the browser says that it is: `Chrome on Android`.
    name: String,
    since_at: Timestamp,
    /// Whether it sent this request.
    current: bool,
}

impl PushSubscriptionView {
    fn new(subscription: PushSubscription, client: &Client) -> Self {
        let PushSubscription { id, name, since, client: browser, .. } = subscription;
        Self { id, name, since_at: since, current: client.is(&browser) }
    }
}

/// What `PushSubscription.toJSON` has in a browser.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PushSubscriptionToAdd, example = json!(to_add()))]
struct PushSubscriptionBody {
    /// The address of the push service, which names the browser.
    #[schema(min_length = 8, max_length = 2048)]
    endpoint: String,
    keys: PushKeysBody,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PushKeys)]
struct PushKeysBody {
    /// The browser's public key, in base64url.
    #[schema(min_length = 40, max_length = 100)]
    p256dh: String,
    /// 16 bytes, in base64url.
    #[schema(min_length = 20, max_length = 30)]
    auth: String,
}

/// List the browsers that get pushes
#[utoipa::path(get, path = "/api/push", tag = "server",
    responses((status = 200, description = "The browsers", body = PushView, example = json!(example()))))]
async fn list(State(app): State<App>, client: Client) -> ApiResult<Json<PushView>> {
    let push = app.engine().push();
    let public_key = push.key().await?.public;
    let subscriptions = push.list().await?.into_iter().map(|one| PushSubscriptionView::new(one, &client)).collect();
    Ok(Json(PushView { public_key, subscriptions }))
}

/// Send pushes to this browser
///
/// Only a browser that is signed in can ask for it, and only for itself. It is told what waits and its title, and the push opens the page where it is decided. The
/// pushes end when it is signed out or when its push service says that it is gone. Sent again, the request changes nothing.
#[utoipa::path(post, path = "/api/push", tag = "server", request_body = PushSubscriptionBody,
    responses((status = 200, description = "It gets pushes", body = PushSubscriptionView, example = json!(example()["subscriptions"][0])),
        (status = 403, description = "The caller is no browser, or it may be an agent", body = ProblemBody),
        (status = 413, description = "Many browsers get pushes already", body = ProblemBody)))]
async fn add(
    State(app): State<App>,
    name: RequestContext,
    access: Option<Extension<Arc<Access>>>,
    headers: HeaderMap,
    Body(body): Body<PushSubscriptionBody>,
) -> ApiResult<Json<PushSubscriptionView>> {
    let client = name.client.clone();
    let browser = this_browser(access, &client).await?;
    app.engine().approvals().check_separate(&name.person(&app)).await?;
    let browser = browser.ok_or_else(|| Refusal::policy_denied("Only a browser that is signed in gets pushes."))?;
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()).unwrap_or_default();
    let PushSubscriptionBody { endpoint, keys: PushKeysBody { p256dh, auth } } = body;
    let new = NewPushSubscription {
        endpoint,
        p256dh,
        auth,
        client: browser.client(),
        name: browser.name,
        origin: origin.to_owned(),
    };
    let added = app.engine().push().add(new, app.engine().now()).await?;
    Ok(Json(PushSubscriptionView::new(added, &client)))
}

/// Send no more pushes to a browser
#[utoipa::path(delete, path = "/api/push/{id}", tag = "server",
    params(("id" = String, Path, description = "The id of the subscription", pattern = "^[0-9a-f]{1,64}$", min_length = 1, max_length = 64)),
    responses((status = 204, description = "It gets no more pushes"),
        (status = 403, description = "The caller is another browser and may be an agent", body = ProblemBody),
        (status = 404, description = "There is no such subscription", body = ProblemBody)))]
async fn remove(State(app): State<App>, name: RequestContext, Path(id): Path<String>) -> ApiResult<StatusCode> {
    let push = app.engine().push();
    let found = push.list().await?.into_iter().find(|one| one.id == id);
    // Everyone may switch off their own.
    if !found.as_ref().is_some_and(|one| name.client.is(&one.client)) {
        app.engine().approvals().check_separate(&name.person(&app)).await?;
    }
    let missing = || Refusal::not_found(format!("No browser with the id {} gets pushes.", quoted(&id)));
    push.remove(&found.ok_or_else(missing)?.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The browser that sent the request, by its cookie. `None` for a program with the token.
async fn this_browser(access: Option<Extension<Arc<Access>>>, client: &Client) -> ApiResult<Option<SignedInBrowser>> {
    let Some(Extension(access)) = access else { return Ok(None) };
    let browsers = blocking(move || access.browsers()).await?;
    Ok(browsers.into_iter().find(|browser| client.is(&browser.client())))
}

fn to_add() -> serde_json::Value {
    serde_json::json!({
        "endpoint": "https://push.example.org/send/5f0c1d2e",
        "keys": {
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg",
        },
    })
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "publicKey": "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
        "subscriptions": [{
            "id": "5f0c1d2e3a4b5c6d7e8f9a0b",
            "name": "Chrome on Android",
            "sinceAt": "2026-03-01T12:00:00Z",
            "current": true,
        }],
    })
}
