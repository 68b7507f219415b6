//! Entries of earlier versions: every kind of event, as it was written and sealed then, is read and written the same.

use std::collections::BTreeSet;

use hex::FromHex as _;
use planwright_core::event::{AutoEvent, Event, MemoryEvent, PlanEvent, SessionEvent, TurnEvent, WorkbookEvent};
use planwright_core::journal::{Entry, EntryHash, Head, SealedEntry};
use planwright_core::session::SessionIdentity;
use serde_json::Value;

use crate::journal::replay;
use crate::world::SESSION;

/// One sealed entry a line: its sequence number, its hash and the text that was hashed.
const STORED: [&str; 10] = [
    include_str!("fixtures/journal.jsonl"),
    include_str!("fixtures/journal_reviews.jsonl"),
    include_str!("fixtures/journal_steps.jsonl"),
    include_str!("fixtures/journal_memory.jsonl"),
    include_str!("fixtures/journal_approvals.jsonl"),
    include_str!("fixtures/journal_auto.jsonl"),
    include_str!("fixtures/journal_offers.jsonl"),
    include_str!("fixtures/journal_gateway.jsonl"),
    include_str!("fixtures/journal_gateway_calls.jsonl"),
    include_str!("fixtures/journal_client_calls.jsonl"),
];

fn session() -> SessionIdentity {
    SESSION.parse().unwrap()
}

/// All of them, from every journal.
fn stored() -> Vec<SealedEntry> {
    journals().into_iter().flatten().collect()
}

fn journals() -> [Vec<SealedEntry>; 10] {
    STORED.map(|journal| journal.lines().map(sealed).collect())
}

fn sealed(line: &str) -> SealedEntry {
    let line: Value = serde_json::from_str(line).unwrap();
    let hash = <[u8; 32]>::from_hex(line["hash"].as_str().unwrap()).unwrap();
    SealedEntry {
        seq: line["seq"].as_u64().unwrap(),
        body: line["body"].as_str().unwrap().to_owned(),
        hash: EntryHash(hash),
    }
}

#[test]
fn every_kind_of_event_is_among_them() {
    let names = [
        SessionEvent::NAMES,
        TurnEvent::NAMES,
        WorkbookEvent::NAMES,
        MemoryEvent::NAMES,
        AutoEvent::NAMES,
        PlanEvent::NAMES,
    ]
    .concat();
    let kinds: BTreeSet<_> = names.iter().copied().collect();
    assert_eq!(kinds.len(), names.len(), "two events have one name");
    let entries: Vec<Entry> = stored().iter().map(|sealed| serde_json::from_str(&sealed.body).unwrap()).collect();
    let found: BTreeSet<_> = entries.iter().map(|entry| entry.event.name()).collect();
    assert_eq!(found, kinds);
}

#[test]
fn they_are_written_again_byte_for_byte() {
    for sealed in stored() {
        let entry: Entry = serde_json::from_str(&sealed.body).unwrap();
        assert_eq!(serde_json::to_string(&entry).unwrap(), sealed.body);
        let raw: Value = serde_json::from_str(&sealed.body).unwrap();
        assert_eq!(entry.event.name(), raw["event"]["type"], "{}", sealed.body);
        let turn = raw["event"]["turn"].as_str();
        assert_eq!(entry.event.turn().map(|id| id.as_str()), turn, "{}", sealed.body);
    }
}

#[test]
fn their_chain_is_whole_and_is_sealed_again_the_same() {
    for journal in journals() {
        let (_, head) = replay(&session(), &journal).unwrap();
        assert_eq!(head.seq, journal.len() as u64);
        let mut again = Head::START;
        for sealed in journal {
            let entry: Entry = serde_json::from_str(&sealed.body).unwrap();
            assert_eq!(again.seal(&session(), &entry.context(), &entry.event).unwrap(), sealed);
        }
        assert_eq!(again, head);
    }
}

/// Fields that came later are absent in older entries.
#[test]
fn older_entries_are_read_too() {
    for (written, read) in [
        (r#"{"type":"conversation_reset"}"#, r#"{"type":"conversation_reset","history_from":0}"#),
        (
            r#"{"type":"turn_ended","turn":"t","end":{"kind":"answered"},"text":"","tokens":0,"shown":null}"#,
            r#"{"type":"turn_ended","turn":"t","end":{"kind":"answered"}}"#,
        ),
        (
            r#"{"type":"model_replied","turn":"t","reply":{"text":"Hi"},"tokens":1}"#,
            r#"{"type":"model_replied","turn":"t","reply":{"text":"Hi","usage":{"input_tokens":0,"output_tokens":0}},"tokens":1}"#,
        ),
        (r#"{"type":"workbook_cleared","added_later":{"a":[1]}}"#, r#"{"type":"workbook_cleared"}"#),
    ] {
        let event: Event = serde_json::from_str(written).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), read);
    }
}

#[test]
fn what_is_no_event_is_named() {
    for (text, reason) in [
        (r#"{"type":"plan_burned","plan":"p"}"#, "`plan_burned` is not an event of this version"),
        (r#"{"type":"step_removed","step":"s1"}"#, "missing field `plan`"),
        (r#"{"type":"step_removed","plan":"p"}"#, "missing field `step`"),
        (r#"{"type":"step_removed","plan":"no id!","step":"s1"}"#, "is not an id"),
        (r#"{"type":"turn_resumed"}"#, "missing field `turn`"),
        (r#"{"plan":"p"}"#, "missing field `type`"),
        ("{}", "missing field `type`"),
        ("7", "expected an event"),
    ] {
        let error = serde_json::from_str::<Event>(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}
