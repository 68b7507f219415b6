//! What came back, in our own words.

use genai::chat::{ContentPart, StopReason, StreamEnd, ToolCall as WireCall, Usage as WireUsage};
use planwright_core::model::{ModelReply, ToolCall, Usage};
use planwright_engine::model::ModelErrorKind;
use serde_json::Value;

use crate::choose::Provider;
use crate::provider::failure::{Failure, Remedy};
use crate::provider::party::Party;
use crate::provider::signatures;
use crate::provider::watch::Watch;

/// The whole reply, if the answer came to its end.
pub(super) fn reply(party: &Party, text: String, end: StreamEnd, watch: &Watch) -> Result<ModelReply, Failure> {
    if !is_complete(party.provider(), &end) {
        return Err(Failure::broke_off(party, watch));
    }
    let parts = end.captured_content.map(|content| content.into_parts()).unwrap_or_default();
    let reply = ModelReply {
        text,
        calls: calls(party.provider(), &parts),
        usage: end.captured_usage.as_ref().map(usage).unwrap_or_default(),
        cut_off: matches!(end.captured_stop_reason, Some(StopReason::MaxTokens(_))),
    };
    let says_nothing = reply.text.is_empty() && reply.calls.is_empty();
    match end.captured_stop_reason {
        Some(StopReason::ContentFilter(reason)) if says_nothing => Err(Failure {
            error: party.error(
                ModelErrorKind::Refused,
                &format!("{} did not answer, because its filter stopped it", party.title()),
                &reason,
            ),
            remedy: Remedy::None,
        }),
        Some(StopReason::Other(reason)) if says_nothing => Err(Failure {
            error: party.error(ModelErrorKind::Unreadable, &format!("{} answered nothing", party.title()), &reason),
            remedy: Remedy::TryAgain,
        }),
        Some(
            StopReason::Completed(_)
            | StopReason::MaxTokens(_)
            | StopReason::ToolCall(_)
            | StopReason::StopSequence(_)
            | StopReason::ContentFilter(_)
            | StopReason::Other(_),
        )
        | None => Ok(reply),
    }
}

/// For two providers an end is made up when the connection ends. What only their real end brings tells them apart.
fn is_complete(provider: Provider, end: &StreamEnd) -> bool {
    match provider {
        Provider::OpenAi | Provider::Anthropic => true,
        Provider::Gemini => end.captured_stop_reason.is_some(),
        Provider::Ollama => end.captured_usage.is_some(),
    }
}

fn calls(provider: Provider, parts: &[ContentPart]) -> Vec<ToolCall> {
    let mut thinking = signatures::thinking_blocks(parts);
    let calls = parts.iter().filter_map(ContentPart::as_tool_call);
    calls
        .map(|call| ToolCall {
            name: call.fn_name.clone(),
            arguments: arguments(call),
            signatures: signatures::kept(provider, call, std::mem::take(&mut thinking)),
        })
        .collect()
}

/// What was not JSON arrives as a JSON string that holds it.
fn arguments(call: &WireCall) -> String {
    match &call.fn_arguments {
        Value::String(raw) if raw.trim().is_empty() => "{}".to_owned(),
        Value::Null => "{}".to_owned(),
        Value::String(raw) => raw.clone(),
        other @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_)) => other.to_string(),
    }
}

fn usage(wire: &WireUsage) -> Usage {
    let count = |number: Option<i32>| number.and_then(|number| u64::try_from(number).ok()).unwrap_or_default();
    // Gemini counts thoughts apart when there is nothing else.
    let thoughts = wire.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    Usage { input_tokens: count(wire.prompt_tokens), output_tokens: count(wire.completion_tokens.or(thoughts)) }
}
