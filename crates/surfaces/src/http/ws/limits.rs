//! The limits of one client of `/ws`.

use std::num::NonZeroU32;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSocketLimits {
    /// Of a frame from the client.
    pub frame_bytes: usize,
    /// How long sending one frame may take before the connection is closed.
    pub send_timeout: Duration,
    /// How often the server sends a ping.
    pub ping: Duration,
    /// How many sessions it may follow.
    pub subscriptions: usize,
    /// How many of its messages are worked on at once.
    pub messages: usize,
    /// How many frames it may send at once.
    pub burst: NonZeroU32,
    /// After this time it may send one more. Zero is no limit.
    pub frame_interval: Duration,
}

impl Default for WebSocketLimits {
    fn default() -> Self {
        Self {
            // A message has 256 KiB at the most, and a character of it may take six bytes in JSON.
            frame_bytes: 2 * 1024 * 1024,
            send_timeout: Duration::from_secs(10),
            ping: Duration::from_secs(30),
            subscriptions: 256,
            messages: 8,
            burst: NonZeroU32::MIN.saturating_add(199),
            frame_interval: Duration::from_millis(20),
        }
    }
}
