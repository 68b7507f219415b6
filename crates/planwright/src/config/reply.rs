//! The section `reply`: the size of a model's reply.

use planwright_llm::ReplyLimits;

use super::setting::{Positive, section};

fn default() -> ReplyLimits {
    ReplyLimits::default()
}

section! {
    pub(super) struct ReplySection, "reply" {
        "The longest text of one reply, in bytes."
        text_bytes: Positive<usize> = default().text_bytes,
        "The longest arguments of one tool call, in bytes."
        arguments_bytes: Positive<usize> = default().arguments_bytes,
        "The most tool calls of one reply."
        calls: Positive<usize> = default().calls,
        "The largest reply, text and arguments together, in bytes."
        bytes: Positive<usize> = default().reply_bytes,
        "The largest event of a provider's stream, in bytes."
        event_bytes: Positive<usize> = default().event_bytes,
        "The largest stream of one reply, in bytes."
        stream_bytes: Positive<u64> = default().stream_bytes,
    }
}

impl ReplySection {
    pub(super) fn reply_limits(mut self) -> ReplyLimits {
        ReplyLimits {
            text_bytes: self.text_bytes(),
            arguments_bytes: self.arguments_bytes(),
            calls: self.calls(),
            reply_bytes: self.bytes(),
            event_bytes: self.event_bytes(),
            stream_bytes: self.stream_bytes(),
        }
    }
}
