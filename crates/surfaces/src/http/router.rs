//! All routes, behind the middleware.

use std::sync::Arc;

use axum::Router;
use axum::extract::Extension;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

use super::access::Access;
use super::app::App;
use super::health::HealthSource;
use super::middleware::{RequestHandling, handle};
use super::ws::WebSocketLimits;
use super::{api, health, mcp, metrics, page, webhook, ws};
use crate::mcp::McpOptions;

/// The middleware is added last, so that it surrounds every route.
pub(crate) fn router(
    app: App,
    access: Arc<Access>,
    health: Vec<Arc<dyn HealthSource>>,
    websockets: WebSocketLimits,
    mcp: McpOptions,
) -> Router {
    let handling = RequestHandling { access: Arc::clone(&access), metrics: app.metrics().clone() };
    Router::new()
        .route("/metrics", get(metrics::show))
        .merge(ws::router(websockets))
        .merge(mcp::router(mcp, app.stopping()))
        .merge(api::router(&app).layer(Extension(Arc::clone(&access))))
        .merge(health::router(app.clone(), health))
        .merge(webhook::router(access.updates().cloned()))
        .merge(page::router(access))
        .layer(from_fn_with_state(handling, handle))
        .with_state(app)
}

#[cfg(test)]
mod tests;
