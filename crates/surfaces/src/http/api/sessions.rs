//! `/api/sessions`: sessions are created, listed, shown, renamed, stopped and deleted.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use futures::future::try_join_all;
use planwright_agent::session::input::Input;
use planwright_agent::session::outcome::Outcome;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_engine::ledger::{LedgerError, StoredSession};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lookup::ChannelQuery;
use super::pagination::{self, DamagedView};
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::StoredSessionView;

const PAGE: u32 = 64;
/// Of the words of a search, in characters.
const MAX_SEARCH: usize = 256;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(show, rename, delete)).routes(routes!(stop))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "sessionId": "my-project" }))]
struct NewSession {
    /// `web` if it is not said.
    channel: Option<NewChannel>,
    /// The key of the session; one is made if it is absent.
    #[schema(value_type = Option<String>, pattern = "^[a-zA-Z0-9_-]{8,64}$", min_length = 8, max_length = 64)]
    session_id: Option<String>,
    /// The absolute path of the project folder that the file tools work in. It has to lie below a folder of the setting
    /// `projects.allow`. The session's own folder if it is absent.
    #[schema(min_length = 1, max_length = 4096)]
    workspace: Option<String>,
}

/// The channels in which sessions can be created.
// Not `acp`: no surface serves it, so no agent could ever work in such a session. Sessions of it come from imports and archives,
// and stay as they are.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum NewChannel {
    Web,
    Telegram,
    Cli,
    Mcp,
}

impl From<NewChannel> for Channel {
    fn from(channel: NewChannel) -> Self {
        match channel {
            NewChannel::Web => Self::Web,
            NewChannel::Telegram => Self::Telegram,
            NewChannel::Cli => Self::Cli,
            NewChannel::Mcp => Self::Mcp,
        }
    }
}

/// Create a session
///
/// If the key exists, the answer is its session. A `workspace` is then its workspace from now on.
#[utoipa::path(post, path = "/api/sessions", tag = "sessions",
    request_body(content = Option<NewSession>),
    responses((status = 201, description = "The new session", body = StoredSessionView, example = json!(example())),
        (status = 200, description = "The session existed before", body = StoredSessionView, example = json!(example())),
        (status = 403, description = "The server does not work in this folder", body = ProblemBody),
        (status = 404, description = "There is no such folder", body = ProblemBody),
        (status = 409, description = "A turn works in another folder", body = ProblemBody)))]
