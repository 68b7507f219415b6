//! `/api/sessions/{sessionId}/files`: the files of a session's workspace, and files that a person sends to it.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use planwright_agent::toolbox::files::{FileContent, FolderEntry};
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lookup;
use super::pagination;
use crate::http::app::App;
use crate::http::extract::{Path, Query, read_body};
use crate::http::openapi::ProblemBody;
use crate::http::problem::{ApiProblem, ApiResult};

/// The most entries of one answer.
const MAX_LIMIT: u32 = 1_000;
/// The entries of an answer that does not say how many it wants.
const USUAL: u32 = 200;
/// The longest path or name, in characters.
const MAX_CHARACTERS: usize = 1024;
/// What a file may do in a browser that opens it: nothing.
const SANDBOX: HeaderValue = HeaderValue::from_static("sandbox; default-src 'none'; frame-ancestors 'none'");

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list, receive)).routes(routes!(content))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FilesQuery {
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// What the paths begin with: `src/` for what is in a folder, `src/ma` for those of them that begin with `ma`.
    #[param(nullable = false, max_length = 1024)]
    prefix: Option<String>,
    #[param(nullable = false, minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkspaceFiles)]
struct FilesView {
    /// In order of their paths.
    files: Vec<FileView>,
    /// There are more than asked for.
    truncated: bool,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkspaceFile)]
struct FileView {
    /// From the workspace's root.
    path: String,
    /// The size of a file; `null` for a folder.
    #[schema(required = true)]
    bytes: Option<u64>,
    directory: bool,
}

impl From<FolderEntry> for FileView {
    fn from(entry: FolderEntry) -> Self {
        Self { path: entry.path, bytes: entry.bytes, directory: entry.bytes.is_none() }
    }
}

/// List files of the workspace
///
/// The files and folders of one folder. What the workspace ignores, and what permission rules deny, is left out. A prefix that
/// no path begins with finds nothing.
#[utoipa::path(get, path = "/api/sessions/{sessionId}/files", tag = "sessions", params(FilesQuery),
    responses((status = 200, description = "Files and folders", body = FilesView, example = json!(example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn list(
    State(app): State<App>,
    Path(key): Path<ConversationKey>,
    Query(query): Query<FilesQuery>,
) -> ApiResult<Json<FilesView>> {
    let session = lookup::session(key, query.channel);
    let limit = pagination::limit(query.limit.or(Some(USUAL)), MAX_LIMIT)?;
    let prefix = query.prefix.as_deref().unwrap_or_default();
    check_length("prefix", prefix)?;
    let page = app.agent().workspace_files().list(&session, prefix, limit as usize).await?;
    Ok(Json(FilesView { files: page.entries.into_iter().map(FileView::from).collect(), truncated: page.more }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ContentQuery {
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// The file, from the workspace's root.
    #[param(min_length = 1, max_length = 1024)]
    path: String,
}

/// Read a file of the workspace
///
/// Its bytes as they are. Pictures have their type, text is `text/plain`, and everything else is `application/octet-stream`. A
/// file that permission rules deny is answered like one that does not exist.
#[utoipa::path(get, path = "/api/sessions/{sessionId}/files/content", tag = "sessions", params(ContentQuery),
    responses((status = 200, description = "The file", content(
            (String = "text/plain", example = json!("# Notes\n")),
            (Binary = "application/octet-stream", example = json!("…")),
            (Binary = "image/png", example = json!("…")),
            (Binary = "image/jpeg", example = json!("…")),
            (Binary = "image/gif", example = json!("…")),
            (Binary = "image/webp", example = json!("…")))),
        (status = 404, description = "There is no such session or file", body = ProblemBody),
        (status = 413, description = "The file is too large to be shown", body = ProblemBody)))]
async fn content(
    State(app): State<App>,
    Path(key): Path<ConversationKey>,
    Query(query): Query<ContentQuery>,
) -> ApiResult<Response> {
    let session = lookup::session(key, query.channel);
    let content = app.agent().workspace_files().read(&session, &query.path).await?;
    let kind = content_type(&content);
    let opens = if kind == OTHER { "attachment" } else { "inline" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static(opens)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, SANDBOX),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ];
    Ok((headers, content.bytes).into_response())
}

/// The bytes of a file.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
struct Binary(#[expect(dead_code, reason = "only the schema is used")] Vec<u8>);

const OTHER: &str = "application/octet-stream";

/// What a browser may show. The bytes decide and not the name, so that no page or script is among it.
fn content_type(content: &FileContent) -> &'static str {
    let bytes = content.bytes.as_slice();
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ if content.is_text => "text/plain; charset=utf-8",
        _ => OTHER,
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReceiveQuery {
    /// The channel of the session; `web` if it is not said.
    #[param(inline, nullable = false)]
    channel: Option<Channel>,
    /// The name of the file. Other characters than letters, digits, `-`, `_` and `.` are replaced.
    #[param(nullable = false, max_length = 1024)]
    name: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceivedFile)]
struct ReceivedView {
    /// The path that the agent reads it by.
    path: String,
    bytes: usize,
}

/// Send a file to a session
///
/// The body is the file. It is put below `received` in the session's own folder and never replaces another file. A session that
/// works in a project folder takes none.
#[utoipa::path(post, path = "/api/sessions/{sessionId}/files", tag = "sessions", params(ReceiveQuery),
    request_body(content = Binary, content_type = "application/octet-stream", description = "The file"),
    responses((status = 201, description = "Where it is", body = ReceivedView,
            example = json!({ "path": "received/notes.md", "bytes": 8 })),
        (status = 403, description = "The session works in a project folder", body = ProblemBody),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn receive(
    State(app): State<App>,
    Path(key): Path<ConversationKey>,
    Query(query): Query<ReceiveQuery>,
    RawBody(content): RawBody,
) -> ApiResult<(StatusCode, Json<ReceivedView>)> {
    let session = lookup::session(key, query.channel);
    let (name, bytes) = (query.name.as_deref().unwrap_or("file"), content.len());
    check_length("name", name)?;
    let path = app.agent().receive_file(&session, name, content.to_vec()).await?;
    Ok((StatusCode::CREATED, Json(ReceivedView { path, bytes })))
}

fn check_length(name: &str, value: &str) -> Result<(), Refusal> {
    match value.chars().count() {
        0..=MAX_CHARACTERS => Ok(()),
        _ => Err(Refusal::invalid(format!("{name} has at most {MAX_CHARACTERS} characters."))),
    }
}

/// The body as it is.
struct RawBody(Bytes);

impl<S: Send + Sync> FromRequest<S> for RawBody {
    type Rejection = ApiProblem;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        read_body(request).await.map(Self)
    }
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "files": [
            { "path": "src/bin", "bytes": null, "directory": true },
            { "path": "src/main.rs", "bytes": 1204, "directory": false },
        ],
        "truncated": false,
    })
}
