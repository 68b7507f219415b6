//! How much the server accepts from its clients.

use std::time::Duration;

use crate::http::WebSocketLimits;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Size of a request's body.
    pub body_bytes: usize,
    /// Size of the request line and all headers together.
    pub header_bytes: usize,
    /// Number of headers.
    pub headers: usize,
    /// How deep lists and objects may be nested in a body.
    pub json_depth: usize,
    /// Open connections, WebSockets included. Half of them are reserved for clients that have presented the token.
    pub connections: usize,
    /// Open connections of one address that have not presented the token. Loopback addresses are exempt: the local
    /// users of the machine, or the clients of a proxy, share them. 0 is no limit.
    pub connections_per_address: usize,
    /// From the beginning of a connection, or the end of the previous request, until all headers have arrived.
    pub header_time: Duration,
    /// From the headers until the whole body has arrived.
    pub body_time: Duration,
    /// How long a client may read nothing of an answer that is ready.
    pub write_time: Duration,
    /// Requests with the token, from all clients together. 0 is no limit.
    pub requests_per_second: u32,
    /// How many requests with the token may come at once after a quiet time.
    pub burst: u32,
    /// Requests from one address that are refused because they have no valid token. 0 is no limit.
    pub refused_per_second: u32,
    /// Wrong tokens from one address. 0 is no limit.
    pub wrong_tokens_per_minute: u32,
    pub websocket: WebSocketLimits,
}

impl ServerLimits {
    /// How many of the connections may be unauthenticated.
    pub(super) fn unauthenticated_connections(&self) -> usize {
        self.connections.div_ceil(2)
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_bytes: 2 * 1024 * 1024,
            header_bytes: 32 * 1024,
            headers: 100,
            json_depth: 32,
            connections: 4096,
            connections_per_address: 2048,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            requests_per_second: 1000,
            burst: 4000,
            refused_per_second: 1000,
            wrong_tokens_per_minute: 30,
            websocket: WebSocketLimits::default(),
        }
    }
}
