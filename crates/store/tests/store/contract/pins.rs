//! What people accepted of upstream MCP servers.

use planwright_core::actor::Actor;
use planwright_core::upstream::{ServerName, UpstreamAnnotations, UpstreamTool};
use planwright_engine::upstream::OfferedTools;
use serde_json::json;

use crate::commands::at;
use crate::stores::Store;

pub(crate) fn name() -> ServerName {
    "files".parse().unwrap()
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
    ledger.record_offer(&name(), &first).await.unwrap();
    let before = other.pin_revisions().await.unwrap();
    // The same offer again changes nothing, not even its time.
    ledger.record_offer(&name(), &OfferedTools { at: at(9), ..first.clone() }).await.unwrap();
    assert_eq!(other.pin_revisions().await.unwrap(), before);
    let person = Actor::person("tester", "cli");
    assert!(!other.accept_offer(&name(), second.digest(), &person, at(3)).await.unwrap());
    assert_eq!(other.pinned_server(&name()).await.unwrap().unwrap().accepted, None);
    assert!(other.accept_offer(&name(), first.digest(), &person, at(3)).await.unwrap());
    ledger.record_offer(&name(), &second).await.unwrap();
    let pinned = ledger.pinned_server(&name()).await.unwrap().unwrap();
    let accepted = pinned.accepted.clone().unwrap();
    assert_eq!((&accepted.tools, &accepted.by, accepted.at), (&first.tools, &person, at(3)));
    assert_eq!(pinned.offered, Some(second.clone()));
    assert_eq!(pinned.difference().unwrap().changed.len(), 1);
    assert!(pinned.revision > before[0].1);
    // What was shown before the change is no longer what is accepted.
    assert!(!ledger.accept_offer(&name(), first.digest(), &person, at(4)).await.unwrap());
    other.forget_server(&name()).await.unwrap();
    assert_eq!(ledger.pin_revisions().await.unwrap(), []);
}
