//! Every place there is, behind the one door.

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::get;

use super::access::Access;
use super::app::App;
use super::ws::WebSocketLimits;
use super::{api, entrance, health, metrics, page, ws};

/// The entrance goes around everything: it is added last, so that nothing is beside it.
pub(crate) fn router(app: App, access: Arc<Access>, websockets: WebSocketLimits) -> Router {
    let entrance = entrance::Entrance { access: Arc::clone(&access), metrics: app.metrics().clone() };
    Router::new()
        .route("/metrics", get(metrics::show))
        .merge(ws::router(websockets))
        .merge(api::router(&app))
        .merge(health::router(app.clone()))
        .merge(page::router(access))
        .layer(middleware::from_fn_with_state(entrance, entrance::enter))
        .with_state(app)
}

#[cfg(test)]
mod tests;
