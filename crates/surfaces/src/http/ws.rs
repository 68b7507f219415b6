//! `/ws`: sessions followed live, and messages sent.
//!
//! - `frames`: what goes over the wire
//! - `connection`: one client, from the first frame to the last
//! - `answers`: what a client sends for the agent, and its answer
//! - `subscription`: one session that a client follows
//! - `watch`: which sessions were written to, for clients that show lists
//! - `limits`: how much of everything a client may have

mod answers;
mod connection;
mod frames;
mod limits;
mod subscription;
mod watch;

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, State};
use axum::response::Response;
use axum::routing::get;

use super::access::Authenticated;
use super::access::client::Client;
use super::app::App;

pub use limits::WebSocketLimits;

/// Buffers are per client, and there may be thousands of them.
const READ_BUFFER: usize = 4 * 1024;
const WRITE_BUFFER: usize = 4 * 1024;
/// Journal entries can be large: a plan is 1 MiB at the most, and its text is quoted.
const MAX_UNWRITTEN: usize = 8 * 1024 * 1024;

pub(super) fn router(limits: WebSocketLimits) -> Router<App> {
    Router::new().route("/ws", get(upgrade)).layer(Extension(Arc::new(limits)))
}

async fn upgrade(
    State(app): State<App>,
    Extension(admitted): Extension<Authenticated>,
    client: Client,
    Extension(limits): Extension<Arc<WebSocketLimits>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let (tasks, client) = (app.tasks().clone(), client.of_websocket());
    upgrade
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_write_buffer_size(MAX_UNWRITTEN)
        .max_message_size(limits.frame_bytes)
        .max_frame_size(limits.frame_bytes)
        .on_upgrade(move |socket| tasks.track_future(connection::serve(app, admitted, client, limits, socket)))
}
