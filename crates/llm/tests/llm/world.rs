//! What the tests share: a listener that remembers, requests, and models that are connected to a server of the test.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use planwright_core::model::{ModelMessage, ModelReply, ModelRequest, SentCall, ToolCall, ToolSpec};
use planwright_engine::model::{Listener, Model, ModelError};
use planwright_llm::{ModelChoice, Options, RetryPolicy, connect};
use serde_json::json;

use crate::server::Server;

pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// The calls of a listener, in order.
#[derive(Debug, Default)]
pub(crate) struct RecordingListener(Mutex<Vec<ListenerCall>>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListenerCall {
    Text(String),
    Again(String, Duration),
}

impl Listener for RecordingListener {
    fn text(&self, piece: &str) {
        self.0.lock().unwrap().push(ListenerCall::Text(piece.to_owned()));
    }

    fn again(&self, why: &str, wait: Duration) {
        self.0.lock().unwrap().push(ListenerCall::Again(why.to_owned(), wait));
    }
}

impl RecordingListener {
    pub(crate) fn pieces(&self) -> Vec<String> {
        let calls = self.0.lock().unwrap();
        let text = |call: &ListenerCall| match call {
            ListenerCall::Text(piece) => Some(piece.clone()),
            ListenerCall::Again(..) => None,
        };
        calls.iter().filter_map(text).collect()
    }

    pub(crate) fn agains(&self) -> Vec<(String, Duration)> {
        let calls = self.0.lock().unwrap();
        let again = |call: &ListenerCall| match call {
            ListenerCall::Text(_) => None,
            ListenerCall::Again(why, wait) => Some((why.clone(), *wait)),
        };
        calls.iter().filter_map(again).collect()
    }

    /// What counts: the pieces since the last `again`.
    pub(crate) fn text(&self) -> String {
        let calls = self.0.lock().unwrap();
        let since = calls.iter().rposition(|call| matches!(call, ListenerCall::Again(..))).map_or(0, |at| at + 1);
        let text = |call: &ListenerCall| match call {
            ListenerCall::Text(piece) => piece.clone(),
            ListenerCall::Again(..) => String::new(),
        };
        calls[since..].iter().map(text).collect()
    }
}

pub(crate) fn user(text: &str) -> ModelMessage {
    ModelMessage::User { text: text.to_owned() }
}

pub(crate) fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { name: name.to_owned(), arguments: arguments.to_owned(), signatures: Vec::new() }
}

pub(crate) fn sent(id: &str, call: ToolCall) -> SentCall {
    SentCall { id: id.to_owned(), call }
}

pub(crate) fn result(id: &str, name: &str, text: &str) -> ModelMessage {
    ModelMessage::ToolResult { id: id.to_owned(), name: name.to_owned(), text: text.to_owned(), failed: false }
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("What {name} does."),
        input_schema: json!({
            "type": "object",
            "properties": { "path": { "type": ["string", "null"], "default": null } },
            "additionalProperties": false,
        }),
    }
}

/// A short conversation with a system prompt and nothing else.
pub(crate) fn question() -> ModelRequest {
    ModelRequest { system: "Be brief.".to_owned(), messages: vec![user("Hello?")], ..ModelRequest::default() }
}

/// A turn in the middle: two calls beside some text, both answered, with tools and a limit.
pub(crate) fn turn() -> ModelRequest {
    ModelRequest {
        system: "Be brief.".to_owned(),
        messages: vec![
            user("What do the notes say?"),
            ModelMessage::Assistant {
                text: "Let me look.".to_owned(),
                calls: vec![
                    sent("turn.1:0", call("read_file", r#"{"path": "notes.md"}"#)),
                    sent("turn.1:1", call("plan_get", "{ not json")),
                ],
            },
            result("turn.1:0", "read_file", r#"{"text":"Buy milk"}"#),
            ModelMessage::ToolResult {
                id: "turn.1:1".to_owned(),
                name: "plan_get".to_owned(),
                text: r#"{"code":"INVALID_ARGUMENT"}"#.to_owned(),
                failed: true,
            },
        ],
        tools: [tool("read_file"), tool("plan_get")].into(),
        max_output_tokens: Some(512),
    }
}

/// Waits so short that tests do not notice them.
pub(crate) fn quick() -> Options {
    let moment = Duration::from_millis(1);
    Options {
        retries: RetryPolicy {
            max_attempts: 3,
            initial_backoff: moment,
            max_backoff: moment,
            ..RetryPolicy::default()
        },
        ..Options::default()
    }
}

pub(crate) fn model_at(server: &Server, choice: &str) -> Arc<dyn Model> {
    model_with(server, choice, quick())
}

pub(crate) fn model_with(server: &Server, choice: &str, options: Options) -> Arc<dyn Model> {
    let address = server.address();
    let lookup = move |variable: &str| match variable {
        "OPENAI_BASE_URL" => Some(format!("{address}/v1")),
        "ANTHROPIC_BASE_URL" | "GEMINI_BASE_URL" | "OLLAMA_BASE_URL" => Some(address.clone()),
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" | "GEMINI_API_KEY" => Some(KEY.to_owned()),
        _ => None,
    };
    connect(&choice.parse::<ModelChoice>().unwrap(), lookup, options).unwrap()
}

pub(crate) async fn ask(
    model: &Arc<dyn Model>,
    request: &ModelRequest,
) -> (Result<ModelReply, ModelError>, RecordingListener) {
    let heard = RecordingListener::default();
    let reply = model.reply(request, &heard).await;
    if let Err(error) = &reply {
        assert!(!error.message.contains(KEY), "the key is in {error}");
        assert!(!format!("{error:?}").contains(KEY), "the key is in {error:?}");
    }
    for (why, _) in heard.agains() {
        assert!(!why.contains(KEY), "the key is in {why}");
    }
    (reply, heard)
}
