//! What people accepted of upstream MCP servers.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::Digest;
use planwright_core::presence::{Act, ActSignature, Presence};
use planwright_core::refusal::RefusalCode;
use planwright_core::upstream::{ServerName, UpstreamAnnotations, UpstreamTool, command_digest};
use planwright_engine::upstream::OfferedTools;
use serde_json::json;

use crate::commands::{at, refused};
use crate::stores::Store;

pub(crate) fn name() -> ServerName {
    "files".parse().unwrap()
}

pub(crate) fn command(text: &str) -> Digest {
    command_digest(text)
}

pub(crate) fn offer(description: &str, second: i64) -> OfferedTools {
    let tool = UpstreamTool {
        name: "read".to_owned(),
        title: Some("żółć 漢字".to_owned()),
        description: description.to_owned(),
        input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        output_schema: None,
        annotations: UpstreamAnnotations { read_only: Some(true), ..UpstreamAnnotations::default() },
    };
    OfferedTools { tools: vec![tool], at: at(second) }
}

pub(crate) async fn an_offer_is_accepted_by_its_digest_in_all_processes(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    assert_eq!(ledger.pinned_server(&name()).await.unwrap(), None);
    let (first, second) = (offer("Reads.", 1), offer("Reads. \u{0} it's \\u0000", 2));
    ledger.record_offer(&name(), command("a"), &first).await.unwrap();
    let before = other.pin_revisions().await.unwrap();
    // The same offer again changes nothing, not even its time.
    ledger.record_offer(&name(), command("a"), &OfferedTools { at: at(9), ..first.clone() }).await.unwrap();
    assert_eq!(other.pin_revisions().await.unwrap(), before);
    let person = Actor::person("tester", "cli");
    assert!(!other.accept_offer(&name(), command("a"), second.digest(), &person, at(3)).await.unwrap());
    assert_eq!(other.pinned_server(&name()).await.unwrap().unwrap().accepted, None);
    assert!(other.accept_offer(&name(), command("a"), first.digest(), &person, at(3)).await.unwrap());
    ledger.record_offer(&name(), command("a"), &second).await.unwrap();
    let pinned = ledger.pinned_server(&name()).await.unwrap().unwrap();
    let accepted = pinned.accepted.clone().unwrap();
    assert_eq!((&accepted.tools, &accepted.by, accepted.at), (&first.tools, &person, at(3)));
    assert_eq!(pinned.offered, Some(second.clone()));
    assert_eq!(pinned.difference().unwrap().changed.len(), 1);
    assert!(pinned.revision > before[0].1);
    // What was shown before the change is no longer what is accepted.
    assert!(!ledger.accept_offer(&name(), command("a"), first.digest(), &person, at(4)).await.unwrap());
}

/// Otherwise who saw it once could accept the same tools again after a person took them back.
pub(crate) async fn a_signature_accepts_tools_once(store: &Store) {
    let (engine, digest) = (store.engine().await, offer("Reads.", 1).digest());
    let signed = |nonce: &str| {
        let (act, nonce) = (Act::accept_tools(&name(), digest), nonce.to_owned());
        let signature = ActSignature { act, at: Timestamp::now(), nonce, signature: String::new(), passkey: None };
        Actor::person("ada", "cli").recognised(Presence::signed("ada", signature))
    };
    let accept = async |by: &Actor| engine.approvals().record_acceptance(by, &name(), digest, command("a")).await;
    let first = signed("one");
    accept(&first).await.unwrap();
    refused(accept(&first).await, RefusalCode::PolicyDenied);
    let other = store.engine().await;
    refused(
        other.approvals().record_acceptance(&first, &name(), digest, command("a")).await,
        RefusalCode::PolicyDenied,
    );
    accept(&signed("two")).await.unwrap();
    let recorded = other.approvals().state().await.unwrap().accepted_tools;
    assert_eq!(recorded[name().as_str()].len(), 2, "a refused one leaves no record");
}

pub(crate) async fn a_first_offer_is_accepted_by_rule_only_for_a_name_and_a_command_that_were_never_seen(
    store: &Store,
) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let server = |text: &str| -> ServerName { text.parse().unwrap() };
    let (first, second, rule) = (offer("Reads.", 1), offer("Sends.", 2), Actor::policy("--upstream", "mcp"));
    let accepts = async |name: &str, by_command: &str, offered: &OfferedTools| {
        other.accept_first_offer(&server(name), command(by_command), offered, &rule).await.unwrap()
    };
    assert!(accepts("new", "one", &first).await);
    let pinned = ledger.pinned_server(&server("new")).await.unwrap().unwrap();
    assert_eq!((pinned.difference(), pinned.offered.as_ref()), (None, Some(&first)));
    assert_eq!(pinned.accepted.map(|accepted| (accepted.by, accepted.at)), Some((rule.clone(), first.at)));
    assert_eq!(pinned.accepted_command, Some(command("one")));
    // Known, by its name, its command or both.
    for (name, by_command) in [("new", "one"), ("new", "two"), ("other", "one")] {
        assert!(!accepts(name, by_command, &second).await, "{name} {by_command}");
    }
    assert_eq!(ledger.pinned_server(&server("other")).await.unwrap(), None);
    // A server that waits for a person, under each command that it had.
    ledger.record_offer(&server("waits"), command("three"), &first).await.unwrap();
    ledger.record_offer(&server("waits"), command("four"), &first).await.unwrap();
    let waits = ledger.pinned_server(&server("waits")).await.unwrap().unwrap();
    ledger
        .record_offer(&server("waits"), command("three"), &OfferedTools { at: at(9), ..first.clone() })
        .await
        .unwrap();
    assert_eq!(other.pinned_server(&server("waits")).await.unwrap(), Some(waits));
    for (name, by_command) in [("waits", "five"), ("else", "three"), ("else", "four")] {
        assert!(!accepts(name, by_command, &first).await, "{name} {by_command}");
    }
    assert!(accepts("else", "five", &first).await);
    // The command that a person accepts is kept, and the others stay known.
    let person = Actor::person("tester", "cli");
    let pinned = async || ledger.pinned_server(&server("waits")).await.unwrap().unwrap();
    assert_eq!(pinned().await.accepted_command, None);
    for by_command in ["four", "three", "six"] {
        assert!(
            other.accept_offer(&server("waits"), command(by_command), first.digest(), &person, at(3)).await.unwrap()
        );
        ledger.record_offer(&server("waits"), command("seven"), &first).await.unwrap();
        assert_eq!(pinned().await.accepted_command, Some(command(by_command)));
    }
    for by_command in ["three", "four", "six", "seven"] {
        assert!(!accepts("third", by_command, &first).await, "{by_command}");
    }
}
