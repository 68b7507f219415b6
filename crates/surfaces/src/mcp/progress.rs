//! Signs of life of long calls, for clients that asked for them.

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};

pub(super) async fn send(
    context: &RequestContext<RoleServer>,
    progress: f64,
    total: Option<f64>,
    message: Option<&str>,
) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let mut params = ProgressNotificationParam::new(token, progress);
    (params.total, params.message) = (total, message.map(str::to_owned));
    if let Err(error) = context.peer.notify_progress(params).await {
        tracing::debug!(%error, "the client could not be told about progress");
    }
}
