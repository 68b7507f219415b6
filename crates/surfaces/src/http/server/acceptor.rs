//! Accepts connections until the server stops. There are never more than the limits say.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ServerLimits;
use super::connection::Connections;
use super::connection_slots::{ConnectionSlots, SlotLimits};
use super::file_limit::fit_connections;

/// How long to wait after the system had no room for another connection.
const RETRY_ACCEPT: Duration = Duration::from_millis(50);

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

#[derive(Debug)]
pub(super) struct Acceptor {
    connections: Connections,
    slots: Arc<ConnectionSlots>,
    tracker: TaskTracker,
}

impl Acceptor {
    pub(super) fn new(service: Router, mut limits: ServerLimits) -> Self {
        limits.connections = fit_connections(limits.connections);
        let slots = ConnectionSlots::new(SlotLimits {
            total: limits.connections,
            unauthenticated: limits.unauthenticated_connections(),
            unauthenticated_per_address: limits.connections_per_address,
        });
        Self { connections: Connections::new(service, limits), slots, tracker: TaskTracker::new() }
    }

    /// Accepts connections until `shutdown` is cancelled. The listener is closed when this returns.
    pub(super) async fn run(&self, listener: TcpListener, shutdown: &CancellationToken) {
        loop {
            let accepted = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, from)) => self.accept(stream, from),
                Err(error) => {
                    tracing::warn!(event = "accept_failed", %error);
                    // The process may have no file descriptor left.
                    self.slots.evict_oldest();
                    tokio::time::sleep(RETRY_ACCEPT).await;
                }
            }
        }
        self.connections.finish();
        self.tracker.close();
    }

    fn accept(&self, stream: TcpStream, from: SocketAddr) {
        let Some(slot) = self.slots.take(from.ip()) else {
            tracing::debug!(event = "connection_refused", "authenticated connections take up every slot");
            let _ = stream.try_write(FULL);
            return;
        };
        let connection = self.connections.serve(stream, from, slot);
        self.tracker.spawn(connection);
    }

    /// Returns when the last connection has ended.
    pub(super) async fn finished(&self) {
        self.tracker.wait().await;
    }

    pub(super) fn open(&self) -> usize {
        self.tracker.len()
    }

    /// Ends every connection now.
    pub(super) fn cut(&self) {
        self.connections.cut();
    }
}
