//! What was said and done in a conversation, for people.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::turn::ToolStatus;
use planwright_engine::history::{Message, MessageCall, MessageRole};
use serde::Serialize;
use utoipa::ToSchema;

/// In bytes.
const MAX_ARGUMENTS: usize = 4096;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    /// Its number in the journal.
    pub seq: u64,
    pub at: Timestamp,
    pub role: MessageRoleView,
    pub by: Actor,
    /// In Markdown.
    pub text: String,
    /// The calls that the agent made with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<MessageCallView>,
    /// The tool whose result this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tool: Option<String>,
    /// The outcome of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<ToolStatus>,
    /// How long the call took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub took_ms: Option<u64>,
    /// How the turn ended, if this is about its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = String)]
    pub outcome: Option<&'static str>,
    /// The plan that it shows or is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub plan_id: Option<String>,
    /// The run whose turn it was said in, or whose result it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = MessageRole)]
#[serde(rename_all = "snake_case")]
pub enum MessageRoleView {
    Person,
    Agent,
    Tool,
    Note,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageCallView {
    pub name: String,
    /// As the model wrote them, usually a JSON object. At most 4 KiB of them.
    pub arguments: String,
    /// Whether there is more of them; the journal has them all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub arguments_cut: bool,
    /// Missing while it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<ToolStatus>,
}

impl From<&Message> for MessageView {
    fn from(message: &Message) -> Self {
        let (role, tool, status, outcome) = match &message.role {
            MessageRole::Person => (MessageRoleView::Person, None, None, None),
            MessageRole::Agent => (MessageRoleView::Agent, None, None, None),
            MessageRole::Tool { name, status } => (MessageRoleView::Tool, Some(name.clone()), Some(*status), None),
            MessageRole::Note { outcome } => (MessageRoleView::Note, None, None, *outcome),
        };
        Self {
            seq: message.seq,
            at: message.at,
            role,
            by: message.by.clone(),
            text: message.text.clone(),
            calls: message.calls.iter().map(MessageCallView::from).collect(),
            tool,
            status,
            took_ms: message.took.and_then(|took| u64::try_from(took.as_millis()).ok()),
            outcome,
            plan_id: message.plan.as_ref().map(ToString::to_string),
            run_id: message.run.as_ref().map(ToString::to_string),
        }
    }
}

impl From<&MessageCall> for MessageCallView {
    fn from(call: &MessageCall) -> Self {
        let end = (0..=MAX_ARGUMENTS).rev().find(|at| call.arguments.is_char_boundary(*at)).unwrap_or(0);
        let arguments = call.arguments.get(..end).unwrap_or(&call.arguments);
        Self {
            name: call.name.clone(),
            arguments: arguments.to_owned(),
            arguments_cut: arguments.len() < call.arguments.len(),
            status: call.status,
        }
    }
}
