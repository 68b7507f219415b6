//! Chat completions.

use planwright_core::model::{ModelMessage, ModelRequest, SentCall, ToolSpec, Usage};
use serde_json::{Value, json};

use super::{Flow, ParseError, ReplyParser, WireIds, WireRequest, arguments_object, count, function_tool};
use crate::provider::provider_info::ProviderInfo;
use crate::provider::reply_builder::{CallIndex, ReplyBuilder, StopReason};

/// Servers that take no key are sent one all the same, because the wire format has a place for it.
const NO_KEY: &str = "none";

/// Models that refuse `max_tokens`.
const NEWER_MODELS: [&str; 5] = ["gpt-5", "gpt-6", "o1", "o3", "o4"];

pub(super) fn request(info: &ProviderInfo, asked: &ModelRequest) -> WireRequest {
    let mut body = json!({
        "model": info.model,
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": messages(asked),
    });
    if !asked.tools.is_empty() {
        let tool = |spec: &ToolSpec| {
            let mut tool = function_tool(spec);
            tool["function"]["strict"] = json!(false);
            tool
        };
        body["tools"] = asked.tools.iter().map(tool).collect();
    }
    if let Some(most) = asked.max_output_tokens {
        let newer = NEWER_MODELS.iter().any(|beginning| info.model.starts_with(beginning));
        body[if newer { "max_completion_tokens" } else { "max_tokens" }] = json!(most);
    }
    let key = info.revealed_key().unwrap_or(NO_KEY);
    WireRequest { headers: vec![("authorization", format!("Bearer {key}"))], body }
}

fn messages(asked: &ModelRequest) -> Vec<Value> {
    let mut ids = WireIds::default();
    let mut sent = Vec::new();
    if !asked.system.is_empty() {
        sent.push(json!({ "role": "system", "content": asked.system }));
    }
    for message in &asked.messages {
        match message {
            ModelMessage::User { text } => sent.push(json!({ "role": "user", "content": text })),
            ModelMessage::Assistant { text, calls } => sent.extend(assistant(&mut ids, text, calls)),
            ModelMessage::ToolResult { id, text, .. } => {
                sent.push(json!({ "role": "tool", "tool_call_id": ids.of(id), "content": text }));
            }
        }
    }
    sent
}

/// `None` for a reply without words and calls, which providers refuse.
fn assistant(ids: &mut WireIds, text: &str, calls: &[SentCall]) -> Option<Value> {
    let text = if text.trim().is_empty() { "" } else { text };
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        let mut call = |sent: &SentCall| {
            json!({
                "id": ids.of(&sent.id),
                "type": "function",
                "function": {
                    "name": sent.call.name,
                    "arguments": arguments_object(&sent.call.arguments).to_string(),
                },
            })
        };
        message["tool_calls"] = calls.iter().map(&mut call).collect();
    }
    Some(message)
}

#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The calls by the number that the provider gives them.
    calls: Vec<(u64, CallIndex)>,
}

impl ReplyParser for Parser {
    fn is_end(&self, data: &str) -> bool {
        data.trim() == "[DONE]"
    }

    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<Flow, ParseError> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(ParseError::Provider);
        }
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            reply.usage = Usage {
                input_tokens: count(&usage["prompt_tokens"]),
                output_tokens: count(&usage["completion_tokens"]),
            };
        }
        let choice = &event["choices"][0];
        read_content(&choice["delta"]["content"], reply)?;
        for fragment in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            self.read_call(fragment, reply)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            reply.stop = Some(match reason {
                "stop" | "tool_calls" | "function_call" | "eos" => StopReason::Completed,
                "length" | "model_length" => StopReason::MaxTokens,
                "content_filter" => StopReason::ContentFilter(reason.to_owned()),
                other => StopReason::Other(other.to_owned()),
            });
        }
        Ok(Flow::More)
    }
}

/// A text, or, with some servers, a list of typed parts, of which those with thoughts are not for the listener.
fn read_content(content: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), ParseError> {
    if let Some(text) = content.as_str() {
        reply.push_text(text)?;
    }
    for part in content.as_array().into_iter().flatten().filter(|part| part["type"] == "text") {
        reply.push_text(part["text"].as_str().unwrap_or_default())?;
    }
    Ok(())
}

impl Parser {
    fn read_call(&mut self, fragment: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), ParseError> {
        let function = &fragment["function"];
        let name = function["name"].as_str().unwrap_or_default();
        // Servers that send whole calls may give them no number.
        let number = fragment["index"].as_u64().unwrap_or(self.calls.len() as u64);
        let known = self.calls.iter().find(|(known, _)| *known == number).map(|(_, call)| *call);
        let call = match known {
            Some(call) => {
                if !name.is_empty() {
                    reply.name_call(call, name)?;
                }
                call
            }
            None => {
                let call = reply.begin_call(name)?;
                self.calls.push((number, call));
                call
            }
        };
        match &function["arguments"] {
            Value::String(piece) => reply.push_arguments(call, piece)?,
            Value::Object(_) => reply.push_arguments(call, &function["arguments"].to_string())?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
        Ok(())
    }
}
