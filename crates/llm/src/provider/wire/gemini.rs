//! Generated content. A function call goes back with the signature it came with.

use planwright_core::model::{ModelMessage, ModelRequest, SentCall, Usage};
use serde_json::{Value, json};

use super::{Flow, ParseError, ReplyParser, WireRequest, arguments_object, count, own_signatures};
use crate::choose::Provider;
use crate::provider::provider_info::ProviderInfo;
use crate::provider::reply_builder::{ReplyBuilder, StopReason};

pub(super) fn request(info: &ProviderInfo, asked: &ModelRequest) -> WireRequest {
    let mut body = json!({ "contents": contents(&asked.messages) });
    if !asked.system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": asked.system }] });
    }
    if !asked.tools.is_empty() {
        // This field takes JSON schemas as they are; `parameters` takes a part of them.
        let tool = |tool: &planwright_core::model::ToolSpec| json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.input_schema });
        let declarations: Vec<_> = asked.tools.iter().map(tool).collect();
        body["tools"] = json!([{ "functionDeclarations": declarations }]);
    }
    if let Some(most) = asked.max_output_tokens {
        body["generationConfig"] = json!({ "maxOutputTokens": most });
    }
    let key = info.revealed_key().unwrap_or_default().to_owned();
    WireRequest { headers: vec![("x-goog-api-key", key)], body }
}

/// Gemini ties results to calls by order and name.
fn contents(messages: &[ModelMessage]) -> Vec<Value> {
    let mut sent = Vec::new();
    // The results of one reply's calls go out in one message.
    let mut results: Vec<Value> = Vec::new();
    for message in messages {
        if !matches!(message, ModelMessage::ToolResult { .. }) && !results.is_empty() {
            sent.push(json!({ "role": "user", "parts": std::mem::take(&mut results) }));
        }
        match message {
            ModelMessage::User { text } => sent.push(json!({ "role": "user", "parts": [{ "text": text }] })),
            ModelMessage::Assistant { text, calls } => sent.extend(assistant(text, calls)),
            ModelMessage::ToolResult { name, text, .. } => results.push(json!({
                "functionResponse": { "name": name, "response": { "name": name, "content": text } },
            })),
        }
    }
    if !results.is_empty() {
        sent.push(json!({ "role": "user", "parts": results }));
    }
    sent
}

fn assistant(text: &str, calls: &[SentCall]) -> Option<Value> {
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        parts.push(json!({ "text": text }));
    }
    for SentCall { call, .. } in calls {
        let arguments = arguments_object(&call.arguments);
        let mut part = json!({ "functionCall": { "name": call.name, "args": arguments } });
        if let Some(signature) = own_signatures(Provider::Gemini, call).next() {
            part["thoughtSignature"] = json!(signature);
        }
        parts.push(part);
    }
    (!parts.is_empty()).then(|| json!({ "role": "model", "parts": parts }))
}

#[derive(Debug, Default)]
pub(super) struct Parser;

impl ReplyParser for Parser {
    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<Flow, ParseError> {
        let candidate = &event["candidates"][0];
        if event.get("error").is_some() || (candidate.is_null() && !event["promptFeedback"]["blockReason"].is_null()) {
            return Err(ParseError::Provider);
        }
        // Every event has a report; the last counts. Thoughts are counted apart.
        if let Some(usage) = event.get("usageMetadata") {
            reply.usage = Usage {
                input_tokens: count(&usage["promptTokenCount"]),
                output_tokens: count(&usage["candidatesTokenCount"]) + count(&usage["thoughtsTokenCount"]),
            };
        }
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            read_part(part, reply)?;
        }
        let Some(reason) = candidate["finishReason"].as_str() else { return Ok(Flow::More) };
        reply.stop = Some(stop_reason(reason));
        Ok(Flow::End)
    }
}

fn read_part(part: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), ParseError> {
    if let Some(function) = part.get("functionCall") {
        let call = reply.begin_call(function["name"].as_str().unwrap_or_default())?;
        if let Some(arguments) = function.get("args") {
            reply.push_arguments(call, &arguments.to_string())?;
        }
        if let Some(signature) = part["thoughtSignature"].as_str() {
            reply.sign(call, format!("{}:{signature}", Provider::Gemini))?;
        }
    } else if part["thought"] != true {
        reply.push_text(part["text"].as_str().unwrap_or_default())?;
    }
    Ok(())
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::Completed,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT" => StopReason::ContentFilter(reason.to_owned()),
        other => StopReason::Other(other.to_owned()),
    }
}
