//! How much of everything is taken from whoever asks.

use std::time::Duration;

use crate::http::WebSocketLimits;

/// A number of 0 is no limit, where that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// Of a request's body.
    pub body_bytes: usize,
    /// Of the request line and all headers together.
    pub header_bytes: usize,
    /// How many headers.
    pub headers: usize,
    /// How deep lists and objects may be nested in a body.
    pub json_depth: usize,
    /// Open at the same time, WebSockets among them.
    pub connections: usize,
    /// Open at the same time from one address. Addresses of this machine are exempt: behind them are its own programs, or
    /// a proxy with everybody behind it. 0 is no limit.
    pub connections_per_address: usize,
    /// From the beginning of a connection, or the end of the request before, until all headers are there.
    pub header_time: Duration,
    /// From the headers until the whole body is there.
    pub body_time: Duration,
    /// For as long as this, a client may take nothing of an answer that is ready.
    pub write_time: Duration,
    /// Over all clients together. 0 is no limit.
    pub requests_per_second: u32,
    /// How many requests may come at once, after a quiet time.
    pub burst: u32,
    /// From one address. 0 is no limit.
    pub wrong_tokens_per_minute: u32,
    pub websocket: WebSocketLimits,
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
            wrong_tokens_per_minute: 30,
            websocket: WebSocketLimits::default(),
        }
    }
}
