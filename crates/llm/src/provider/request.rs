//! A request in the words of the wire library.

use std::collections::HashMap;

use genai::Headers;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, MessageContent, ReasoningEffort, Tool, ToolCall, ToolResponse,
};
use planwright_core::model::{ModelMessage, ModelRequest, SentCall};
use serde_json::{Value, json};

use crate::choose::Provider;
use crate::provider::party::Party;
use crate::provider::signatures;
use crate::provider::watch::Watch;

/// Anthropic wants a number with every request, and counts it against the window.
const ANTHROPIC_OUTPUT_TOKENS: u32 = 16_384;

pub(super) fn options(party: &Party, request: &ModelRequest, watch: &Watch) -> ChatOptions {
    let watch = watch.clone();
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_tool_calls(true)
        .with_raw_frame_fn(move |_, frame| watch.saw(frame.data));
    options.max_tokens = request.max_output_tokens;
    match party.provider() {
        // With an effort given, a name such as `qwen3-max` is not taken apart in search of one; a budget is not sent.
        Provider::OpenAi => options.reasoning_effort = Some(ReasoningEffort::Budget(0)),
        Provider::Anthropic => {
            // Without its thinking, Anthropic does not take a call back.
            options.capture_reasoning_content = Some(true);
            options.max_tokens.get_or_insert(ANTHROPIC_OUTPUT_TOKENS);
        }
        Provider::Gemini => {}
        Provider::Ollama => {
            let bearer = |key: &str| Headers::from(("Authorization".to_owned(), format!("Bearer {key}")));
            options.extra_headers = party.revealed_key().map(bearer);
        }
    }
    options
}

pub(super) fn chat_request(provider: Provider, request: &ModelRequest) -> ChatRequest {
    let mut chat = ChatRequest::new(messages(provider, &request.messages));
    chat.system = Some(request.system.clone()).filter(|system| !system.is_empty());
    if !request.tools.is_empty() {
        let tool = |tool: &planwright_core::model::ToolSpec| {
            Tool::new(tool.name.clone())
                .with_description(tool.description.clone())
                .with_schema(tool.input_schema.clone())
        };
        chat.tools = Some(request.tools.iter().map(tool).collect());
    }
    chat
}

fn messages(provider: Provider, messages: &[ModelMessage]) -> Vec<ChatMessage> {
    let mut ids = WireIds { provider, known: HashMap::new() };
    let mut sent: Vec<ChatMessage> = Vec::new();
    // Results that follow each other answer the calls of one reply and go out together.
    let mut results: Vec<ContentPart> = Vec::new();
    for message in messages {
        if !matches!(message, ModelMessage::ToolResult { .. }) {
            sent.extend(together(provider, std::mem::take(&mut results)));
        }
        match message {
            ModelMessage::User { text } => sent.push(ChatMessage::user(text.clone())),
            ModelMessage::Assistant { text, calls } => sent.extend(assistant(&mut ids, text, calls)),
            ModelMessage::ToolResult { id, name, text, failed } => {
                results.push(result(provider, ids.of(id, name), name, text, *failed));
            }
        }
    }
    sent.extend(together(provider, results));
    sent
}

fn result(provider: Provider, id: String, tool: &str, text: &str, failed: bool) -> ContentPart {
    match provider {
        // It has a word for failure that the wire library has not.
        Provider::Anthropic if failed => {
            let block = json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": true });
            ContentPart::from_custom(block, None)
        }
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini | Provider::Ollama => {
            ContentPart::ToolResponse(ToolResponse::new(id, text).with_fn_name(tool))
        }
    }
}

fn together(provider: Provider, results: Vec<ContentPart>) -> Vec<ChatMessage> {
    let message = |parts: Vec<ContentPart>| ChatMessage::tool(MessageContent::from_parts(parts));
    match provider {
        // A message has room for one result there.
        Provider::Ollama => results.into_iter().map(|result| message(vec![result])).collect(),
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini if results.is_empty() => Vec::new(),
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini => vec![message(results)],
    }
}

/// `None` for a reply without words and calls, which providers do not take.
fn assistant(ids: &mut WireIds, text: &str, calls: &[SentCall]) -> Option<ChatMessage> {
    let provider = ids.provider;
    let mut parts: Vec<ContentPart> =
        calls.iter().flat_map(|sent| signatures::parts_before(provider, &sent.call)).collect();
    if !text.trim().is_empty() {
        parts.push(ContentPart::Text(text.to_owned()));
    }
    for SentCall { id, call } in calls {
        parts.push(ContentPart::ToolCall(ToolCall {
            call_id: ids.of(id, &call.name),
            fn_name: call.name.clone(),
            fn_arguments: object(&call.arguments),
            thought_signatures: signatures::beside(provider, call),
        }));
    }
    (!parts.is_empty()).then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
}

/// Arguments as an object, which is all that is taken back in the history. What a model wrote that is no object is shown
/// to it inside one.
fn object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) | Err(_) if arguments.trim().is_empty() => json!({}),
        Ok(_) | Err(_) => json!({ "unreadable_arguments": arguments }),
    }
}

/// Ids that every provider takes, in the place of ours.
struct WireIds {
    provider: Provider,
    known: HashMap<String, String>,
}

impl WireIds {
    fn of(&mut self, id: &str, tool: &str) -> String {
        let next = self.known.len();
        let wire = || match self.provider {
            // An id of this form is not sent: Gemini matches results by order and name, and only knows its own ids.
            Provider::Gemini => format!("call#{tool}#{next}"),
            Provider::OpenAi | Provider::Anthropic | Provider::Ollama => format!("call_{next}"),
        };
        self.known.entry(id.to_owned()).or_insert_with(wire).clone()
    }
}
