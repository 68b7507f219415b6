//! `/api/workbook`: the task plan, the findings and the progress of a session.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use planwright_agent::session::input::Input;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::{Channel, ConversationKey};
use planwright_core::workbook::DocumentKind;
use planwright_engine::workbook::DocumentVersion;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::lookup::{self, OfSession};
use crate::http::app::App;
use crate::http::extract::{Body, Path, Query};
use crate::http::idempotency::RequestContext;
use crate::http::input::accepted;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(show)).routes(routes!(write))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WorkbookView {
    session_id: String,
    channel: Channel,
    /// Whether the agent has the tools for it.
    on: bool,
    /// The current workbook, if there is one.
    #[schema(required = true)]
    current: Option<CurrentView>,
    /// Archived workbooks, the oldest first.
    archives: Vec<ArchiveView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CurrentView {
    title: String,
    begun_at: Timestamp,
    documents: Vec<DocumentView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DocumentView {
    /// `task_plan`, `findings` or `progress`
    which: &'static str,
    version: u32,
    markdown: String,
    updated_at: Timestamp,
    /// Who wrote this version.
    by: String,
}

impl From<DocumentVersion> for DocumentView {
    fn from(document: DocumentVersion) -> Self {
        let DocumentVersion { which, version, text, by, at } = document;
        Self { which: which.as_str(), version, markdown: text, updated_at: at, by: by.name }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ArchiveView {
    name: String,
    title: String,
    at: Timestamp,
}

/// Show the workbook of a session
#[utoipa::path(get, path = "/api/workbook", tag = "workbook", params(OfSession),
    responses((status = 200, description = "The workbook", body = WorkbookView, example = json!(example())),
        (status = 404, description = "There is no such session", body = ProblemBody)))]
async fn show(State(app): State<App>, Query(of): Query<OfSession>) -> ApiResult<Json<WorkbookView>> {
    let session = of.session();
    let engine = app.engine();
    // A person's edit of the files is taken in first.
    engine.workbooks().sync(&session).await?;
    let opened = engine.sessions().get(&session).await?;
    let current = match opened.current_workbook() {
        None => None,
        Some(workbook) => {
            let mut documents = Vec::with_capacity(DocumentKind::ALL.len());
            for which in DocumentKind::ALL {
                let document = engine.workbooks().document(&session, which).await?;
                documents.push(DocumentView::from(document));
            }
            Some(CurrentView { title: workbook.title.clone(), begun_at: workbook.begun_at, documents })
        }
    };
    let archives = opened.workbook.iter().flat_map(|workbook| &workbook.archives);
    let view = |archive: &planwright_core::workbook::Archive| ArchiveView {
        name: archive.name.clone(),
        title: archive.title.clone(),
        at: archive.at,
    };
    Ok(Json(WorkbookView {
        session_id: session.conversation.to_string(),
        channel: session.channel,
        on: opened.has_planning_files(&engine.policy().planning_files),
        current,
        archives: archives.map(view).collect(),
    }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WrittenDocument,
    example = json!({ "sessionId": "k3yk3y8x", "version": 2, "markdown": "# Move the blog to a new host\n" }))]
struct WriteBody {
    session_id: ConversationKey,
    channel: Option<Channel>,
    /// The version that the text was made from.
    #[schema(minimum = 0, maximum = 4294967295_i64)]
    version: u32,
    /// The whole text.
    #[schema(min_length = 1, pattern = r"\S")]
    markdown: String,
}

/// Write a document of the workbook
///
/// Replaces the whole text, at once, also while a turn is under way. The version says which text the person read: if it is not
/// the newest one, nothing is changed and the refusal has the newest one in `document`.
#[utoipa::path(put, path = "/api/workbook/{document}", tag = "workbook",
    params(("document" = inline(DocumentKind), Path, description = "Which of the three documents")),
    request_body = WriteBody,
    responses((status = 200, description = "The document as it is now", body = DocumentView, example = json!(document_example())),
        (status = 404, description = "There is no such session, or it has no workbook", body = ProblemBody),
        (status = 409, description = "It was changed since; the newest version is in `document`", body = ProblemBody)))]
async fn write(
    State(app): State<App>,
    name: RequestContext,
    Path(which): Path<DocumentKind>,
    Body(body): Body<WriteBody>,
) -> ApiResult<Json<DocumentView>> {
    let session = lookup::session(body.session_id, body.channel);
    app.engine().sessions().get(&session).await?;
    let input = Input::WriteDocument { which, base_version: body.version, content: body.markdown };
    let written = accepted(app.submit(&session, input, &name)).await;
    let current = app.engine().workbooks().document(&session, which).await.map(DocumentView::from);
    match written {
        Ok(_) => Ok(Json(current?)),
        Err(problem) if problem.code() == RefusalCode::Conflict => {
            let document = current.ok().and_then(|current| serde_json::to_value(current).ok());
            Err(match document {
                Some(document) => problem.with("document", document),
                None => problem,
            })
        }
        Err(problem) => Err(problem),
    }
}

fn document_example() -> serde_json::Value {
    serde_json::json!({
        "which": "task_plan",
        "version": 3,
        "markdown": "# Move the blog to a new host\n",
        "updatedAt": "2026-03-01T12:04:00Z",
        "by": "person",
    })
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "sessionId": "k3yk3y8x",
        "channel": "web",
        "on": true,
        "current": {
            "title": "Move the blog to a new host",
            "begunAt": "2026-03-01T12:00:00Z",
            "documents": [{
                "which": "task_plan",
                "version": 2,
                "markdown": "# Move the blog to a new host\n",
                "updatedAt": "2026-03-01T12:04:00Z",
                "by": "rehearsal",
            }],
        },
        "archives": [],
    })
}
