//! Messages that did not reach a person.

use planwright_engine::ledger::{Delivery, NewMessage, TakeMessages, TakeOrder};
use serde_json::{Value, json};

use crate::world::World;

/// Puts a message into the outbox and lets its first attempt end so.
async fn attempt(world: &World, channel: &str, id: &str, body: &Value, delivery: &Delivery) {
    let now = world.agent.engine().now();
    let (channel, id) = (channel.to_owned(), id.to_owned());
    let message = NewMessage {
        id: id.clone(),
        channel: channel.clone(),
        target: "1/7".to_owned(),
        body: body.to_string(),
        due: now,
    };
    world.ledger.put_messages(&[message], now).await.unwrap();
    let until = now + jiff::SignedDuration::from_secs(60);
    let take = TakeMessages { channel, owner: "test".to_owned(), now, until, limit: 10, order: TakeOrder::Any };
    assert_eq!(world.ledger.take_messages(&take).await.unwrap().len(), 1);
    assert!(world.ledger.settle_message(&id, "test", delivery, now).await.unwrap());
}

#[tokio::test]
async fn what_did_not_reach_a_person_is_listed_and_counted() {
    let world = World::new([]).await;
    assert_eq!(world.get("/api/notifications?undelivered=true").await.with(200), json!({ "items": [] }));
    let why = || "the webhook answered 503".to_owned();
    let later = world.agent.engine().now() + jiff::SignedDuration::from_hours(1);
    let waits = json!({ "happening": { "kind": "waits", "what": "Plan #1 waits for your decision", "title": "Tidy up", "path": "/p/plan-1" }, "escalated": false });
    attempt(&world, "notify-webhook", "n1", &waits, &Delivery::Retry { at: later, why: why() }).await;
    let answer = json!({ "chat": 7, "content": { "kind": "text", "text": "The **answer**" } });
    attempt(&world, "telegram", "t1", &answer, &Delivery::Failed { why: "blocked".to_owned() }).await;
    let file = json!({ "chat": 7, "content": { "kind": "document", "name": "answer.md", "content": "x", "caption": "The whole answer" } });
    attempt(&world, "telegram", "t2", &file, &Delivery::Sent).await;
    let listed = world.get("/api/notifications?undelivered=true").await.with(200);
    let mut items = listed["items"].as_array().unwrap().clone();
    for item in &mut items {
        assert!(item["sinceAt"].take().is_string());
    }
    let expected = json!([
        { "id": "t1", "channel": "telegram", "happening": "answer", "text": "The **answer**", "sinceAt": null, "attempts": 1, "lastError": "blocked", "givenUp": true, "path": null },
        { "id": "n1", "channel": "webhook", "happening": "waits", "text": "Plan #1 waits for your decision: Tidy up", "sinceAt": null, "attempts": 1, "lastError": "the webhook answered 503", "givenUp": false, "path": "/p/plan-1" },
    ]);
    assert_eq!(Value::from(items), expected);
    let status = world.say("/status").await.with(200);
    assert!(status["reply"].as_str().unwrap().contains("2 messages could not be delivered"), "{status}");
}

#[tokio::test]
async fn the_list_is_only_of_what_did_not_reach_a_person() {
    let world = World::new([]).await;
    for query in ["", "?undelivered=false", "?undelivered=1", "?undelivered=true&other=1"] {
        world.get(&format!("/api/notifications{query}")).await.refused(400, "INVALID_ARGUMENT");
    }
    let status = world.say("/status").await.with(200);
    assert!(!status["reply"].as_str().unwrap().contains("delivered"), "{status}");
}
