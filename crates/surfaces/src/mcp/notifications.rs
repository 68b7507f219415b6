//! What a client that came by `initialize` is told without asking. Clients of the newer life cycle ask to be told, with
//! `subscriptions/listen`.

#![allow(deprecated, reason = "clients of the older life cycle have logging, roots and subscriptions of their own")]

use std::sync::Weak;

use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_engine::Engine;
use planwright_engine::upstream::{LogMessage, ResourceUpdate};
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::json;
use tokio::sync::{broadcast, watch};

use super::Never;
use super::server::Shared;
use super::session_changes::SessionChanges;
use super::upstream;

/// The plan as it was looked at last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenStatus {
    pub(super) number: u32,
    pub(super) status: PlanStatus,
}

pub(super) async fn seen_status(engine: &Engine, session: &SessionIdentity) -> Option<SeenStatus> {
    let snapshot = engine.sessions().snapshot(session).await.ok()?;
    snapshot.awaited().map(|plan| SeenStatus { number: plan.number, status: plan.status })
}

/// Tells the client about other tools, changed plans and decisions, as long as it is polled.
pub(super) async fn notify_client(
    server: &Weak<Shared>,
    session: &SessionIdentity,
    changes: &SessionChanges,
    mut updates: Option<broadcast::Receiver<ResourceUpdate>>,
    peer: &Peer<RoleServer>,
) -> Never {
    let (mut tools, mut entries) = (changes.tools(), changes.entries());
    let mut seen = match server.upgrade() {
        Some(shared) => seen_status(shared.engine(), session).await,
        None => None,
    };
    loop {
        tokio::select! {
            () = changed(&mut tools) => {
                log(peer.notify_tool_list_changed().await.err());
            }
            uri = upstream::next_update(updates.as_mut()) => {
                if server.upgrade().is_some_and(|shared| shared.is_subscribed_upstream(&uri)) {
                    log(peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.err());
                }
            }
            () = changed(&mut entries) => {
                let Some(shared) = server.upgrade() else { continue };
                for uri in shared.subscribed() {
                    log(peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.err());
                }
                if shared.log_level().is_none_or(|least| severity(LoggingLevel::Info) < severity(least)) {
                    continue;
                }
                let now = seen_status(shared.engine(), session).await;
                if now != seen {
                    tell_status(peer, now.as_ref()).await;
                    seen = now;
                }
            }
        }
    }
}

/// A log line for clients that asked for them.
async fn tell_status(peer: &Peer<RoleServer>, plan: Option<&SeenStatus>) {
    let Some(plan) = plan else { return };
    let data = json!({ "plan": plan.number, "status": plan.status });
    let mut params = LoggingMessageNotificationParam::new(LoggingLevel::Info, data);
    params.logger = Some("planwright".to_owned());
    log(peer.notify_logging_message(params).await.err());
}

/// A line of the log of an upstream server, for clients that asked for lines of this level.
pub(super) async fn pass_on_log(
    shared: &Shared,
    context: &RequestContext<RoleServer>,
    server: &ServerName,
    message: LogMessage,
) {
    let LogMessage { level, logger, data } = message;
    let Ok(level) = serde_json::from_value::<LoggingLevel>(json!(level)) else { return };
    // Clients of the newest protocol say it with each request.
    let least = context.meta.log_level().or_else(|| shared.log_level());
    if least.is_none_or(|least| severity(level) < severity(least)) {
        return;
    }
    let mut params = LoggingMessageNotificationParam::new(level, data);
    params.logger = Some(logger.map_or_else(|| server.to_string(), |logger| format!("{server}/{logger}")));
    log(context.peer.notify_logging_message(params).await.err());
}

/// As the protocol names it.
pub(super) const fn level_name(level: LoggingLevel) -> &'static str {
    match level {
        LoggingLevel::Debug => "debug",
        LoggingLevel::Info => "info",
        LoggingLevel::Notice => "notice",
        LoggingLevel::Warning => "warning",
        LoggingLevel::Error => "error",
        LoggingLevel::Critical => "critical",
        LoggingLevel::Alert => "alert",
        LoggingLevel::Emergency => "emergency",
    }
}

fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

pub(super) async fn changed<T>(receiver: &mut watch::Receiver<T>) {
    if receiver.changed().await.is_err() {
        // The sender is gone, so no change will come.
        std::future::pending::<()>().await;
    }
}

fn log(error: Option<rmcp::service::ServiceError>) {
    if let Some(error) = error {
        tracing::debug!(%error, "the client could not be told about a change");
    }
}
