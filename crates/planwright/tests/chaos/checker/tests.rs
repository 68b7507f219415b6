//! Each rule finds the history that breaks it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Rule, check};
use crate::evidence::{Evidence, Verified};
use crate::history::{Act, Attempt, Frames, History, Probe, Request};
use crate::provider::ModelCall;
use crate::script::Marker;

const SESSION: &str = "chaos-01";
const WRITE: &str = "do @chaos-01#1:write";
const DRAFT: &str = "draft @chaos-01#2:silent";
const DOCUMENT: &str = "[Plan 1 was approved.] > @chaos-01#2:silent";

fn journal() -> Vec<Value> {
    let write = |content: &str| {
        let arguments = json!({ "path": "file-1.txt", "content": content }).to_string();
        json!({ "type": "model_replied", "turn": "t1", "reply": { "calls": [{ "name": "write_file", "arguments": arguments }] } })
    };
    let done = |turn: &str, call: u32| json!({ "type": "tool_ended", "turn": turn, "call": call, "outcome": { "status": "done" } });
    let reply =
        |turn: &str, expected: &str| json!({ "type": "model_replied", "turn": turn, "reply": { "text": expected } });
    let ended = |turn: &str| json!({ "type": "turn_ended", "turn": turn, "end": { "kind": "answered" } });
    let draft = json!({ "name": "plan_set_content", "arguments": "{}" });
    let events = vec![
        json!({ "type": "session_opened" }),
        json!({ "type": "turn_begun", "turn": "t1", "text": WRITE }),
        write("1.1"),
        done("t1", 1),
        write("1.2"),
        done("t1", 2),
        reply("t1", "done 1"),
        ended("t1"),
        json!({ "type": "turn_begun", "turn": "t2", "text": DRAFT }),
        json!({ "type": "model_replied", "turn": "t2", "reply": { "calls": [draft] } }),
        done("t2", 1),
        reply("t2", "done 2"),
        ended("t2"),
        json!({ "type": "plan_approved", "plan": "p1" }),
        json!({ "type": "execution_started", "plan": "p1" }),
        json!({ "type": "turn_begun", "turn": "t3", "text": DOCUMENT }),
        reply("t3", "Which colour should it have?"),
        ended("t3"),
        json!({ "type": "execution_paused", "plan": "p1" }),
    ];
    let entry = |(seq, event): (u64, Value)| json!({ "seq": seq, "type": event["type"], "event": event });
    (1..).zip(events).map(entry).collect()
}

/// What a WebSocket client is told of a journal.
fn frames(journal: &[Value]) -> Frames {
    let frame = |entry: &Value| Some((entry["seq"].as_u64()?, entry["type"].as_str()?.to_owned()));
    journal.iter().filter_map(frame).collect()
}

fn request(act: Act, body: Value) -> Request {
    let key = format!("{act:?}");
    Request { session: SESSION.to_owned(), act, key, attempts: vec![Attempt::Answered { status: 200, body }] }
}

fn model_call(text: &str, place: usize, results: u32) -> ModelCall {
    let (process, text) = ("0-1".to_owned(), text.to_owned());
    ModelCall { process, marker: Marker::find(&text), text, place, results, failed: false }
}

/// A history in which everything holds.
fn good() -> Evidence {
    let say = |text: &str| Act::Say { text: text.to_owned() };
    let requests = vec![
        request(Act::OpenSession, json!({})),
        request(say(WRITE), json!({ "reply": "done 1" })),
        request(say(DRAFT), json!({ "reply": "done 2" })),
        request(Act::Approve { plan: "p1".to_owned() }, json!({ "id": "p1" })),
    ];
    let frames = BTreeMap::from([(SESSION.to_owned(), frames(&journal()))]);
    let calls = [(WRITE, 1, 0), (WRITE, 1, 1), (WRITE, 1, 2), (DRAFT, 7, 0), (DRAFT, 7, 1), (DOCUMENT, 11, 0)];
    Evidence {
        history: History { requests, probes: Vec::new(), frames },
        journals: BTreeMap::from([(SESSION.to_owned(), journal())]),
        model_calls: calls.map(|(text, place, results)| model_call(text, place, results)).to_vec(),
        late_model_calls: 0,
        files: BTreeMap::from([((SESSION.to_owned(), "file-1.txt".to_owned()), "1.2".to_owned())]),
        verified: Verified { exit: Some(0), sessions: vec![SESSION.to_owned()], expected: String::new() },
        interruptions: 0,
        frozen: Vec::new(),
        nudges: 1,
    }
}

