//! `/api/mcp-servers`: upstream MCP servers, and a person's acceptance of their tools.

use axum::Json;
use axum::extract::State;
use planwright_agent::upstream::UpstreamTools;
use planwright_core::plan::Digest;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::ServerName;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::passphrase::{Passphrase, PassphraseChannel, Proof, SignedAct};
use crate::http::app::App;
use crate::http::extract::{Body, Path};
use crate::http::idempotency::RequestContext;
use crate::http::openapi::ProblemBody;
use crate::http::problem::ApiResult;
use crate::wire::McpServerView;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(list)).routes(routes!(show)).routes(routes!(accept))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = McpServers)]
struct ServersView {
    servers: Vec<McpServerView>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ToolAcceptance, example = json!({ "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
struct AcceptBody {
    /// The digest of the tools that the person was shown.
    digest: Digest,
    /// The approver who accepts them; it may be left out if there is one.
    #[schema(min_length = 1, max_length = 64)]
    approver: Option<String>,
    /// The approver's passphrase, where the policy asks for a verified person. It is taken from this machine or over HTTPS
    /// only, and without an `Idempotency-Key`.
    #[schema(value_type = Option<String>, max_length = 4096)]
    passphrase: Option<Passphrase>,
    /// The answer of an approver's passkey to the challenge of `/api/acts/challenge`.
    passkey: Option<SignedAct>,
}

fn upstream(app: &App) -> Result<&UpstreamTools, Refusal> {
    app.agent().upstream().ok_or_else(|| Refusal::not_found("No MCP server is configured."))
}

pub(super) fn server_name(text: &str) -> Result<ServerName, Refusal> {
    text.parse().map_err(|_| Refusal::not_found("No MCP server has this name."))
}

/// List the MCP servers whose tools the agent uses
#[utoipa::path(get, path = "/api/mcp-servers", tag = "server",
    responses((status = 200, description = "Every configured server", body = ServersView,
        example = json!({ "servers": [example()] }))))]
async fn list(State(app): State<App>) -> ApiResult<Json<ServersView>> {
    let statuses = match app.agent().upstream() {
        Some(upstream) => upstream.statuses().await?,
        None => Vec::new(),
    };
    Ok(Json(ServersView { servers: statuses.iter().map(McpServerView::from).collect() }))
}

/// Ask an MCP server what it offers now
///
/// Starts the server if it has to be started.
#[utoipa::path(get, path = "/api/mcp-servers/{name}", tag = "server", params(("name" = String, Path)),
    responses((status = 200, description = "The server", body = McpServerView, example = json!(example())),
        (status = 404, description = "No server has this name", body = ProblemBody),
        (status = 503, description = "The server cannot be reached", body = ProblemBody)))]
async fn show(State(app): State<App>, Path(server): Path<String>) -> ApiResult<Json<McpServerView>> {
    let (upstream, server) = (upstream(&app)?, server_name(&server)?);
    upstream.status_of(&server).await?;
    Ok(Json(McpServerView::from(&upstream.look(&server).await?)))
}

/// Accept the tools of an MCP server
///
/// Accepts exactly what the person was shown. From then on the agent is offered these tools.
#[utoipa::path(post, path = "/api/mcp-servers/{name}/accept", tag = "server", params(("name" = String, Path)),
    request_body = AcceptBody,
    responses((status = 200, description = "The server", body = McpServerView, example = json!(example())),
        (status = 403, description = "The person has to be recognised better", body = ProblemBody),
        (status = 404, description = "No server has this name", body = ProblemBody),
        (status = 409, description = "The server offers something else now", body = ProblemBody)))]
async fn accept(
    State(app): State<App>,
    request: RequestContext,
    channel: PassphraseChannel,
    Path(server): Path<String>,
    Body(body): Body<AcceptBody>,
) -> ApiResult<Json<McpServerView>> {
    let (upstream, server) = (upstream(&app)?, server_name(&server)?);
    let proof = Proof { approver: body.approver, passphrase: body.passphrase, passkey: body.passkey, digest: None };
    let request = channel.verified(&app, request, proof).await?;
    let approvals = app.engine().approvals();
    let status = upstream.accept(&server, body.digest, &request.person(&app), &approvals).await?;
    Ok(Json(McpServerView::from(&status)))
}

fn example() -> serde_json::Value {
    serde_json::json!({
        "name": "files",
        "reachedBy": "npx -y @modelcontextprotocol/server-filesystem /srv/notes",
        "state": "not_accepted",
        "connection": "connected",
        "tools": 0,
        "accepted": 0,
        "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "difference": "new `read_file`:\n    description: Reads a file.\n    arguments: {}\n    only reads (readOnlyHint): yes\n    may be repeated (idempotentHint): not said\n    destroys (destructiveHint): not said\n\n",
        "since": "2026-03-01T12:04:00Z",
    })
}
