//! A journal as the turns in it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::script;

#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) text: String,
    /// The system began it to carry out an approved document.
    pub(super) document: bool,
    /// Name and arguments of each tool call, in order.
    pub(super) calls: Vec<(String, Value)>,
    /// The statuses recorded for each call, by its number from 1.
    pub(super) outcomes: BTreeMap<u64, Vec<String>>,
    pub(super) replies: usize,
    pub(super) resumed: usize,
    /// What the model said last.
    pub(super) expected: String,
    pub(super) end: Option<String>,
}

/// The turns in the order in which they began. What names a turn that did not begin makes one with an empty text.
pub(super) fn turns(entries: &[Value]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for event in entries.iter().map(|entry| &entry["event"]) {
        let Some(id) = event["turn"].as_str() else { continue };
        if event["type"] == "turn_begun" || !turns.iter().any(|turn| turn.id == id) {
            let text = event["text"].as_str().unwrap_or_default().to_owned();
            let document = script::is_document(&text);
            turns.push(Turn { id: id.to_owned(), text, document, ..Turn::default() });
        }
        let Some(turn) = turns.iter_mut().rfind(|turn| turn.id == id) else { continue };
        match event["type"].as_str().unwrap_or_default() {
            "turn_resumed" => turn.resumed += 1,
            "model_replied" => {
                turn.replies += 1;
                turn.expected = event["reply"]["text"].as_str().unwrap_or_default().to_owned();
                for call in event["reply"]["calls"].as_array().into_iter().flatten() {
                    let arguments = call["arguments"].as_str().unwrap_or_default();
                    let arguments = serde_json::from_str(arguments).unwrap_or_default();
                    turn.calls.push((call["name"].as_str().unwrap_or_default().to_owned(), arguments));
                }
            }
            "tool_ended" => {
                let status = event["outcome"]["status"].as_str().unwrap_or_default().to_owned();
                turn.outcomes.entry(event["call"].as_u64().unwrap_or(0)).or_default().push(status);
            }
            "turn_ended" => turn.end = Some(event["end"]["kind"].as_str().unwrap_or_default().to_owned()),
            _ => {}
        }
    }
    turns
}

/// How often an event of this type happened to each plan.
pub(super) fn of_plans<'a>(entries: &'a [Value], kind: &str) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for event in entries.iter().map(|entry| &entry["event"]).filter(|event| event["type"] == kind) {
        *counts.entry(event["plan"].as_str().unwrap_or_default()).or_default() += 1;
    }
    counts
}

/// No turn is open, and no plan is being carried out. Plans that are paused wait for a person.
pub(crate) fn is_settled(entries: &[Value]) -> bool {
    !entries.is_empty() && turns(entries).iter().all(|turn| turn.end.is_some()) && carried_out(entries).is_empty()
}

/// The plans that are being carried out: approved or begun, and neither paused nor ended.
pub(super) fn carried_out(entries: &[Value]) -> BTreeSet<&str> {
    let mut plans = BTreeSet::new();
    for event in entries.iter().map(|entry| &entry["event"]) {
        let Some(plan) = event["plan"].as_str() else { continue };
        match event["type"].as_str().unwrap_or_default() {
            "plan_approved" | "execution_started" | "execution_resumed" => plans.insert(plan),
            "execution_paused" | "execution_finished" | "plan_superseded" | "plan_cancelled" => plans.remove(plan),
            _ => false,
        };
    }
    plans
}
