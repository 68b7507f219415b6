//! Ollama's chat.

use planwright_core::model::{ModelMessage, ModelRequest, SentCall, Usage};
use serde_json::{Value, json};

use super::{Flow, ParseError, ReplyParser, WireRequest, arguments_object, count, function_tool};
use crate::provider::provider_info::ProviderInfo;
use crate::provider::reply_builder::{ReplyBuilder, StopReason};

pub(super) fn request(info: &ProviderInfo, asked: &ModelRequest) -> WireRequest {
    let mut body = json!({ "model": info.model, "stream": true, "messages": messages(asked) });
    if !asked.tools.is_empty() {
        body["tools"] = asked.tools.iter().map(function_tool).collect();
    }
    if let Some(most) = asked.max_output_tokens {
        body["options"] = json!({ "num_predict": most });
    }
    let bearer = |key: &str| ("authorization", format!("Bearer {key}"));
    WireRequest { headers: info.revealed_key().map(bearer).into_iter().collect(), body }
}

fn messages(asked: &ModelRequest) -> Vec<Value> {
    let mut sent = Vec::new();
    if !asked.system.is_empty() {
        sent.push(json!({ "role": "system", "content": asked.system }));
    }
    for message in &asked.messages {
        match message {
            ModelMessage::User { text } => sent.push(json!({ "role": "user", "content": text })),
            ModelMessage::Assistant { text, calls } => sent.extend(assistant(text, calls)),
            ModelMessage::ToolResult { text, .. } => sent.push(json!({ "role": "tool", "content": text })),
        }
    }
    sent
}

fn assistant(text: &str, calls: &[SentCall]) -> Option<Value> {
    let mut message = json!({ "role": "assistant" });
    if !text.trim().is_empty() {
        message["content"] = json!(text);
    }
    if !calls.is_empty() {
        let call = |sent: &SentCall| {
            let arguments = arguments_object(&sent.call.arguments);
            json!({ "function": { "name": sent.call.name, "arguments": arguments } })
        };
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    (message.as_object().is_some_and(|fields| fields.len() > 1)).then_some(message)
}

#[derive(Debug, Default)]
pub(super) struct Parser;

impl ReplyParser for Parser {
    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<Flow, ParseError> {
        if event.get("error").is_some() {
            return Err(ParseError::Provider);
        }
        let message = &event["message"];
        reply.push_text(message["content"].as_str().unwrap_or_default())?;
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let index = reply.begin_call(function["name"].as_str().unwrap_or_default())?;
            reply.push_arguments(index, &function["arguments"].to_string())?;
        }
        if event["done"] != true {
            return Ok(Flow::More);
        }
        reply.usage =
            Usage { input_tokens: count(&event["prompt_eval_count"]), output_tokens: count(&event["eval_count"]) };
        reply.stop = event["done_reason"].as_str().map(|reason| match reason {
            "stop" => StopReason::Completed,
            "length" => StopReason::MaxTokens,
            other => StopReason::Other(other.to_owned()),
        });
        Ok(Flow::End)
    }
}
