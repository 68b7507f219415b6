//! The providers' wire formats: how a request is written, and how the events of an answer are read.
//!
//! - `openai`: chat completions, also of every server that speaks like OpenAI
//! - `anthropic`: messages
//! - `gemini`: generated content
//! - `ollama`: chat

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use std::collections::HashMap;

use planwright_core::model::{ModelRequest, ToolCall, ToolSpec};
use reqwest::Url;
use serde_json::{Value, json};

use crate::choose::Provider;
use crate::provider::event_reader::Framing;
use crate::provider::provider_info::ProviderInfo;
use crate::provider::reply_builder::{ReplyBuilder, TooLarge};

/// A request as it is posted.
#[derive(Debug)]
pub(super) struct WireRequest {
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
}

/// Reads the events of one answer.
pub(super) trait ReplyParser: Send {
    /// Takes in one event. Its data is read as JSON before, except where [`Self::is_end`] says that it is none.
    fn read(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<Flow, ParseError>;

    /// Whether this data, which need not be JSON, marks the end.
    fn is_end(&self, data: &str) -> bool {
        let _ = data;
        false
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    /// The reply is complete.
    End,
}

#[derive(Debug)]
pub(super) enum ParseError {
    TooLarge(TooLarge),
    /// The event tells of an error at the provider.
    Provider,
}

impl From<TooLarge> for ParseError {
    fn from(limit: TooLarge) -> Self {
        Self::TooLarge(limit)
    }
}

/// Where requests are posted.
pub(super) fn url(provider: Provider, base: &str, model: &str) -> Result<Url, String> {
    let base: Url = base.parse().map_err(|error| format!("the base address cannot be read: {error}"))?;
    let path = match provider {
        Provider::OpenAi => "chat/completions".to_owned(),
        Provider::Anthropic => "messages".to_owned(),
        Provider::Gemini => format!("models/{model}:streamGenerateContent?alt=sse"),
        Provider::Ollama => "api/chat".to_owned(),
    };
    // The `./` keeps the colon in a model's name from being read as a scheme.
    let mut url = base.join(&format!("./{path}")).map_err(|error| error.to_string())?;
    if base.query().is_some() {
        url.set_query(base.query());
    }
    Ok(url)
}

pub(super) fn request(info: &ProviderInfo, asked: &ModelRequest) -> WireRequest {
    match info.provider() {
        Provider::OpenAi => openai::request(info, asked),
        Provider::Anthropic => anthropic::request(info, asked),
        Provider::Gemini => gemini::request(info, asked),
        Provider::Ollama => ollama::request(info, asked),
    }
}

pub(super) fn parser(provider: Provider) -> Box<dyn ReplyParser> {
    match provider {
        Provider::OpenAi => Box::<openai::Parser>::default(),
        Provider::Anthropic => Box::<anthropic::Parser>::default(),
        Provider::Gemini => Box::<gemini::Parser>::default(),
        Provider::Ollama => Box::<ollama::Parser>::default(),
    }
}

pub(super) fn framing(provider: Provider) -> Framing {
    match provider {
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini => Framing::ServerSentEvents,
        Provider::Ollama => Framing::JsonLines,
    }
}

/// A tool as OpenAI and Ollama describe it.
fn function_tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, input_schema } = tool;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": input_schema } })
}

/// Arguments as an object, which is all that providers take back in the history. Anything else that a model wrote is
/// sent inside of one.
fn arguments_object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) | Err(_) if arguments.trim().is_empty() => json!({}),
        Ok(_) | Err(_) => json!({ "unreadable_arguments": arguments }),
    }
}

/// Ids that every provider takes, in the place of ours.
#[derive(Debug, Default)]
struct WireIds(HashMap<String, String>);

impl WireIds {
    fn of(&mut self, id: &str) -> String {
        let next = self.0.len();
        self.0.entry(id.to_owned()).or_insert_with(|| format!("call_{next}")).clone()
    }
}

/// The signatures of a call that this provider made. Those of another provider are worthless to it.
fn own_signatures(provider: Provider, call: &ToolCall) -> impl Iterator<Item = &str> {
    call.signatures.iter().filter_map(move |text| {
        let (owner, signature) = text.split_once(':')?;
        (owner == provider.to_string()).then_some(signature)
    })
}

/// A count in a provider's report; zero where it says nothing.
fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}
