//! What a conversation changed in files outside of any plan, and putting it back.

use axum::Json;
use axum::extract::State;
use planwright_agent::session::input::Input;
use planwright_core::session::{Channel, ConversationKey};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lookup::ChannelQuery;
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::input::accepted;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::{ChatChangesView, UndoView};

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(session_changes)).routes(routes!(session_undo))
}

/// Show what a conversation changed in files
///
/// A unified diff for each file, of the whole conversation and of its turns. What plans changed and what was put back is not
/// among them.
#[utoipa::path(get, path = "/api/sessions/{sessionId}/changes", tag = "sessions", params(ChannelQuery),
    responses((status = 200, description = "What it changed", body = ChatChangesView, example = json!(example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn session_changes(
    State(app): State<App>,
    Path(key): Path<ConversationKey>,
    Query(of): Query<ChannelQuery>,
) -> ApiResult<Json<ChatChangesView>> {
    let session = of.session(key);
    app.engine().sessions().get(&session).await?;
    Ok(Json((&app.agent().chat_changes().read(&session).await?).into()))
}

/// It may be empty.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = UndoingTurn, example = json!({ "channel": "web" }))]
struct UndoTurnBody {
    channel: Option<Channel>,
}

/// Undo what the last turn changed in files
///
/// Puts the files back as they were before the last turn of the conversation that changed files outside of any plan. A file
/// that something else changed since is left as it is and named.
#[utoipa::path(post, path = "/api/sessions/{sessionId}/undo", tag = "sessions", params(ChannelQuery),
    request_body(content = Option<UndoTurnBody>),
    responses((status = 200, description = "What was put back", body = UndoView,
            example = json!({ "paths": ["src/main.rs"], "notUndone": [] })),
        (status = 404, description = "There is no such session", body = ProblemBody),
        (status = 409, description = "There is nothing to undo, no file could be put back, or a turn is open",
            body = ProblemBody)))]
async fn session_undo(
    State(app): State<App>,
    name: RequestContext,
    Path(key): Path<ConversationKey>,
    Query(of): Query<ChannelQuery>,
    Body(body): Body<UndoTurnBody>,
) -> ApiResult<Json<UndoView>> {
    let session = of.with(body.channel)?.session(key);
    app.engine().sessions().get(&session).await?;
    let answer = accepted(app.submit(&session, Input::UndoLastTurn, &name)).await?;
    let undone = answer.undone.as_deref().map(UndoView::from);
    Ok(Json(undone.unwrap_or_else(|| UndoView { plan_id: None, paths: Vec::new(), not_undone: Vec::new() })))
}

fn example() -> Value {
    let file = json!({
        "workspace": null,
        "path": "notes.md",
        "diff": "diff --git a/notes.md b/notes.md\nnew file mode 100644\n--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+milk\n",
        "addedLines": 1,
        "removedLines": 0,
        "truncated": false,
    });
    json!({
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "files": [file.clone()],
        "turns": [{
            "turnId": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c12",
            "at": "2026-03-01T12:04:00Z",
            "text": "note that we need milk",
            "files": [file],
        }],
        "uncovered": { "added": [], "changed": [], "removed": [], "complete": true },
        "undone": [],
    })
}
