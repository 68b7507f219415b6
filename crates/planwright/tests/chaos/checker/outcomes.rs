//! What was acknowledged happened, happened once, and was told as it happened.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Rule, Violations, journal};
use crate::evidence::Evidence;
use crate::history::{Act, Request};

pub(super) fn check(evidence: &Evidence, violations: &mut Violations) {
    for request in &evidence.history.requests {
        let empty = Vec::new();
        let entries = evidence.journals.get(&request.session).unwrap_or(&empty);
        match &request.act {
            Act::OpenSession => check_session(request, entries, violations),
            Act::EnablePlanWork => check_same(request, |body| body["planMode"]["style"].clone(), violations),
            Act::Say { text } => check_message(request, text, entries, violations),
            Act::Approve { plan } => check_approval(request, plan, entries, violations),
        }
    }
    check_order_of_entries(evidence, violations);
    check_unknown_turns(evidence, violations);
    check_first_document_turns(evidence, violations);
}

fn check_session(request: &Request, entries: &[Value], violations: &mut Violations) {
    let opened = entries.iter().filter(|entry| entry["type"] == "session_opened").count();
    count(request, opened, "the session was opened", violations);
}

fn check_message(request: &Request, text: &str, entries: &[Value], violations: &mut Violations) {
    let turns = journal::turns(entries);
    let begun: Vec<_> = turns.iter().filter(|turn| turn.text == text).collect();
    count(request, begun.len(), &format!("a turn for {text:?} began"), violations);
    check_same(request, |body| body["reply"].clone(), violations);
    if let ([turn], Some(told)) = (begun.as_slice(), request.acknowledged()) {
        let answered = turn.end.as_deref() == Some("answered");
        if answered && told["reply"] != turn.expected.as_str() {
            let what =
                format!("{text:?} was answered with {}, and the journal says {:?}", told["reply"], turn.expected);
            violations.add(Rule::SameOutcome, what);
        }
    }
}

fn check_approval(request: &Request, plan: &str, entries: &[Value], violations: &mut Violations) {
    let approved = journal::of_plans(entries, "plan_approved").get(plan).copied().unwrap_or(0);
    count(request, approved, &format!("plan {plan} was approved"), violations);
    check_same(request, |body| body["id"].clone(), violations);
}

/// Once if it was acknowledged, and never more than once.
fn count(request: &Request, times: usize, what: &str, violations: &mut Violations) {
    let Request { session, key, .. } = request;
    if times == 0 && request.acknowledged().is_some() {
        violations.add(Rule::NothingLost, format!("{session}: {what} not at all, and {key} was acknowledged"));
    }
    if times > 1 {
        violations.add(Rule::NothingTwice, format!("{session}: {what} {times} times for key {key}"));
    }
}

fn check_same(request: &Request, part: impl Fn(&Value) -> Value, violations: &mut Violations) {
    let told: Vec<_> = request.acknowledgements().map(part).collect();
    if told.windows(2).any(|pair| pair[0] != pair[1]) {
        violations.add(Rule::SameOutcome, format!("{}: key {} got {told:?}", request.session, request.key));
    }
}

/// A client sends its next message after the answer to the one before.
fn check_order_of_entries(evidence: &Evidence, violations: &mut Violations) {
    for (session, entries) in &evidence.journals {
        let turns = journal::turns(entries);
        let places: BTreeMap<_, _> = turns.iter().enumerate().map(|(at, turn)| (turn.text.as_str(), at)).collect();
        let requests = evidence.history.requests.iter().filter(|request| request.session == *session);
        let mut last = None;
        for request in requests {
            let Act::Say { text } = &request.act else { continue };
            let Some(place) = places.get(text.as_str()) else { continue };
            if last > Some(*place) {
                violations.add(Rule::SameOutcome, format!("{session}: {text:?} took effect before an earlier message"));
            }
            last = Some(*place);
        }
    }
}

/// Each turn is for a message of a client, or for an approved document.
fn check_unknown_turns(evidence: &Evidence, violations: &mut Violations) {
    for (session, entries) in &evidence.journals {
        for turn in journal::turns(entries).iter().filter(|turn| !turn.document) {
            let sent = evidence
                .history
                .requests
                .iter()
                .any(|request| request.session == *session && request.act == Act::Say { text: turn.text.clone() });
            if !sent {
                violations.add(Rule::NothingTwice, format!("{session}: no client sent {:?}", turn.text));
            }
        }
    }
}

/// An approval leads to one turn that says so. The text has the plan's number and the approval's note in it.
fn check_first_document_turns(evidence: &Evidence, violations: &mut Violations) {
    for (session, entries) in &evidence.journals {
        let mut begun: BTreeMap<String, usize> = BTreeMap::new();
        for turn in journal::turns(entries).into_iter().filter(|turn| turn.text.starts_with("[Plan ")) {
            *begun.entry(turn.text).or_default() += 1;
        }
        for (text, times) in begun.into_iter().filter(|(_, times)| *times > 1) {
            violations.add(Rule::NothingTwice, format!("{session}: {times} turns began for one approval: {text:?}"));
        }
    }
}
