//! What has a `key` is carried out once, whatever it is: sent again it gets the same answer, with another text it is refused.

use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::client::Client;
use crate::stores::Store;
use crate::world::{SESSION, World};

async fn answer(client: &mut Client, text: &str, key: &str) -> Value {
    client.send(json!({ "type": "message", "sessionId": SESSION, "text": text, "key": key })).await;
    loop {
        let frame = client.next().await;
        if matches!(frame["type"].as_str(), Some("answer" | "problem")) {
            return frame;
        }
    }
}

fn without_seq(mut frame: Value) -> Value {
    frame.as_object_mut().unwrap().remove("seq");
    frame
}

#[tokio::test]
async fn every_kind_of_input_is_carried_out_once_under_its_key() {
    let drafting =
        |text: &str| [Reply::call("plan_set_content", json!({ "plan_markdown": text })), Reply::text("There.")];
    let replies = drafting("- [ ] one").into_iter().chain(drafting("- [ ] two")).chain([Reply::text("Hello.")]);
    let world = World::answering(ScriptedModel::new(replies)).await;
    let mut client = world.client().await;
    let texts =
        ["/plan move the blog", "/plan revise #1 more tests please", "/plan off", "hello", "/new", "/plan aprove"];
    let mut before = Vec::new();
    for (number, text) in texts.into_iter().enumerate() {
        let key = format!("key-{number}");
        let first = answer(&mut client, text, &key).await;
        let journal = world.journal(SESSION).await;
        // By the same client and by another one.
        for client in [&mut client, &mut world.client().await] {
            let again = answer(client, text, &key).await;
            assert_eq!(without_seq(again), without_seq(first.clone()), "{text}");
        }
        assert_eq!(world.journal(SESSION).await, journal, "{text}");
        before.push((key, first));
    }
    world.model.assert_finished();
    // And later, when the session has moved on.
    for ((key, first), text) in before.into_iter().zip(texts) {
        assert_eq!(without_seq(answer(&mut client, text, &key).await), without_seq(first), "{text}");
    }
}

#[tokio::test]
async fn the_same_key_with_another_text_is_refused() {
    let world = World::with(Store::sqlite(), ScriptedModel::new([Reply::text("Hello.")]), |_| {}).await;
    let mut client = world.client().await;
    answer(&mut client, "hello", "a").await;
    answer(&mut client, "/plan on", "b").await;
    let journal = world.journal(SESSION).await;
    for (text, key) in [("hello again", "a"), ("/plan on", "a"), ("/plan on collect", "b"), ("hello", "b")] {
        let refused = answer(&mut client, text, key).await;
        assert_eq!((&refused["type"], &refused["status"]), (&json!("problem"), &json!(422)), "{refused}");
    }
    assert_eq!(world.journal(SESSION).await, journal);
    world.model.assert_finished();
}
