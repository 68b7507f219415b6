//! The current turn, read from the request.

use planwright_core::model::{ModelMessage, ModelRequest, SentCall, ToolSpec};
use serde_json::Value;

#[derive(Debug)]
pub(super) struct TurnView<'a> {
    pub(super) request: &'a ModelRequest,
    /// The first message of the conversation.
    pub(super) opening: &'a str,
    /// The last message of the person.
    pub(super) text: &'a str,
    /// The calls made since then.
    pub(super) calls: Vec<MadeCall<'a>>,
}

/// A call of this turn and its result.
#[derive(Debug)]
pub(super) struct MadeCall<'a> {
    pub(super) name: &'a str,
    arguments: &'a str,
    pub(super) text: &'a str,
    pub(super) failed: bool,
}

impl<'a> TurnView<'a> {
    pub(super) fn of(request: &'a ModelRequest) -> Self {
        let mut opening = None;
        let mut last = "";
        let mut turn: &[ModelMessage] = &request.messages;
        for (index, message) in request.messages.iter().enumerate() {
            if let ModelMessage::User { text } = message {
                last = text.as_str();
                opening = opening.or(Some(last));
                turn = &request.messages[index + 1..];
            }
        }
        let calls = turn.iter().flat_map(sent).map(|sent| MadeCall::with_result(sent, turn)).collect();
        Self { request, opening: opening.unwrap_or_default(), text: last, calls }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&'a ToolSpec> {
        self.request.tools.iter().find(|tool| tool.name == name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    pub(super) fn made(&self, name: &str) -> impl Iterator<Item = &MadeCall<'a>> {
        self.calls.iter().filter(move |call| call.name == name)
    }

    pub(super) fn last(&self) -> Option<&MadeCall<'a>> {
        self.calls.last()
    }
}

impl<'a> MadeCall<'a> {
    fn with_result(sent: &'a SentCall, turn: &'a [ModelMessage]) -> Self {
        let result = turn.iter().find_map(|message| match message {
            ModelMessage::ToolResult { id, text, failed, .. } if *id == sent.id => Some((text.as_str(), *failed)),
            ModelMessage::ToolResult { .. } | ModelMessage::User { .. } | ModelMessage::Assistant { .. } => None,
        });
        let (text, failed) = result.unwrap_or(("It was not answered.", true));
        Self { name: &sent.call.name, arguments: &sent.call.arguments, text, failed }
    }

    /// What it was called with.
    pub(super) fn given(&self) -> Value {
        serde_json::from_str(self.arguments).unwrap_or_default()
    }

    /// The result as JSON; `null` if it is something else.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(self.text).unwrap_or_default()
    }

    /// Why it failed, in the words of the refusal.
    pub(super) fn reason(&self) -> String {
        let value = self.value();
        let message = value["message"].as_str().or_else(|| value["detail"].as_str()).unwrap_or(self.text);
        let problems =
            value["errors"].as_array().into_iter().flatten().filter_map(|problem| problem["message"].as_str());
        problems.fold(message.to_owned(), |reason, problem| reason + "\n- " + problem)
    }

    pub(super) fn is_about_plans(&self) -> bool {
        self.name.starts_with("plan_")
    }
}

fn sent(message: &ModelMessage) -> &[SentCall] {
    match message {
        ModelMessage::Assistant { calls, .. } => calls,
        ModelMessage::User { .. } | ModelMessage::ToolResult { .. } => &[],
    }
}

/// How many bytes go out, roughly.
pub(super) fn size(request: &ModelRequest) -> usize {
    let messages = request.messages.iter().map(|message| match message {
        ModelMessage::User { text } | ModelMessage::ToolResult { text, .. } => text.len(),
        ModelMessage::Assistant { text, calls } => {
            text.len() + calls.iter().map(|sent| sent.call.name.len() + sent.call.arguments.len()).sum::<usize>()
        }
    });
    let tools = request.tools.iter().map(|tool| tool.name.len() + tool.description.len());
    request.system.len() + messages.sum::<usize>() + tools.sum::<usize>()
}
