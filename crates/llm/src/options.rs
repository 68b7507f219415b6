//! Settings of a connection to a provider: the context window, timeouts, retries and the size of a reply.

use std::time::Duration;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Overrides the context window that is known for the model.
    pub context_tokens: Option<u32>,
    pub timeouts: Timeouts,
    pub retries: RetryPolicy,
    pub limits: ReplyLimits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From sending the request to the first byte of the answer. Reasoning models send nothing for a long time.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub between_reads: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            between_reads: Duration::from_secs(60),
        }
    }
}

/// When a failed request is sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Counts the first attempt.
    pub max_attempts: u32,
    /// Doubles with every attempt.
    pub initial_backoff: Duration,
    pub max_backoff: Duration,
    /// The sum of all waits of one request. A provider that asks for a longer wait is not asked again.
    pub max_total_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            initial_backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(30),
            max_total_wait: Duration::from_secs(120),
        }
    }
}

/// The size of a reply. A reply that exceeds a limit is dropped while it arrives, and the request fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyLimits {
    pub text_bytes: usize,
    /// The arguments of one tool call. A plan of the largest size fits in, escaped as JSON.
    pub arguments_bytes: usize,
    /// Tool calls in one reply.
    pub calls: usize,
    /// Text, arguments and signatures together: what is stored of one reply.
    pub reply_bytes: usize,
    /// One event of the stream.
    pub event_bytes: usize,
    /// All bytes of the stream. It is far above `reply_bytes`, because an event of a few hundred bytes may carry one
    /// word, and thoughts are streamed as well.
    pub stream_bytes: u64,
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

impl Default for ReplyLimits {
    fn default() -> Self {
        Self {
            text_bytes: MIB,
            arguments_bytes: 2 * MIB,
            calls: 128,
            reply_bytes: 4 * MIB,
            event_bytes: 4 * MIB,
            stream_bytes: 256 * MIB as u64,
        }
    }
}
