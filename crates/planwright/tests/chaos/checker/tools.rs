//! Tool calls have one outcome each, and a turn never goes back behind what is recorded.

use std::collections::BTreeMap;

use super::{Rule, Violations, journal};
use crate::evidence::Evidence;

pub(super) fn check(evidence: &Evidence, violations: &mut Violations) {
    for (session, entries) in &evidence.journals {
        for turn in journal::turns(entries) {
            for (call, outcomes) in &turn.outcomes {
                if outcomes.len() > 1 {
                    let what = format!("{session}: call {call} of {:?} has the outcomes {outcomes:?}", turn.text);
                    violations.add(Rule::ToolsOnce, what);
                }
                if *call == 0 || *call > turn.calls.len() as u64 {
                    let what = format!("{session}: {:?} has an outcome of call {call}, which was not made", turn.text);
                    violations.add(Rule::ToolsOnce, what);
                }
            }
        }
        check_steps(session, entries, violations);
    }
    check_model_calls(evidence, violations);
}

/// No step of an execution has two outcomes.
fn check_steps(session: &str, entries: &[serde_json::Value], violations: &mut Violations) {
    let mut outcomes: BTreeMap<(String, String), usize> = BTreeMap::new();
    for event in entries.iter().map(|entry| &entry["event"]).filter(|event| event["type"] == "step_ended") {
        *outcomes.entry((event["execution"].to_string(), event["step"].to_string())).or_default() += 1;
    }
    for ((execution, step), count) in outcomes.into_iter().filter(|(_, count)| *count > 1) {
        violations.add(Rule::ToolsOnce, format!("{session}: step {step} of {execution} ended {count} times"));
    }
}

/// A model call with fewer results than an earlier one of the same turn means that something recorded is done again. Only
/// a process that was frozen may send a call that it had begun before.
fn check_model_calls(evidence: &Evidence, violations: &mut Violations) {
    let mut most: BTreeMap<(&str, usize), u32> = BTreeMap::new();
    for call in &evidence.model_calls {
        let Some(marker) = &call.marker else { continue };
        // The place in the conversation is the same for all calls of a turn.
        let most = most.entry((&marker.session, call.place)).or_default();
        if call.results < *most && !evidence.frozen.contains(&call.process) {
            let what = format!(
                "{}: process {} asked for {:?} with {} results after it was asked with {most}",
                marker.session, call.process, call.text, call.results
            );
            violations.add(Rule::ToolsOnce, what);
        }
        *most = call.results.max(*most);
    }
}
