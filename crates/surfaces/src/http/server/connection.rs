//! One connection: requests one after another, within the limits, until it ends or becomes a WebSocket.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Weak};

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::ServerLimits;
use super::connection_slots::ConnectionSlot;
use super::timeout_stream::TimeoutStream;
use crate::http::access::Peer;

/// The connection that a request came over. Work that outlives the connection does not keep its slot.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionHandle(Weak<ConnectionSlot>);

impl ConnectionHandle {
    /// A request on this connection was authenticated.
    pub(crate) fn set_authenticated(&self) {
        if let Some(slot) = self.0.upgrade() {
            slot.set_authenticated();
        }
    }
}

/// How connections are served, and how they end.
#[derive(Debug)]
pub(super) struct Connections {
    service: Router,
    limits: Arc<ServerLimits>,
    finishing: CancellationToken,
    cut: CancellationToken,
}

impl Connections {
    pub(super) fn new(service: Router, limits: ServerLimits) -> Self {
        let (finishing, cut) = Default::default();
        Self { service, limits: Arc::new(limits), finishing, cut }
    }

    /// Every connection answers the request it is working on and ends.
    pub(super) fn finish(&self) {
        self.finishing.cancel();
    }

    /// Every connection ends now.
    pub(super) fn cut(&self) {
        self.cut.cancel();
    }

    pub(super) fn serve(
        &self,
        stream: TcpStream,
        from: SocketAddr,
        slot: Arc<ConnectionSlot>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (service, limits) = (self.service.clone(), Arc::clone(&self.limits));
        let (finishing, cut) = (self.finishing.clone(), self.cut.clone());
        async move {
            // Answers are written in one piece, and a WebSocket frame must not wait for the next one.
            let _ = stream.set_nodelay(true);
            let evicted = slot.evicted().clone();
            let stream = TimeoutStream::new(stream, limits.write_time, cut.clone(), Arc::clone(&slot));
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let mut request: Request = request.map(axum::body::Body::new);
                request.extensions_mut().insert(Peer(from));
                request.extensions_mut().insert(ConnectionHandle(Arc::downgrade(&slot)));
                service.clone().oneshot(request)
            });
            let connection = builder(&limits).serve_connection(TokioIo::new(stream), service).with_upgrades();
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                biased;
                () = cut.cancelled() => return,
                () = evicted.cancelled() => {
                    tracing::debug!(event = "connection_evicted", "a newer connection takes its slot");
                    return;
                }
                ended = connection.as_mut() => ended,
                () = finishing.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    tokio::select! {
                        biased;
                        () = cut.cancelled() => return,
                        ended = connection.as_mut() => ended,
                    }
                }
            };
            if let Err(error) = ended {
                // Clients disconnect in the middle of requests all the time.
                tracing::debug!(event = "connection_broke", %error);
            }
        }
    }
}

fn builder(limits: &ServerLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(limits.headers)
        .max_header_size(limits.header_bytes)
        .max_buf_size(limits.header_bytes.max(MIN_BUFFER));
    builder
}

/// Less than this is not accepted by the library.
const MIN_BUFFER: usize = 64 * 1024;
