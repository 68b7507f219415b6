//! Looking at what was sent and stored.

use planwright_core::event::{Event, SessionEvent, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::turn::{ToolStatus, TurnEnd};

/// The messages in short: `user: …`, `model: … [tool]`, `result tool: …`.
pub(crate) fn script(request: &ModelRequest) -> Vec<String> {
    let told = |message: &ModelMessage| match message {
        ModelMessage::User { text } => format!("user: {text}"),
        ModelMessage::Assistant { text, calls } => {
            let names: Vec<_> = calls.iter().map(|sent| sent.call.name.as_str()).collect();
            if names.is_empty() { format!("model: {text}") } else { format!("model: {text} [{}]", names.join(", ")) }
        }
        ModelMessage::ToolResult { name, text, failed, .. } => {
            format!("{} {name}: {text}", if *failed { "failed" } else { "result" })
        }
    };
    request.messages.iter().map(told).collect()
}

pub(crate) fn tool_names(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// The outcomes of the tool calls, in order.
pub(crate) fn statuses(events: &[Event]) -> Vec<ToolStatus> {
    let status = |event: &Event| {
        if let Event::Turn { event: TurnEvent::ToolEnded { outcome, .. }, .. } = event {
            Some(outcome.status)
        } else {
            None
        }
    };
    events.iter().filter_map(status).collect()
}

#[track_caller]
pub(crate) fn is_valid(request: &ModelRequest) {
    let mut open = Vec::new();
    for message in &request.messages {
        match message {
            ModelMessage::User { text } => {
                assert!(open.is_empty() && !text.trim().is_empty(), "{:#?}", script(request));
            }
            ModelMessage::Assistant { text, calls } => {
                assert!(open.is_empty(), "calls without results: {:#?}", script(request));
                assert!(!calls.is_empty() || !text.trim().is_empty(), "a blank message: {:#?}", script(request));
                open = calls.iter().rev().map(|sent| (sent.id.clone(), sent.call.name.clone())).collect();
            }
            ModelMessage::ToolResult { id, name, text, .. } => {
                assert_eq!(open.pop(), Some((id.clone(), name.clone())), "{:#?}", script(request));
                assert!(!text.is_empty(), "a blank result: {:#?}", script(request));
            }
        }
    }
    assert!(open.is_empty(), "calls without results: {:#?}", script(request));
    assert!(matches!(request.messages.first(), Some(ModelMessage::User { .. })), "{:#?}", script(request));
}

/// What was said and how it ended, turn by turn. No turn begins before the one before it has ended, and everything in
/// it belongs to it.
#[track_caller]
pub(crate) fn turns(events: &[Event]) -> Vec<(String, TurnEnd)> {
    let mut turns = Vec::new();
    let mut open: Option<(TurnId, String)> = None;
    for event in events {
        match event {
            Event::Turn { id: turn, event: TurnEvent::Begun { text, .. } } => {
                assert_eq!(open, None, "{text:?} was begun before the turn before it had ended");
                open = Some((turn.clone(), text.clone()));
            }
            Event::Turn { id: turn, event: TurnEvent::ModelReplied { .. } }
            | Event::Turn { id: turn, event: TurnEvent::ToolEnded { .. } }
            | Event::Turn { id: turn, event: TurnEvent::Resumed } => {
                assert_eq!(Some(turn), open.as_ref().map(|(id, _)| id), "{event:?}");
            }
            Event::Turn { id: turn, event: TurnEvent::Ended { ending } } => {
                let (id, text) = open.take().unwrap();
                assert_eq!(*turn, id);
                turns.push((text, ending.end.clone()));
            }
            Event::Session(SessionEvent::ConversationReset { .. }) => open = None,
            _ => {}
        }
    }
    assert_eq!(open, None, "a turn was left open");
    turns
}

/// The newest words of the person in a request.
pub(crate) fn newest_message(request: &ModelRequest) -> String {
    let output = request.messages.iter().rev().find_map(|message| match message {
        ModelMessage::User { text } => Some(text.clone()),
        ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
    });
    output.unwrap_or_default()
}
