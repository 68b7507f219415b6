//! Messages. The thoughts before a tool call go back with the call, because Anthropic does not take it back without them.

use planwright_core::model::{ModelMessage, ModelRequest, SentCall, Usage};
use serde_json::{Value, json};

use super::{Flow, ParseError, ReplyParser, WireIds, WireRequest, arguments_object, count, own_signatures};
use crate::choose::Provider;
use crate::provider::provider_info::ProviderInfo;
use crate::provider::reply_builder::{CallIndex, ReplyBuilder, StopReason};

const VERSION: &str = "2023-06-01";

/// Anthropic requires a number with every request, and counts it against the window.
const OUTPUT_TOKENS: u32 = 16_384;

pub(super) fn request(info: &ProviderInfo, asked: &ModelRequest) -> WireRequest {
    let mut body = json!({
        "model": info.model,
        "stream": true,
        "max_tokens": asked.max_output_tokens.unwrap_or(OUTPUT_TOKENS),
        "messages": messages(&asked.messages),
    });
    if !asked.system.is_empty() {
        body["system"] = json!(asked.system);
    }
    if !asked.tools.is_empty() {
        let tool = |tool: &planwright_core::model::ToolSpec| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema });
        body["tools"] = asked.tools.iter().map(tool).collect();
    }
    let key = info.revealed_key().unwrap_or_default().to_owned();
    WireRequest { headers: vec![("x-api-key", key), ("anthropic-version", VERSION.to_owned())], body }
}

fn messages(messages: &[ModelMessage]) -> Vec<Value> {
    let mut ids = WireIds::default();
    let mut sent = Vec::new();
    // The results of one reply's calls go out in one message.
    let mut results: Vec<Value> = Vec::new();
    for message in messages {
        if !matches!(message, ModelMessage::ToolResult { .. }) && !results.is_empty() {
            sent.push(json!({ "role": "user", "content": std::mem::take(&mut results) }));
        }
        match message {
            ModelMessage::User { text } => sent.push(json!({ "role": "user", "content": text })),
            ModelMessage::Assistant { text, calls } => sent.extend(assistant(&mut ids, text, calls)),
            ModelMessage::ToolResult { id, text, failed, .. } => {
                let mut result = json!({ "type": "tool_result", "tool_use_id": ids.of(id), "content": text });
                if *failed {
                    result["is_error"] = json!(true);
                }
                results.push(result);
            }
        }
    }
    if !results.is_empty() {
        sent.push(json!({ "role": "user", "content": results }));
    }
    sent
}

fn assistant(ids: &mut WireIds, text: &str, calls: &[SentCall]) -> Option<Value> {
    let thoughts = calls.iter().flat_map(|sent| own_signatures(Provider::Anthropic, &sent.call));
    let mut blocks: Vec<Value> = thoughts.filter_map(|block| serde_json::from_str(block).ok()).collect();
    if !text.trim().is_empty() {
        blocks.push(json!({ "type": "text", "text": text }));
    }
    for SentCall { id, call } in calls {
        let input = arguments_object(&call.arguments);
        blocks.push(json!({ "type": "tool_use", "id": ids.of(id), "name": call.name, "input": input }));
    }
    (!blocks.is_empty()).then(|| json!({ "role": "assistant", "content": blocks }))
}

#[derive(Debug, Default)]
pub(super) struct Parser {
    block: Block,
    /// Finished blocks of thoughts, as they go back.
    thoughts: Vec<Value>,
    usage: Value,
}

/// The block of content that is being sent.
#[derive(Debug, Default)]
enum Block {
    #[default]
    Text,
    Call(CallIndex),
    Thinking {
        thinking: String,
        signature: String,
    },
}

impl ReplyParser for Parser {
    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<Flow, ParseError> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.take_usage(&event["message"]["usage"]),
            "content_block_start" => self.begin_block(&event["content_block"], reply)?,
            "content_block_delta" => self.read_delta(&event["delta"], reply)?,
            "content_block_stop" => self.end_block(),
            "message_delta" => {
                self.take_usage(&event["usage"]);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    reply.stop = Some(stop_reason(reason));
                }
            }
            "message_stop" => {
                self.end_block();
                self.finish(reply)?;
                return Ok(Flow::End);
            }
            "error" => return Err(ParseError::Provider),
            // A ping, or something newer than this program.
            _ => {}
        }
        Ok(Flow::More)
    }
}

impl Parser {
    fn begin_block(&mut self, block: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), ParseError> {
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        match text("type") {
            "tool_use" => {
                let call = reply.begin_call(text("name"))?;
                // The input comes in pieces, or else is here already.
                if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    reply.push_arguments(call, &block["input"].to_string())?;
                }
                self.block = Block::Call(call);
            }
            "thinking" => {
                reply.count(text("thinking").len() + text("signature").len())?;
                self.block =
                    Block::Thinking { thinking: text("thinking").to_owned(), signature: text("signature").to_owned() };
            }
            "redacted_thinking" => {
                reply.count(text("data").len())?;
                self.thoughts.push(block.clone());
            }
            _ => {
                self.block = Block::Text;
                reply.push_text(text("text"))?;
            }
        }
        Ok(())
    }

    fn read_delta(&mut self, delta: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), ParseError> {
        let text = |name: &str| delta[name].as_str().unwrap_or_default();
        match &mut self.block {
            Block::Text => reply.push_text(text("text"))?,
            Block::Call(call) => reply.push_arguments(*call, text("partial_json"))?,
            Block::Thinking { thinking, signature } => {
                reply.count(text("thinking").len() + text("signature").len())?;
                thinking.push_str(text("thinking"));
                signature.push_str(text("signature"));
            }
        }
        Ok(())
    }

    fn end_block(&mut self) {
        match std::mem::take(&mut self.block) {
            // Thoughts that are not signed are refused when they go back.
            Block::Thinking { thinking, signature } if !signature.is_empty() => {
                self.thoughts.push(json!({ "type": "thinking", "thinking": thinking, "signature": signature }));
            }
            Block::Text | Block::Call(_) | Block::Thinking { .. } => {}
        }
    }

    /// Thoughts come before all calls of a reply, and are kept with the first.
    fn finish(&mut self, reply: &mut ReplyBuilder<'_>) -> Result<(), ParseError> {
        let tokens = |name: &str| count(&self.usage[name]);
        reply.usage = Usage {
            input_tokens: tokens("input_tokens")
                + tokens("cache_creation_input_tokens")
                + tokens("cache_read_input_tokens"),
            output_tokens: tokens("output_tokens"),
        };
        if let Some(call) = reply.first_call() {
            for block in &self.thoughts {
                reply.sign(call, format!("{}:{block}", Provider::Anthropic))?;
            }
        }
        Ok(())
    }

    /// The last report counts, field by field.
    fn take_usage(&mut self, usage: &Value) {
        for (name, value) in usage.as_object().into_iter().flatten().filter(|(_, value)| value.is_u64()) {
            self.usage[name] = value.clone();
        }
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "tool_use" | "stop_sequence" => StopReason::Completed,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::ContentFilter(reason.to_owned()),
        other => StopReason::Other(other.to_owned()),
    }
}
