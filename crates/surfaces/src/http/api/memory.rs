//! `/api/memory`: what a session remembers.

mod offers;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use planwright_core::ids::MemoryId;
use planwright_core::memory::{MemoryKind, MemoryOrigin, MemoryScope, NewMemory, ScopeChain};
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lookup::{self, OfSession};
use super::pagination::{self, DamagedView};
use super::passphrase::{PassphraseChannel, Proof};
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::MemoryView;

const PAGE: u32 = 64;
/// Of the words of a search, in characters.
const MAX_SEARCH: usize = 4096;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(list, save))
        .routes(routes!(promote))
        .routes(routes!(forget))
        .merge(offers::router())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct MemoryQueryParameters {
    session_id: ConversationKey,
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// A question or a few words. Without it all memories are listed, the newest first.
    #[param(nullable = false, max_length = 4096)]
    q: Option<String>,
    #[param(nullable = false, minimum = 1, maximum = 64)]
    limit: Option<u32>,
    /// The `next` of the page before, for lists.
    #[param(nullable = false, minimum = 0, maximum = 9007199254740991_i64)]
    before: Option<u64>,
    /// With `true` each item says how its score is made up.
    #[param(nullable = false)]
    explain: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Memories)]
struct MemoryPage {
    /// The best first, or in a list the newest first.
    items: Vec<MemoryView>,
    /// Where the next page of a list begins, if there is one.
    #[schema(required = true)]
    next: Option<u64>,
    /// Whether the session has a change of its memory that `/memory undo` takes back.
    can_undo: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
    /// Why the search did without the embedding model that is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    note: Option<String>,
}

/// List or search what a session remembers
///
/// The memories of the session and the global ones. Those of other sessions are never among them.
#[utoipa::path(get, path = "/api/memory", tag = "memory", params(MemoryQueryParameters),
    responses((status = 200, description = "The memories", body = MemoryPage, example = json!(example())),
        (status = 404, description = "There is no such session", body = ProblemBody),
        (status = 413, description = "`q` is too long", body = ProblemBody)))]
async fn list(State(app): State<App>, Query(query): Query<MemoryQueryParameters>) -> ApiResult<Json<MemoryPage>> {
    let session = lookup::session(query.session_id, query.channel);
    let can_undo = !app.engine().sessions().get(&session).await?.memory_changes.is_empty();
    let chain = ScopeChain::of_session(&session);
    let limit = pagination::limit(query.limit, PAGE)?;
    let memories = app.engine().memories();
    let query_text = query.q.as_deref().map(str::trim).filter(|query_text| !query_text.is_empty());
    if let Some(query_text) = query_text {
        if query_text.chars().count() > MAX_SEARCH {
            return Err(Refusal::limit(format!("q has at most {MAX_SEARCH} characters.")).into());
        }
        let search = memories.search(&chain, query_text, limit as usize).await?;
        let view = if query.explain == Some(true) { MemoryView::explained } else { MemoryView::found };
        let items = search.found.iter().map(view).collect();
        return Ok(Json(MemoryPage {
            items,
            next: None,
            can_undo,
            damaged: pagination::damaged(&search.damaged),
            note: search.note,
        }));
    }
    let found = memories.list(&chain, pagination::position("before", query.before)?, limit).await?;
    let items = found.items.iter().map(|placed| MemoryView::from(&placed.item)).collect();
    Ok(Json(MemoryPage { items, next: found.next, can_undo, damaged: pagination::damaged(&found.damaged), note: None }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewMemory, example = json!({ "sessionId": "k3yk3y8x", "content": "The person prefers tabs." }))]
struct NewMemoryBody {
    session_id: ConversationKey,
    channel: Option<Channel>,
    #[schema(min_length = 1, max_length = 16384)]
    content: String,
    /// A fact if it is not said.
    kind: Option<MemoryKind>,
    #[serde(default)]
    #[schema(max_items = 16)]
    tags: Vec<String>,
    /// The session if it is not said. Nothing is saved as `global` directly.
    #[schema(max_length = 512)]
    scope: Option<String>,
    /// Who said it, if it was learnt elsewhere.
    #[schema(max_length = 64, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    author: Option<String>,
    /// When it was said there: `2026-05-07` or `2026-05-07T13:56:00Z`. If neither `author` nor `at` is given, both are read from the
    /// beginning of a text such as `Ada (7 May 2026): …`.
    #[schema(max_length = 64)]
    at: Option<String>,
    /// What it was said in or about. Its words lead to the memory.
    #[schema(max_length = 512, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    context: Option<String>,
}

/// Save a memory
#[utoipa::path(post, path = "/api/memory", tag = "memory", request_body = NewMemoryBody,
    responses((status = 201, description = "The memory", body = MemoryView, example = json!(item_example())),
        (status = 403, description = "Only a promotion writes `global`", body = ProblemBody),
        (status = 404, description = "There is no such session or scope", body = ProblemBody)))]
