//! MCP over streamable HTTP: `/mcp/{sessionId}` for one session, `/mcp` for the session of the client's folder.
//!
//! The token, the `Host` and the `Origin` are checked by the middleware, as for every other path, against the lists of the
//! settings. Connections of the older versions have an id, and their streams can be resumed; requests of the newest version
//! stand alone.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request};
use axum::response::Response;
use axum::routing::any;
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use planwright_core::visible::quoted;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::app::App;
use super::problem::{ApiProblem, ApiResult};
use crate::mcp::folder::named_session;
use crate::mcp::{McpOptions, PendingCalls, PlanServer, PlanStart, SessionTarget};

pub(super) const SESSION_ROUTE: &str = "/mcp/{sessionId}";
const ROUTE: &str = "/mcp";
/// The session of clients that name none and have no folder.
const DEFAULT_SESSION: &str = "mcp-default";
/// A connection that is not used for so long ends; the client connects again. A call may wait for a person this long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2 * 3600);
/// The largest message, as on standard input.
const BODY_BYTES: usize = 8 * 1024 * 1024;

type McpService = StreamableHttpService<PlanServer, LocalSessionManager>;

#[derive(Debug, Deserialize)]
struct McpQuery {
    plan: Option<String>,
}

pub(crate) fn default_session() -> SessionIdentity {
    named_session(DEFAULT_SESSION)
}

/// `options.session` says how requests without a session are treated.
pub(crate) fn router(options: McpOptions, stopping: &CancellationToken) -> Router<App> {
    let mut sessions = SessionConfig::default();
    sessions.keep_alive = Some(IDLE_TIMEOUT);
    let mut manager = LocalSessionManager::default();
    manager.session_config = sessions;
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stopping.child_token())
        .with_max_request_body_bytes(BODY_BYTES)
        // The middleware has compared both with the lists of the settings.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let stopping = stopping.clone();
    let pending = PendingCalls::default();
    let make = move || Ok(PlanServer::new(options.clone(), stopping.child_token(), pending.clone()));
    let service: McpService = StreamableHttpService::new(make, Arc::new(manager), config);
    let shared = service.clone();
    Router::new()
        .route(ROUTE, any(move |query: Query<McpQuery>, request: Request| handle(service, None, query, request)))
        .route(
            SESSION_ROUTE,
            any(move |path: Path<String>, query: Query<McpQuery>, request: Request| {
                handle(shared, Some(path.0), query, request)
            }),
        )
}

/// Whether errors of this route are errors of JSON-RPC.
pub(super) fn is_route(route: &str) -> bool {
    matches!(route, ROUTE | SESSION_ROUTE)
}

async fn handle(service: McpService, key: Option<String>, query: Query<McpQuery>, mut request: Request) -> Response {
    match target(key.as_deref(), query.plan.as_deref()) {
        Ok(target) => {
            request.extensions_mut().insert(target);
            service.handle(request).await.map(Body::new)
        }
        Err(problem) => problem.into_json_rpc(),
    }
}

fn target(key: Option<&str>, plan: Option<&str>) -> ApiResult<SessionTarget> {
    let start = match plan {
        None => None,
        Some("off") => Some(PlanStart::Off),
        Some(style) => Some(PlanStart::Ensure(Some(style.parse::<PlanStyle>()?))),
    };
    let session = match key {
        None => None,
        Some(key) => {
            let named = session_of_path(key);
            let none = || ApiProblem::from(Refusal::not_found(format!("There is no session {}.", quoted(key))));
            Some(named.ok_or_else(none)?)
        }
    };
    Ok(SessionTarget { session, start })
}

/// The session that `/mcp/{sessionId}` names. Sessions of other channels belong to Planwright's own agent.
pub(super) fn session_of_path(key: &str) -> Option<SessionIdentity> {
    let key = ConversationKey::existing(key).ok()?;
    Some(match key.may_be_new() {
        true => SessionIdentity::new(Channel::Mcp, key),
        false => named_session(key.as_str()),
    })
}
