//! A model that carries plans out by their text. What it answers follows from what it is sent and from nothing else, so
//! that it continues where a process before it stopped.

use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

pub(super) fn model() -> ScriptedModel {
    ScriptedModel::answering(|request| {
        let given = request.messages.iter().rev().find_map(|message| match message {
            ModelMessage::User { text } => Some(text.as_str()),
            ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
        });
        let given = given.unwrap_or_default();
        if given.starts_with("[Step ") { step(request, given) } else { document(request) }
    })
}

/// `ring 2, put 3; ring 5`: calls of one reply, then those of the next. The report comes last.
fn step(request: &ModelRequest, given: &str) -> Reply {
    let wanted = given.lines().find_map(|line| line.strip_prefix("> ")).unwrap();
    let made = request.messages.iter().filter(|message| matches!(message, ModelMessage::ToolResult { .. })).count();
    let mut ahead = 0;
    for group in wanted.split("; ") {
        let calls: Vec<_> = group.split(", ").collect();
        if made == ahead {
            return calls.iter().fold(Reply::default(), |reply, wanted| {
                let (tool, arguments) = call(wanted);
                reply.and_call(tool, arguments)
            });
        }
        ahead += calls.len();
    }
    Reply::call("plan_progress", json!({ "status": "done", "note": wanted }))
}

/// Reports a step, does it, reports that it is done, and continues with the next one.
fn document(request: &ModelRequest) -> Reply {
    let Some(ModelMessage::ToolResult { name, text, failed, .. }) = request.messages.last() else {
        return Reply::call("plan_get", json!({}));
    };
    if *failed {
        return Reply::text("I do not know how that ended.");
    }
    if !name.starts_with("plan_") {
        return Reply::call("plan_progress", json!({ "status": "done" }));
    }
    let answer: Value = serde_json::from_str(text).unwrap();
    let next = answer.pointer("/progress/next").or_else(|| answer.get("next")).filter(|next| !next.is_null());
    let Some(next) = next else { return Reply::text("All of it is done.") };
    if begins_a_step(request) {
        let (tool, arguments) = call(next["description"].as_str().unwrap());
        return Reply::call(tool, arguments);
    }
    Reply::call("plan_progress", json!({ "step": next["step"], "status": "in_progress" }))
}

fn begins_a_step(request: &ModelRequest) -> bool {
    let last = request.messages.iter().rev().find_map(|message| match message {
        ModelMessage::Assistant { calls, .. } => calls.last(),
        ModelMessage::User { .. } | ModelMessage::ToolResult { .. } => None,
    });
    last.is_some_and(|sent| sent.call.arguments.contains("in_progress"))
}

/// `ring 2`
pub(super) fn call(wanted: &str) -> (&str, Value) {
    let (tool, number) = wanted.split_once(' ').unwrap();
    (tool, json!({ "number": number.parse::<u64>().unwrap() }))
}