async fn save(
    State(app): State<App>,
    name: RequestContext,
    Body(body): Body<NewMemoryBody>,
) -> ApiResult<(StatusCode, Json<MemoryView>)> {
    let session = lookup::session(body.session_id, body.channel);
    let scope = body.scope.as_deref().map(str::parse::<MemoryScope>).transpose()?;
    let kind = body.kind.unwrap_or_default();
    let origin = MemoryOrigin::stated(body.author, body.at.as_deref(), body.context)?;
    let new = NewMemory { kind, tags: body.tags, scope, origin, ..NewMemory::by_person(body.content) };
    let item = name.engine(&app).memories().save(&session, &name.person(&app), new).await?;
    Ok((StatusCode::CREATED, Json(MemoryView::from(&item))))
}

/// Let every session read a memory
///
/// Makes a global copy. `/memory undo`, or deleting the copy, takes it back.
#[utoipa::path(post, path = "/api/memory/{id}/promote", tag = "memory",
    params(("id" = String, Path, description = "The id of the memory"), OfSession), request_body(content = Option<Proof>),
    responses((status = 201, description = "The global copy", body = MemoryView, example = json!(item_example())),
        (status = 404, description = "There is no such memory in this session", body = ProblemBody),
        (status = 409, description = "It is global already", body = ProblemBody)))]
async fn promote(
    State(app): State<App>,
    name: RequestContext,
    channel: PassphraseChannel,
    Path(id): Path<MemoryId>,
    Query(of): Query<OfSession>,
    Body(proof): Body<Option<Proof>>,
) -> ApiResult<(StatusCode, Json<MemoryView>)> {
    let name = channel.verified(&app, name, proof.unwrap_or_default()).await?;
    let copy = name.engine(&app).memories().promote(&of.session(), &name.person(&app), id).await?;
    Ok((StatusCode::CREATED, Json(MemoryView::from(&copy))))
}

/// Forget a memory
///
/// It is not found any more. `/memory undo` brings it back.
#[utoipa::path(delete, path = "/api/memory/{id}", tag = "memory", params(("id" = String, Path, description = "The id of the memory"), OfSession),
    responses((status = 204, description = "It is forgotten"),
        (status = 404, description = "There is no such memory in this session", body = ProblemBody)))]
async fn forget(
    State(app): State<App>,
    name: RequestContext,
    Path(id): Path<MemoryId>,
    Query(of): Query<OfSession>,
) -> ApiResult<StatusCode> {
    name.engine(&app).memories().forget(&of.session(), &name.person(&app), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn item_example() -> serde_json::Value {
    serde_json::json!({
        "id": "019ca6b1-9d3a-7c41-8a55-0f4b2f6f0c11",
        "scope": "session:web:k3yk3y8x",
        "kind": "preference",
        "content": "The person prefers tabs.",
        "tags": [],
        "source": { "from": "person" },
        "author": { "kind": "person", "name": "person", "through": "web" },
        "trust": "person",
        "at": "2026-03-01T12:00:00Z",
        "score": 1.1,
    })
}

fn example() -> serde_json::Value {
    serde_json::json!({ "items": [item_example()], "next": null, "canUndo": true })
}