/// The rules that are broken after a change to the good history.
fn broken(change: impl FnOnce(&mut Evidence)) -> Vec<Rule> {
    let mut evidence = good();
    change(&mut evidence);
    let mut rules: Vec<_> = check(&evidence).iter().map(|violation| violation.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// After a change to the journal alone. The WebSocket client is told of the change.
fn broken_journal(change: impl FnOnce(&mut Vec<Value>)) -> Vec<Rule> {
    broken(|evidence| {
        let journal = evidence.journals.get_mut(SESSION).unwrap();
        change(journal);
        (1..).zip(journal.iter_mut()).for_each(|(seq, entry)| entry["seq"] = json!(seq));
        let frames = frames(journal);
        evidence.history.frames.insert(SESSION.to_owned(), frames);
    })
}

fn entry(event: Value) -> Value {
    json!({ "type": event["type"], "event": event })
}

fn without(journal: &mut Vec<Value>, kind: &str) {
    journal.retain(|entry| entry["type"] != kind);
}

#[test]
fn a_good_history_breaks_no_rule() {
    assert_eq!(broken(|_| {}), []);
}

#[test]
fn an_acknowledged_message_that_is_not_in_the_journal_is_lost() {
    let lost = broken_journal(|journal| journal.retain(|entry| entry["event"]["turn"] != "t2"));
    assert!(lost.contains(&Rule::NothingLost), "{lost:?}");
    // What was not acknowledged may be missing, but it is not left like that.
    let unheard = broken(|evidence| {
        evidence.history.requests[2].attempts = vec![Attempt::Unanswered];
    });
    assert_eq!(unheard, [Rule::Settled]);
}

#[test]
fn an_acknowledged_approval_or_session_that_is_not_in_the_journal_is_lost() {
    assert_eq!(broken_journal(|journal| without(journal, "plan_approved")), [Rule::NothingLost]);
    assert_eq!(broken_journal(|journal| without(journal, "session_opened")), [Rule::NothingLost]);
}

#[test]
fn a_turn_that_began_twice_for_one_key_is_found() {
    let twice = broken_journal(|journal| {
        journal.push(entry(json!({ "type": "turn_begun", "turn": "t9", "text": WRITE })));
        journal.push(entry(json!({ "type": "turn_ended", "turn": "t9", "end": { "kind": "answered" } })));
    });
    assert!(twice.contains(&Rule::NothingTwice), "{twice:?}");
}

#[test]
fn a_plan_that_was_approved_twice_is_found() {
    let twice = broken_journal(|journal| journal.insert(14, entry(json!({ "type": "plan_approved", "plan": "p1" }))));
    assert_eq!(twice, [Rule::NothingTwice]);
}

#[test]
fn a_document_that_was_begun_twice_for_one_approval_is_found() {
    let twice = broken_journal(|journal| {
        journal.push(entry(json!({ "type": "turn_begun", "turn": "t9", "text": DOCUMENT })));
        journal.push(entry(json!({ "type": "turn_ended", "turn": "t9", "end": { "kind": "answered" } })));
    });
    assert_eq!(twice, [Rule::NothingTwice]);
}

#[test]
fn a_turn_that_no_client_asked_for_is_found() {
    assert!(broken(|evidence| drop(evidence.history.requests.remove(1))).contains(&Rule::NothingTwice));
}

#[test]
fn one_key_has_one_answer_and_it_is_the_stored_one() {
    let other = broken(|evidence| {
        let body = json!({ "reply": "something else" });
        evidence.history.requests[1].attempts.push(Attempt::Answered { status: 200, body });
    });
    assert_eq!(other, [Rule::SameOutcome]);
    let wrong = broken(|evidence| {
        let body = json!({ "reply": "something else" });
        evidence.history.requests[1].attempts = vec![Attempt::Answered { status: 200, body }];
    });
    assert_eq!(wrong, [Rule::SameOutcome]);
}

#[test]
fn messages_take_effect_in_the_order_in_which_they_were_sent() {
    assert_eq!(broken(|evidence| evidence.history.requests.swap(1, 2)), [Rule::SameOutcome]);
}

#[test]
fn a_tool_call_with_two_outcomes_is_found() {
    let twice = broken_journal(|journal| {
        let again = journal[3].clone();
        journal.insert(4, again);
    });
    assert_eq!(twice, [Rule::ToolsOnce]);
}

#[test]
fn an_outcome_without_a_call_and_a_step_that_ended_twice_are_found() {
    let outcome = json!({ "type": "tool_ended", "turn": "t1", "call": 3, "outcome": { "status": "done" } });
    assert_eq!(broken_journal(|journal| journal.insert(6, entry(outcome))), [Rule::ToolsOnce]);
    let step = entry(json!({ "type": "step_ended", "plan": "p1", "execution": "e1", "step": "s1" }));
    assert_eq!(broken_journal(|journal| journal.extend([step.clone(), step])), [Rule::ToolsOnce]);
}

#[test]
fn a_turn_that_goes_back_behind_a_recorded_result_is_found_unless_its_process_was_frozen() {
    let back = |evidence: &mut Evidence| {
        evidence.interruptions = 1;
        evidence.model_calls.insert(2, model_call(WRITE, 1, 0));
    };
    assert_eq!(broken(back), [Rule::ToolsOnce]);
    let frozen = broken(|evidence| {
        back(evidence);
        evidence.frozen.push("0-1".to_owned());
    });
    assert_eq!(frozen, []);
}

#[test]
fn model_calls_beyond_replies_resumptions_and_faults_are_found() {
    let more = |evidence: &mut Evidence| evidence.model_calls.push(model_call(DOCUMENT, 11, 0));
    assert_eq!(broken(more), [Rule::ModelCalls]);
    let fault = broken(|evidence| {
        more(evidence);
        evidence.interruptions = 1;
    });
    assert_eq!(fault, []);
    let failed = broken(|evidence| {
        more(evidence);
        evidence.model_calls[6].failed = true;
    });
    assert_eq!(failed, []);
}

#[test]
fn a_document_that_is_begun_again_and_again_is_found() {
    let again = |times: usize| {
        broken(|evidence| {
            evidence.interruptions = times;
            let journal = evidence.journals.get_mut(SESSION).unwrap();
            for turn in 0..times {
                let (turn, text) = (format!("again-{turn}"), "[Go on with plan 1.] > @chaos-01#2:silent");
                journal.push(entry(json!({ "type": "turn_begun", "turn": turn, "text": text })));
                journal.push(entry(json!({ "type": "turn_ended", "turn": turn, "end": { "kind": "answered" } })));
            }
            evidence.history.frames.clear();
        })
    };
    assert_eq!(again(1), []);
    assert_eq!(again(2), [Rule::ModelCalls]);
}

#[test]
fn a_turn_with_more_replies_than_its_script_and_a_call_for_no_input_are_found() {
    let reply = entry(json!({ "type": "model_replied", "turn": "t2", "reply": { "text": "done 2" } }));
    assert_eq!(broken_journal(|journal| journal.insert(12, reply)), [Rule::ModelCalls]);
    assert_eq!(broken(|evidence| evidence.model_calls.push(model_call("hello", 1, 0))), [Rule::ModelCalls]);
}

#[test]
fn an_open_turn_a_plan_without_an_owner_and_late_model_calls_are_not_settled() {
    assert_eq!(broken_journal(|journal| drop(journal.remove(7))), [Rule::Settled]);
    assert_eq!(broken_journal(|journal| without(journal, "execution_paused")), [Rule::Settled]);
    assert_eq!(broken(|evidence| evidence.late_model_calls = 1), [Rule::Settled]);
}

#[test]
fn verify_ends_with_0_and_looks_at_every_session() {
    assert_eq!(broken(|evidence| evidence.verified.exit = Some(7)), [Rule::Verified]);
    assert_eq!(broken(|evidence| evidence.verified.sessions.clear()), [Rule::Verified]);
}

#[test]
fn a_file_that_fell_back_or_is_missing_is_found() {
    let file = (SESSION.to_owned(), "file-1.txt".to_owned());
    assert_eq!(broken(|evidence| drop(evidence.files.insert(file.clone(), "1.1".to_owned()))), [Rule::Files]);
    assert_eq!(broken(|evidence| drop(evidence.files.remove(&file))), [Rule::Files]);
    // If the outcome of the last write is not known, the file has the content before or after it.
    for (content, rules) in [("1.1", vec![]), ("1.2", vec![]), ("0.1", vec![Rule::Files])] {
        let found = broken(|evidence| {
            let journal = evidence.journals.get_mut(SESSION).unwrap();
            journal[5]["event"]["outcome"]["status"] = json!("uncertain");
            evidence.files.insert(file.clone(), content.to_owned());
        });
        assert_eq!(found, rules, "{content}");
    }
}

#[test]
fn an_internal_error_and_a_failed_probe_are_found() {
    let error = broken(|evidence| {
        let attempt = Attempt::Answered { status: 500, body: json!({}) };
        evidence.history.requests[1].attempts.insert(0, attempt);
    });
    assert_eq!(error, [Rule::Answers]);
    let unavailable = broken(|evidence| {
        let attempt = Attempt::Answered { status: 503, body: json!({}) };
        evidence.history.requests[1].attempts.insert(0, attempt);
    });
    assert_eq!(unavailable, []);
    let probe = Probe { what: "it answers".to_owned(), passed: false };
    assert_eq!(broken(|evidence| evidence.history.probes.push(probe)), [Rule::Answers]);
}

#[test]
fn frames_that_are_missing_repeated_or_out_of_order_are_found() {
    let changes: [fn(&mut Frames); 3] =
        [|frames| drop(frames.pop()), |frames| frames.swap(3, 4), |frames| frames.insert(2, frames[1].clone())];
    for change in changes {
        let found = broken(|evidence| change(evidence.history.frames.get_mut(SESSION).unwrap()));
        assert_eq!(found, [Rule::Frames]);
    }
}
