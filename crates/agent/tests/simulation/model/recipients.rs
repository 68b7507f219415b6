//! Whom a request is for, and that it says nothing that is not for them.

use planwright_core::model::{ModelMessage, ModelRequest};
use serde_json::Value;

use crate::tools::number_in;
use crate::world::{Role, World};

/// A word in everything that a specialist says; no other agent may be sent it.
pub(super) const APART: &str = "apart";
/// A word in everything that is said to the person and to no specialist.
pub(super) const ALOUD: &str = "aloud";

pub(super) fn role_in(request: &ModelRequest) -> Role {
    if request.tools.is_empty() {
        return Role::Summarizer;
    }
    match request.messages.iter().find_map(user) {
        Some(text) if text.starts_with("[Step ") => Role::Doing,
        Some(text) if text.starts_with("[Question from the planner") => Role::Asked,
        Some(_) | None => Role::Agent,
    }
}

/// What is done by a specialist stays apart from the conversation, and the conversation from the specialist.
pub(super) fn check(world: &World, role: Role, request: &ModelRequest, phrase: &str, mark: &str) {
    let apart = match role {
        Role::Agent | Role::Summarizer => false,
        Role::Doing | Role::Asked => true,
    };
    let frame = match role {
        Role::Agent | Role::Summarizer => None,
        Role::Doing => Some("You do exactly one step of a plan"),
        Role::Asked => Some("asks you a question about it"),
    };
    let framed = frame.is_none_or(|frame| request.system.contains(frame));
    let specialist = request.system.contains("You are one of several specialists");
    if !framed || specialist != apart {
        world.wrong(format!("{role:?} has the prompt of another role: {}", request.system));
    }
    let stranger = format!("{mark} {}", if apart { ALOUD } else { APART });
    if phrase.contains(&stranger) {
        world.wrong(format!("{role:?} was sent what was not said to it: {phrase}"));
    }
    let others = request.messages.iter().filter_map(called).flatten().find(|number| world.is_apart(*number) != apart);
    if let Some(number) = others {
        world.wrong(format!("{role:?} was sent call {number}, which another agent made"));
    }
    let changing = request.tools.iter().any(|tool| tool.name == "charge" || tool.name == "put");
    if role == Role::Asked && changing {
        world.wrong("a specialist that answers a question was offered tools that change things");
    }
}

fn user(message: &ModelMessage) -> Option<&str> {
    match message {
        ModelMessage::User { text } => Some(text),
        ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
    }
}

/// The numbers of the calls that were made in a reply, or whose outcome this is.
fn called(message: &ModelMessage) -> Option<Vec<u64>> {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    match message {
        ModelMessage::User { .. } => None,
        ModelMessage::Assistant { calls, .. } => {
            Some(calls.iter().filter_map(|sent| number_in(&read(&sent.call.arguments))).collect())
        }
        ModelMessage::ToolResult { text, .. } => {
            let answer = read(text);
            let number = answer.get("done").filter(|_| answer.get("mark").is_some());
            Some(number.and_then(Value::as_u64).into_iter().collect())
        }
    }
}
