//! Requests are carried out in the order in which they came. A client sends the calls of one model reply all at once,
//! and the steps they add belong in that order.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, DiscoverRequestMethod, GetExtensions, JsonRpcMessage,
    ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::answer;

/// How many requests are taken in before the first of them is answered. More wait in the client's pipe.
const MAX_IN_FLIGHT: usize = 64;

/// Queues requests in the order of arrival.
#[derive(Debug)]
pub(super) struct RequestQueue {
    last: CancellationToken,
    room: Arc<Semaphore>,
}

/// A request's position in the queue. It is released when the last copy is dropped, however the request ended.
#[derive(Debug, Clone)]
pub(super) struct QueuePosition {
    before: CancellationToken,
    _over: Arc<(DropGuard, OwnedSemaphorePermit)>,
}

/// Lets the requests behind this one begin, though it is not answered yet.
pub(super) fn give_up_position(context: &mut RequestContext<RoleServer>) {
    drop(context.extensions.remove::<QueuePosition>());
}

impl RequestQueue {
    pub(super) fn new() -> Self {
        let last = CancellationToken::new();
        last.cancel();
        Self { last, room: Arc::new(Semaphore::new(MAX_IN_FLIGHT)) }
    }

    /// Waits until another request may be taken in.
    pub(super) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).acquire_owned().await.ok()
    }

    pub(super) fn queue(&mut self, message: &mut ClientJsonRpcMessage, room: OwnedSemaphorePermit) {
        let JsonRpcMessage::Request(request) = message else { return };
        let at_once =
            matches!(request.request, ClientRequest::PingRequest(_) | ClientRequest::SubscriptionsListenRequest(_));
        if at_once {
            return;
        }
        let over = CancellationToken::new();
        let before = std::mem::replace(&mut self.last, over.clone());
        request.request.extensions_mut().insert(QueuePosition { before, _over: Arc::new((over.drop_guard(), room)) });
    }
}

/// The server, entered one request after another.
#[derive(Debug)]
pub(super) struct OrderedService<S> {
    server: S,
}

impl<S> OrderedService<S> {
    pub(super) fn new(server: S) -> Self {
        Self { server }
    }
}

impl<S: Service<RoleServer>> Service<RoleServer> for OrderedService<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        // The position stays with the context, which ends with the request; a call that takes long gives it up before.
        if let Some(before) = context.extensions.get::<QueuePosition>().map(|turn| turn.before.clone()) {
            before.cancelled().await;
        }
        if context.ct.is_cancelled() {
            return Err(ErrorData::internal_error("The request was cancelled before its turn came.", None));
        }
        let method = request.method().to_owned();
        let answer = if is_bare_probe(&request, &context) {
            Err(ErrorData::method_not_found::<DiscoverRequestMethod>())
        } else {
            self.server.handle_request(request, context).await
        };
        answer.map_err(|error| answer::readable(error, &method))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        self.server.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.server.supported_protocol_versions()
    }
}

/// A probe without what the newer life cycle needs comes from a client that would fall back to `initialize`, and
/// "no such method" is the answer they all understand.
fn is_bare_probe(request: &ClientRequest, context: &RequestContext<RoleServer>) -> bool {
    matches!(request, ClientRequest::DiscoverRequest(_))
        && !context.meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
}
