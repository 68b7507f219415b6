//! What an agent of another program remembers, over MCP.

use planwright_core::event::{Event, MemoryEvent};
use planwright_core::memory::MemorySource;
use serde_json::json;

use crate::world::{DOCUMENT, World};

#[tokio::test]
async fn what_is_saved_is_found_again_and_never_promoted() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let saved = client.succeed("memory_save", json!({ "content": "The till is red.", "kind": "preference" })).await;
    assert_eq!(saved["scope"], format!("session:{}", world.session));
    let found = client.succeed("memory_search", json!({ "query": "which till" })).await;
    assert_eq!((&found["items"][0]["id"], &found["items"][0]["trust"]), (&saved["id"], &json!("agent")));
    // A scope is not a field of the tool: it is passed over, and the memory stays in the session.
    let narrow = client.succeed("memory_save", json!({ "content": "For all.", "scope": "global" })).await;
    assert_eq!((&narrow["scope"], &narrow["ignored"]), (&saved["scope"], &json!(["scope"])));
    client.refused_with("memory_save", json!({ "content": " " }), "INVALID_ARGUMENT").await;
    let entries = world.engine.ledger().conversation(&world.session, 0, 100).await.unwrap();
    let saved: Vec<_> = entries.iter().filter_map(|entry| entry.event.memory_event()).collect();
    let [MemoryEvent::Saved { item }, MemoryEvent::Saved { .. }] = saved.as_slice() else { panic!("{saved:?}") };
    assert_eq!(item.source, MemorySource::Tool);
    assert!(entries.iter().all(|entry| !matches!(entry.event, Event::Memory(MemoryEvent::Promoted { .. }))));
    client.leave().await;
}

#[tokio::test]
async fn what_was_learnt_elsewhere_keeps_who_said_it_and_when() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let learnt =
        json!({ "content": "I went.", "author": "Caroline", "at": "1999-05-07", "context": "the pottery class" });
    client.succeed("memory_save", learnt).await;
    let said = json!({ "by": "Caroline", "at": "1999-05-07T00:00:00Z", "in": "the pottery class" });
    for query in ["how was pottery", "what happened on 7 May 1999"] {
        let found = client.succeed("memory_search", json!({ "query": query })).await;
        assert_eq!((&found["items"][0]["said"], &found["items"][0]["trust"]), (&said, &json!("agent")), "{query}");
    }
    client.refused_with("memory_save", json!({ "content": "A", "at": "yesterday" }), "INVALID_ARGUMENT").await;
    client.leave().await;
}
