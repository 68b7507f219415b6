//! `/api/sessions/{sessionId}/messages`: what people say, and what was said.

use axum::extract::State;
use axum::{Extension, Json};
use planwright_core::ids::RunId;
use planwright_core::session::{Channel, ConversationKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lookup::{self, ChannelQuery};
use super::pagination::{self, DamagedView};
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::input::{self, ProgressTap};
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::{AnswerView, MessageView};

const PAGE: u32 = 64;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list))
}

/// The one call that can also be answered as a stream.
pub(super) fn sending() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(send))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "text": "move the blog to a new host" }))]
struct NewMessage {
    /// A message for the agent, or a command with a slash. At most 256 KiB.
    #[schema(min_length = 1, max_length = 262144, pattern = r"\S")]
    text: String,
    /// `web` if it is not said.
    channel: Option<Channel>,
}

/// Say something
///
/// Waits until the turn is over. With `Accept: text/event-stream` the client is sent what happens meanwhile, and the last
/// event is `answer` or `problem`. Closing the connection does not stop the turn. Commands are sent in the same way; `/new`
/// and `/switch` answer with the session that is active then.
#[utoipa::path(post, path = "/api/sessions/{sessionId}/messages", tag = "messages", params(ChannelQuery),
    request_body = NewMessage,
    responses((status = 200, description = "The turn is over, or the command is carried out",
            content((AnswerView = "application/json", example = json!(answer_example())),
                (String = "text/event-stream", example = "event: accepted\ndata: {\"type\":\"accepted\",\"sessionId\":\"k3yk3y8x\",\"channel\":\"web\",\"seq\":2,\"turnId\":\"019ca6b2\"}\n\n"))),
        (status = 404, description = "There is no such session or plan", body = ProblemBody),
        (status = 409, description = "Not now: the plan is in another status, was changed since it was shown, or another process works on it", body = ProblemBody)))]
async fn send(
    State(app): State<App>,
    name: RequestContext,
    tap: Option<Extension<ProgressTap>>,
    Path(key): Path<ConversationKey>,
    Query(of): Query<ChannelQuery>,
    Body(new): Body<NewMessage>,
) -> ApiResult<Json<Value>> {
    let session = of.with(new.channel)?.session(key);
    let stream = app.submit_text(&session, &new.text, &name).await?;
    let tap = tap.as_ref().map(|Extension(tap)| tap);
    Ok(Json(input::answer(stream, &session, tap).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Reading {
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// Only what is older than this entry; the `next` of the page before.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    before: Option<u64>,
    #[param(nullable = false, minimum = 1, maximum = 64)]
    limit: Option<u32>,
    /// The id of a run: what was said in its turns, which the conversation has only the result of.
    #[param(value_type = Option<String>, nullable = false)]
    run_id: Option<RunId>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MessagePage {
    session_id: String,
    channel: Channel,
    /// In order.
    messages: Vec<MessageView>,
    /// Before which entry the page of older ones ends, if there is one.
    #[schema(required = true)]
    next: Option<u64>,
    /// Entries on this page that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// Read the conversation
///
/// The newest page first, each page in order. A run has messages of its own, which are read with `runId`; the conversation
/// has its result.
#[utoipa::path(get, path = "/api/sessions/{sessionId}/messages", tag = "messages", params(Reading),
    responses((status = 200, description = "A page of messages", body = MessagePage, example = json!(page_example())),
        (status = 404, description = "There is no such session or run", body = ProblemBody)))]
async fn list(
    State(app): State<App>,
    Path(key): Path<ConversationKey>,
    Query(reading): Query<Reading>,
) -> ApiResult<Json<MessagePage>> {
    let session = lookup::session(key, reading.channel);
    let (before, limit) = (pagination::position("before", reading.before)?, pagination::limit(reading.limit, PAGE)?);
    let history = app.engine().history();
    let page = match &reading.run_id {
        Some(run) => history.run_messages(&session, run, before, limit).await?,
        None => history.messages(&session, before, limit).await?,
    };
    let messages = page.items.iter().map(MessageView::from).collect();
    let (session_id, channel) = (session.conversation.to_string(), session.channel);
    let damaged = pagination::damaged(&page.damaged);
    Ok(Json(MessagePage { session_id, channel, messages, next: page.next, damaged }))
}

fn answer_example() -> Value {
    serde_json::json!({
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "reply": "The plan is ready.",
        "outcome": "answered",
        "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
        "plan": {
            "planId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
            "number": 1,
            "title": "Move the blog to a new host",
            "status": "READY",
            "style": "document",
            "version": 1,
            "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "markdown": "# Move the blog to a new host\n\n- [ ] copy the files\n",
            "approval": null,
            "progress": null,
            "next": ["/plan approve 1", "/plan revise #1 WHAT TO CHANGE", "/plan reject 1"],
        },
    })
}

fn page_example() -> Value {
    serde_json::json!({
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "messages": [{
            "seq": 2,
            "at": "2026-03-01T12:00:01Z",
            "role": "person",
            "by": { "kind": "person", "name": "person", "through": "web" },
            "text": "move the blog to a new host",
        }],
        "next": null,
    })
}
