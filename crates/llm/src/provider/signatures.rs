//! What a provider wants back with a call it made: Gemini its signature, Anthropic its thinking.
//!
//! They are opaque to everybody else, and worthless to another provider, so each carries the name of whose it is.

use genai::chat::{ContentPart, ToolCall as WireCall};
use planwright_core::model::ToolCall;
use serde_json::{Value, json};

use crate::choose::Provider;

/// What Anthropic thought before its calls, as the blocks that are sent back as they are.
pub(super) fn thinking_blocks(parts: &[ContentPart]) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut signature: Option<&str> = None;
    for part in parts {
        match part {
            ContentPart::ThoughtSignature(given) => signature = Some(given),
            ContentPart::ReasoningContent(thinking) => {
                if let Some(signature) = signature.take() {
                    blocks.push(json!({ "type": "thinking", "thinking": thinking, "signature": signature }));
                }
            }
            ContentPart::Custom(custom) => blocks.push(custom.data.clone()),
            ContentPart::Text(_) | ContentPart::Binary(_) | ContentPart::ToolCall(_) | ContentPart::ToolResponse(_) => {
            }
        }
    }
    blocks
}

/// The signatures to keep with a call. Thinking comes before all calls of a reply and is kept with the first.
pub(super) fn kept(provider: Provider, call: &WireCall, thinking: Vec<Value>) -> Vec<String> {
    let signed: Vec<String> = match provider {
        Provider::Anthropic => thinking.iter().map(Value::to_string).collect(),
        Provider::Gemini => call.thought_signatures.clone().unwrap_or_default(),
        Provider::OpenAi | Provider::Ollama => Vec::new(),
    };
    signed.into_iter().map(|signature| format!("{provider}:{signature}")).collect()
}

/// The parts that go before the call when it is sent back.
pub(super) fn parts_before(provider: Provider, call: &ToolCall) -> Vec<ContentPart> {
    match provider {
        Provider::Anthropic => {
            let blocks = own(provider, call).filter_map(|text| serde_json::from_str(text).ok());
            blocks.map(|block: Value| ContentPart::from_custom(block, None)).collect()
        }
        Provider::OpenAi | Provider::Gemini | Provider::Ollama => Vec::new(),
    }
}

/// The signatures that go with the call itself when it is sent back.
pub(super) fn beside(provider: Provider, call: &ToolCall) -> Option<Vec<String>> {
    match provider {
        Provider::Gemini => {
            Some(own(provider, call).map(str::to_owned).collect()).filter(|all: &Vec<_>| !all.is_empty())
        }
        Provider::OpenAi | Provider::Anthropic | Provider::Ollama => None,
    }
}

fn own(provider: Provider, call: &ToolCall) -> impl Iterator<Item = &str> {
    call.signatures.iter().filter_map(move |text| {
        let (whose, signature) = text.split_once(':')?;
        (whose == provider.to_string()).then_some(signature)
    })
}