async fn create(
    State(app): State<App>,
    name: RequestContext,
    Body(new): Body<NewSession>,
) -> ApiResult<(StatusCode, Json<StoredSessionView>)> {
    let channel = new.channel.map_or(Channel::Web, Channel::from);
    let engine = name.engine(&app);
    // A folder that is refused leaves no session behind.
    let workspace = new.workspace.map(|path| app.agent().project(std::path::Path::new(&path))).transpose()?;
    let session = match new.session_id {
        Some(key) => SessionIdentity::new(channel, ConversationKey::new(key)?),
        None => engine.sessions().new_identity(channel),
    };
    let began = !engine.sessions().open(&session, &name.person(&app)).await?.events.is_empty();
    if let Some(workspace) = workspace {
        app.engine().sessions().choose_workspace(&session, &name.person(&app), workspace).await?;
    }
    let status = if began { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(view(&app, &session).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SessionsQuery {
    /// Only sessions whose title, topic, key or channel have all of these words.
    #[param(nullable = false, max_length = 256)]
    q: Option<String>,
    /// The `next` of the page before.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    after: Option<u64>,
    #[param(nullable = false, minimum = 1, maximum = 64)]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SessionList {
    sessions: Vec<StoredSessionView>,
    /// Where the next page begins, if there is one.
    #[schema(required = true)]
    next: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// List the sessions
///
/// The most recently active first.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(SessionsQuery),
    responses((status = 200, description = "A page of sessions", body = SessionList,
        example = json!({ "sessions": [example()], "next": null }))))]
async fn list(State(app): State<App>, Query(query): Query<SessionsQuery>) -> ApiResult<Json<SessionList>> {
    let (after, limit) = (pagination::position("after", query.after)?, pagination::limit(query.limit, PAGE)?);
    let query_text = query.q.unwrap_or_default();
    if query_text.chars().count() > MAX_SEARCH {
        return Err(Refusal::invalid(format!("q has at most {MAX_SEARCH} characters.")).into());
    }
    let page = app.engine().sessions().search(&query_text, after, limit).await?;
    let sessions = try_join_all(page.items.iter().map(|stored| with_plan(&app, stored))).await?;
    Ok(Json(SessionList { sessions, next: page.next, damaged: pagination::damaged(&page.damaged) }))
}

/// Show a session
#[utoipa::path(get, path = "/api/sessions/{sessionId}", tag = "sessions", params(ChannelQuery),
    responses((status = 200, description = "The session", body = StoredSessionView, example = json!(example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn show(
    State(app): State<App>,
    Path(key): Path<ConversationKey>,
    Query(of): Query<ChannelQuery>,
) -> ApiResult<Json<StoredSessionView>> {
    Ok(Json(view(&app, &of.session(key)).await?))
}

async fn view(app: &App, session: &SessionIdentity) -> ApiResult<StoredSessionView> {
    with_plan(app, &app.engine().sessions().get_stored(session).await?).await
}

/// The session with the plan that it works on. A plan that cannot be read does not hide its session.
async fn with_plan(app: &App, stored: &StoredSession) -> ApiResult<StoredSessionView> {
    let mut view = StoredSessionView::from(stored);
    let (session, active) = (&stored.session.identity, &stored.session.plan_mode.active_plan);
    if let Some(active) = active {
        view.active_plan = match app.engine().plans().get(session, active).await {
            Ok(plan) => Some(plan.as_ref().into()),
            Err(LedgerError::Damaged { .. } | LedgerError::Refused(_)) => None,
            Err(error) => return Err(error.into()),
        };
    }
    Ok(view)
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "title": "The blog" }))]
struct Renaming {
    /// One line. Blank takes the name away.
    #[schema(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    title: String,
}

/// Rename a session
#[utoipa::path(patch, path = "/api/sessions/{sessionId}", tag = "sessions", params(ChannelQuery), request_body = Renaming,
    responses((status = 200, description = "The session with its name", body = StoredSessionView, example = json!(example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn rename(
    State(app): State<App>,
    name: RequestContext,
    Path(key): Path<ConversationKey>,
    Query(of): Query<ChannelQuery>,
    Body(renaming): Body<Renaming>,
) -> ApiResult<Json<StoredSessionView>> {
    let session = of.session(key);
    app.engine().sessions().get(&session).await?;
    app.engine().sessions().rename(&session, &name.person(&app), Some(renaming.title)).await?;
    Ok(Json(view(&app, &session).await?))
}

/// Delete a session
///
/// With everything that belongs to it: its journal, its plans and its files. A running turn is stopped.
#[utoipa::path(delete, path = "/api/sessions/{sessionId}", tag = "sessions", params(ChannelQuery),
    responses((status = 204, description = "The session is deleted"),
        (status = 404, description = "There is no such session", body = ProblemBody),
        (status = 409, description = "Another process works on it", body = ProblemBody)))]
async fn delete(
    State(app): State<App>,
    name: RequestContext,
    Path(key): Path<ConversationKey>,
    Query(of): Query<ChannelQuery>,
) -> ApiResult<StatusCode> {
    let session = of.session(key);
    // The names of requests are deleted with the session.
    let name = RequestContext { id: None, ..name };
    app.submit(&session, Input::Delete, &name).outcome().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// It may be empty.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({}))]
struct Stop {
    channel: Option<Channel>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Stopped {
    session_id: String,
    channel: Channel,
    /// Whether a turn was running.
    stopped: bool,
}

/// Stop the running turn of a session
#[utoipa::path(post, path = "/api/sessions/{sessionId}/stop", tag = "sessions", params(ChannelQuery),
    request_body(content = Option<Stop>),
    responses((status = 200, description = "No turn is running", body = Stopped,
            example = json!({ "sessionId": "k3yk3y8x", "channel": "web", "stopped": true })),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn stop(
    State(app): State<App>,
    name: RequestContext,
    Path(key): Path<ConversationKey>,
    Query(of): Query<ChannelQuery>,
    Body(stop): Body<Stop>,
) -> ApiResult<Json<Stopped>> {
    let session = of.with(stop.channel)?.session(key);
    app.engine().sessions().get(&session).await?;
    let stopped = app.submit(&session, Input::Stop, &name).outcome().await? != Outcome::NothingToDo;
    Ok(Json(Stopped { session_id: session.conversation.to_string(), channel: session.channel, stopped }))
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "topic": "move the blog to a new host",
        "title": "The blog",
        "openedAt": "2026-03-01T12:00:00Z",
        "lastActive": "2026-03-01T12:05:00Z",
        "seq": 12,
        "working": false,
        "plansMade": 1,
        "planMode": {
            "enabled": true,
            "style": "document",
            "activePlanId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
            "updatedAt": "2026-03-01T12:01:00Z",
        },
        "workspace": "/home/ada/till",
    })
}
