//! Takes notifications out of the stream of messages, and ends a connection that floods.
//!
//! rmcp would start a task for every notification and every request of a server. A server that sends them without end
//! would fill the memory.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleClient, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::Instant;

use crate::call_router::CallRouter;
use crate::end_reason::DisconnectReason;

/// A server that sends more than this in a window floods.
const WINDOW: Duration = Duration::from_secs(5);
const MAX_NOTIFICATIONS: u32 = 50_000;
const MAX_REQUESTS: u32 = 200;

#[derive(Debug)]
pub(crate) struct WatchedTransport<T> {
    inner: T,
    router: Arc<CallRouter>,
    reason: DisconnectReason,
    window_began: Instant,
    notifications: u32,
    requests: u32,
}

impl<T> WatchedTransport<T> {
    pub(crate) fn new(inner: T, router: Arc<CallRouter>, reason: DisconnectReason) -> Self {
        Self { inner, router, reason, window_began: Instant::now(), notifications: 0, requests: 0 }
    }

    /// Whether it is too much.
    fn floods(&mut self) -> bool {
        let now = Instant::now();
        if now - self.window_began > WINDOW {
            (self.window_began, self.notifications, self.requests) = (now, 0, 0);
        }
        let what = if self.notifications > MAX_NOTIFICATIONS {
            "notifications"
        } else if self.requests > MAX_REQUESTS {
            "requests"
        } else {
            return false;
        };
        self.reason.set(format!("it sent {what} faster than they can be read, so the connection was ended"));
        true
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for WatchedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.inner.receive().await? {
                JsonRpcMessage::Notification(notification) => {
                    self.notifications += 1;
                    if self.floods() {
                        return None;
                    }
                    self.router.route(notification.notification);
                }
                request @ JsonRpcMessage::Request(_) => {
                    self.requests += 1;
                    return if self.floods() { None } else { Some(request) };
                }
                message @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) => return Some(message),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
