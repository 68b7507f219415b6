//! `reply.*`: the size of a model's reply.

use std::num::{NonZeroU64, NonZeroUsize};

use planwright_llm::ReplyLimits;
use serde::Deserialize;

use super::variables::number;
use crate::failure::Failure;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplySection {
    text_bytes: Option<NonZeroUsize>,
    arguments_bytes: Option<NonZeroUsize>,
    calls: Option<NonZeroUsize>,
    bytes: Option<NonZeroUsize>,
    event_bytes: Option<NonZeroUsize>,
    stream_bytes: Option<NonZeroU64>,
}

pub(super) fn reply_limits(section: &ReplySection) -> Result<ReplyLimits, Failure> {
    let default = ReplyLimits::default();
    let size = |name: &str, in_file: Option<NonZeroUsize>, default: usize| {
        number(name, in_file).map(|size| size.map_or(default, NonZeroUsize::get))
    };
    let stream_bytes = number("PLANWRIGHT_REPLY_STREAM_BYTES", section.stream_bytes)?;
    Ok(ReplyLimits {
        text_bytes: size("PLANWRIGHT_REPLY_TEXT_BYTES", section.text_bytes, default.text_bytes)?,
        arguments_bytes: size("PLANWRIGHT_REPLY_ARGUMENTS_BYTES", section.arguments_bytes, default.arguments_bytes)?,
        calls: size("PLANWRIGHT_REPLY_CALLS", section.calls, default.calls)?,
        reply_bytes: size("PLANWRIGHT_REPLY_BYTES", section.bytes, default.reply_bytes)?,
        event_bytes: size("PLANWRIGHT_REPLY_EVENT_BYTES", section.event_bytes, default.event_bytes)?,
        stream_bytes: stream_bytes.map_or(default.stream_bytes, NonZeroU64::get),
    })
}
