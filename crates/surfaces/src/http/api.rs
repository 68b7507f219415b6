//! The REST calls. Each resource has its own module with its own router.
//!
//! - `sessions`, `messages`, `journal`, `plans`, `inbox`, `notifications`, `asks`, `workbook`, `memory`, `auto`: the resources
//! - `session_changes`, `files`: what a conversation changed in files, and the files of its workspace
//! - `approvers`: who may approve, and their passkeys; `acts`: what a passkey signs besides approvals
//! - `clients`: the browsers that are signed in; `push`: those that get pushes
//! - `mcp_servers`: upstream MCP servers
//! - `server`: what the server is, and the commands that it carries out
//! - `lookup`: which session and which plan a request means
//! - `pagination`: pages of a list; `past_state`: a session as it was
//! - `passphrase`: a passphrase or a passkey that comes with a request

mod acts;
mod approvers;
mod asks;
mod auto;
mod clients;
mod files;
mod inbox;
mod journal;
mod lookup;
mod mcp_servers;
mod memory;
mod messages;
mod notifications;
mod pagination;
mod passphrase;
mod past_state;
mod plans;
mod push;
mod server;
mod session_changes;
mod sessions;
mod workbook;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use planwright_agent::Agent;
use planwright_engine::ledger::Ledger;
use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;

use super::app::App;
use super::idempotency::{self, IdempotentRequests};
use super::{openapi, sse};

/// All calls, without authentication.
pub(crate) fn router(app: &App) -> Router<App> {
    let once = from_fn_with_state(IdempotentRequests::new(app.clone()), idempotency::once);
    let streamed = from_fn_with_state(app.clone(), sse::streamed);
    let (sending, others) = (Router::from(messages::sending()), Router::from(others()));
    let posts = sending.route_layer(once.clone()).route_layer(streamed);
    let described = || async { ([(header::CONTENT_TYPE, "application/json")], description()) };
    others.route_layer(once).merge(posts).route("/api/openapi.json", get(described))
}

/// The REST interface as a complete router. Every client that reaches it may do everything.
pub fn rest(agent: Agent, ledger: Arc<dyn Ledger>, stopping: CancellationToken) -> Router {
    let app = App::new(agent, ledger, stopping, None);
    router(&app).with_state(app)
}

/// The OpenAPI document of the calls, in JSON.
pub fn description() -> &'static str {
    static TEXT: LazyLock<String> =
        LazyLock::new(|| openapi::describe(others().merge(messages::sending()).into_openapi()));
    &TEXT
}

fn others() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .merge(sessions::router())
        .merge(session_changes::router())
        .merge(files::router())
        .merge(messages::router())
        .merge(journal::router())
        .merge(plans::router())
        .merge(inbox::router())
        .merge(notifications::router())
        .merge(asks::router())
        .merge(approvers::router())
        .merge(acts::router())
        .merge(server::router())
        .merge(clients::router())
        .merge(push::router())
        .merge(mcp_servers::router())
        .merge(workbook::router())
        .merge(memory::router())
        .merge(auto::router())
}
