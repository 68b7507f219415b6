//! `/api/notifications`: messages to people that did not reach them.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use planwright_engine::ledger::Undelivered;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::app::App;
use crate::http::extract::Query;
use crate::http::problem::ApiResult;

const MAX_MESSAGES: u32 = 100;
/// How much of a message is shown.
const LETTERS: usize = 500;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct NotificationsQuery {
    /// Only messages that did not reach a person are listed.
    #[allow(dead_code, reason = "there is one value")]
    #[param(inline)]
    undelivered: UndeliveredOnly,
}

#[derive(Debug, Deserialize, ToSchema)]
enum UndeliveredOnly {
    #[serde(rename = "true")]
    True,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Notifications)]
struct NotificationsView {
    items: Vec<NotificationView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UndeliveredNotification)]
struct NotificationView {
    id: String,
    /// `telegram`, `desktop`, `webhook`, `ntfy`, `email` or `push`.
    channel: String,
    /// What it tells: `waits`, `finished`, `failed`, `budget`, `damage`; or `answer` or `card`, in a chat.
    happening: String,
    /// Its beginning.
    text: String,
    since_at: Timestamp,
    attempts: u32,
    #[schema(required = true)]
    last_error: Option<String>,
    /// Whether it is not tried again.
    given_up: bool,
    /// The page of the dashboard that it is about, such as `/p/019ca6b1`. A message in a chat has none.
    #[schema(required = true)]
    path: Option<String>,
}

impl From<Undelivered> for NotificationView {
    fn from(message: Undelivered) -> Self {
        let Undelivered { id, channel, body, created_at, attempts, why, failed, .. } = message;
        let body: Value = serde_json::from_str(&body).unwrap_or_default();
        let (happening, text) = match body.get("happening") {
            Some(happening) => (
                text_of(&happening["kind"]),
                format!("{}: {}", text_of(&happening["what"]), text_of(&happening["title"])),
            ),
            None => {
                (if body.get("card").is_some() { "card" } else { "answer" }.to_owned(), chat_text(&body["content"]))
            }
        };
        let channel = channel.strip_prefix("notify-").unwrap_or(&channel).to_owned();
        let text = text.chars().take(LETTERS).collect();
        let path = body["happening"]["path"].as_str().map(str::to_owned);
        Self { id, channel, happening, text, since_at: created_at, attempts, last_error: why, given_up: failed, path }
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The text of a message, or the name and the caption of a file.
fn chat_text(content: &Value) -> String {
    match content["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{} {}", text_of(&content["name"]), text_of(&content["caption"])).trim().to_owned(),
    }
}

/// List messages that did not reach a person
///
/// The newest come first, at most 100. A message is tried again for one or two days, unless its target refused it. A message that was given up stays in the list for two
/// weeks.
#[utoipa::path(get, path = "/api/notifications", tag = "inbox", params(NotificationsQuery),
    responses((status = 200, description = "Messages that did not reach a person", body = NotificationsView,
        example = json!(example()))))]
async fn list(State(app): State<App>, Query(_): Query<NotificationsQuery>) -> ApiResult<Json<NotificationsView>> {
    let messages = app.ledger().undelivered(MAX_MESSAGES).await?;
    Ok(Json(NotificationsView { items: messages.into_iter().map(NotificationView::from).collect() }))
}

fn example() -> Value {
    serde_json::json!({
        "items": [{
            "id": "notify-webhook-webhook-plan-019ca6b1",
            "channel": "webhook",
            "happening": "waits",
            "text": "Plan #3 waits for your decision: Move the blog",
            "sinceAt": "2026-03-01T12:04:00Z",
            "attempts": 3,
            "lastError": "the webhook answered 503",
            "givenUp": false,
            "path": "/p/019ca6b1",
        }],
    })
}
