//! How often a model may be called for a session.

use super::{Rule, Violations, journal};
use crate::evidence::Evidence;
use crate::script::{self, Marker};

pub(super) fn check(evidence: &Evidence, violations: &mut Violations) {
    for (session, entries) in &evidence.journals {
        let turns = journal::turns(entries);
        check_document_turns(session, entries, evidence.nudges, violations);
        for turn in &turns {
            let Some(marker) = Marker::find(&turn.text) else { continue };
            let most = script::most_calls(marker.kind, turn.document);
            if turn.replies > most {
                let what = format!("{session}: {:?} got {} replies, and needs {most}", turn.text, turn.replies);
                violations.add(Rule::ModelCalls, what);
            }
        }
        let calls = evidence
            .model_calls
            .iter()
            .filter(|call| call.marker.as_ref().is_some_and(|marker| marker.session == *session));
        let (failed, made): (Vec<_>, Vec<_>) = calls.partition(|call| call.failed);
        let replies: usize = turns.iter().map(|turn| turn.replies).sum();
        let resumed: usize = turns.iter().map(|turn| turn.resumed).sum();
        let allowed = replies + resumed + evidence.interruptions;
        if made.len() > allowed {
            let what = format!(
                "{session}: {} model calls ({} failed ones apart) for {replies} recorded replies, {resumed} resumptions \
                 and {} faults",
                made.len(),
                failed.len(),
                evidence.interruptions
            );
            violations.add(Rule::ModelCalls, what);
        }
    }
    for call in evidence.model_calls.iter().filter(|call| call.marker.is_none()) {
        violations.add(Rule::ModelCalls, format!("a model call for no input: {:?}", call.text));
    }
}

/// The system begins a turn for an approved document, and after each reported step or approval at most as many more as
/// there are nudges.
fn check_document_turns(session: &str, entries: &[serde_json::Value], nudges: u32, violations: &mut Violations) {
    let mut idle = 0;
    for event in entries.iter().map(|entry| &entry["event"]) {
        match event["type"].as_str().unwrap_or_default() {
            "plan_approved" | "step_ended" | "execution_resumed" => idle = 0,
            "turn_begun" if event["text"].as_str().is_some_and(script::is_document) => {
                idle += 1;
                if idle > 1 + nudges {
                    let what = format!("{session}: turn {idle} in a row without progress: {}", event["text"]);
                    violations.add(Rule::ModelCalls, what);
                }
            }
            _ => {}
        }
    }
}
