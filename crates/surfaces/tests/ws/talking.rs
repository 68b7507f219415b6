//! Messages and commands over the WebSocket.

use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::client::Client;
use crate::world::{OTHER, SESSION, World, write};

async fn say(client: &mut Client, key: &str, text: &str, more: Value) {
    let mut frame = json!({ "type": "message", "sessionId": key, "text": text });
    frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.send(frame).await;
}

fn begun(journal: &[(u64, Value)]) -> usize {
    journal.iter().filter(|(_, event)| event["type"] == "turn_begun").count()
}

#[tokio::test]
async fn a_message_is_answered_under_its_id_whatever_that_is() {
    let world = World::new().await;
    let mut client = world.client().await;
    for id in [json!(7), json!("seven"), json!({ "n": [7] }), Value::Null] {
        say(&mut client, SESSION, "hello", json!({ "id": id })).await;
        let answer = client.next_of("answer").await;
        assert_eq!((&answer["id"], &answer["sessionId"]), (&id, &json!(SESSION)), "{answer}");
        assert_eq!(answer["reply"], "Good morning.");
        assert_eq!(answer["seq"], world.head(SESSION).await);
    }
}

#[tokio::test]
async fn the_same_key_twice_is_one_turn() {
    let gate = Gate::closed();
    let world = World::answering(ScriptedModel::new([Reply::text("Once.").behind(&gate)])).await;
    let (mut first, mut second) = (world.client().await, world.client().await);
    say(&mut first, SESSION, "hello", json!({ "id": 1, "key": "a" })).await;
    world.model.asked(1).await;
    // While it is being worked on, from another client, and again when it is over.
    say(&mut second, SESSION, "hello", json!({ "id": 2, "key": "a" })).await;
    gate.open();
    for (client, id) in [(&mut first, 1), (&mut second, 2)] {
        let answer = client.next_of("answer").await;
        assert_eq!((&answer["id"], &answer["reply"]), (&json!(id), &json!("Once.")), "{answer}");
    }
    say(&mut first, SESSION, "hello", json!({ "id": 3, "key": "a" })).await;
    assert_eq!(first.next_of("answer").await["reply"], "Once.");
    assert_eq!(begun(&world.journal(SESSION).await), 1);
    // A key belongs to its session.
    world.model.then(Reply::text("And here."));
    say(&mut first, OTHER, "hello", json!({ "id": 4, "key": "a" })).await;
    assert_eq!(first.next_of("answer").await["reply"], "And here.");
    world.model.assert_finished();
}

#[tokio::test]
async fn commands_are_answered_like_messages() {
    let world = World::new().await;
    let mut client = world.follower(SESSION, None).await;
    say(&mut client, SESSION, "/plan on", json!({ "id": "on" })).await;
    // The answer and what it tells of come in any order.
    let mut seen = [false, false];
    while seen != [true, true] {
        let frame = client.try_next().await.unwrap();
        seen[0] |= frame["type"] == "plan_mode_enabled";
        seen[1] |= frame["type"] == "answer" && frame["id"] == "on";
    }
    say(&mut client, SESSION, "/explode", json!({ "id": "what" })).await;
    say(&mut client, SESSION, "/plan approve", json!({ "id": "no" })).await;
    let mut refused = [client.next_of("problem").await, client.next_of("problem").await];
    refused.sort_by_key(|frame| frame["id"].to_string());
    assert!(refused.iter().all(|frame| frame["sessionId"] == SESSION && frame["code"].is_string()), "{refused:?}");
    assert_eq!(refused[0]["id"], "no");
}

#[tokio::test]
async fn only_so_many_messages_are_worked_on_at_once() {
    let gate = Gate::closed();
    let model = ScriptedModel::new([]).otherwise(Reply::text("Done.").behind(&gate));
    let world = World::with(crate::stores::Store::sqlite(), model, |limits| limits.messages = 2).await;
    let mut client = world.client().await;
    for id in 1..=3 {
        say(&mut client, SESSION, "hello", json!({ "id": id })).await;
    }
    let refused = client.next_of("problem").await;
    assert_eq!((&refused["id"], &refused["code"]), (&json!(3), &json!("LIMIT_EXCEEDED")), "{refused}");
    gate.open();
    let answered = [client.next_of("answer").await["id"].clone(), client.next_of("answer").await["id"].clone()];
    assert_eq!(answered, [1, 2], "and in the order in which they came");
    assert_eq!(begun(&world.journal(SESSION).await), 2);
}

#[tokio::test]
async fn messages_are_heard_in_the_order_in_which_they_were_sent() {
    let gate = Gate::closed();
    let model = ScriptedModel::new([]).otherwise(Reply::text("Done.").behind(&gate));
    let world = World::answering(model).await;
    let mut client = world.client().await;
    let reply: Vec<_> = (1..=6).map(|number| format!("number {number}")).collect();
    for text in &reply {
        say(&mut client, SESSION, text, json!({})).await;
    }
    gate.open();
    for _ in &reply {
        client.next_of("answer").await;
    }
    let journal = world.journal(SESSION).await;
    let begun = journal.iter().filter(|(_, event)| event["type"] == "turn_begun");
    assert_eq!(begun.map(|(_, event)| event["text"].as_str().unwrap()).collect::<Vec<_>>(), reply);
}

#[tokio::test]
async fn a_message_goes_on_when_its_sender_hangs_up() {
    let gate = Gate::closed();
    let world = World::answering(ScriptedModel::new([Reply::text("Hello back.").behind(&gate)])).await;
    let mut watching = world.follower(SESSION, None).await;
    let mut client = world.client().await;
    say(&mut client, SESSION, "hello", json!({})).await;
    world.model.asked(1).await;
    drop(client);
    world.until_connected(1).await;
    gate.open();
    let ended = watching.next_of("turn_ended").await;
    assert_eq!(ended["sessionId"], SESSION);
}

#[tokio::test]
async fn the_turn_of_a_client_that_follows_several_sessions_goes_on_when_it_hangs_up() {
    let gate = Gate::closed();
    let world = World::answering(ScriptedModel::new([Reply::text("Hello back.").behind(&gate)])).await;
    write(&world.engine, OTHER, 1).await;
    let other = world.journal(OTHER).await;
    let mut client = world.follower(SESSION, None).await;
    client.subscribe(OTHER, None).await;
    say(&mut client, SESSION, "hello", json!({})).await;
    let seen = client.next_of("turn_begun").await["seq"].as_u64().unwrap();
    world.model.asked(1).await;
    drop(client);
    world.until_connected(0).await;
    // Another connection continues where the first one was cut off.
    let mut second = world.follower(SESSION, seen).await;
    second.subscribe(OTHER, None).await;
    gate.open();
    let mut rest = Vec::new();
    while rest.last().is_none_or(|(_, event): &(u64, Value)| event["type"] != "turn_ended") {
        rest.push(second.entry().await);
    }
    assert_eq!(rest, world.journal(SESSION).await.split_off(seen as usize), "what it is told is what is stored");
    assert_eq!((&rest[0].1["type"], &rest[0].1["reply"]["text"]), (&json!("model_replied"), &json!("Hello back.")));
    assert_eq!(world.journal(OTHER).await, other);
    second.nothing_more(&world).await;
    // Both sessions take the next message.
    for key in [SESSION, OTHER] {
        world.model.then(Reply::text("Still here."));
        say(&mut second, key, "and now?", json!({})).await;
        let answer = second.next_of("answer").await;
        assert_eq!((&answer["sessionId"], &answer["reply"]), (&json!(key), &json!("Still here.")), "{answer}");
    }
    world.model.assert_finished();
}

#[tokio::test]
async fn a_message_to_a_missing_session_is_refused() {
    let world = World::new().await;
    let mut client = world.client().await;
    say(&mut client, "no-such-session", "hello", json!({ "id": 1 })).await;
    let refused = client.next().await;
    assert_eq!((&refused["code"], &refused["id"]), (&json!("NOT_FOUND"), &json!(1)), "{refused}");
    // The same key on another channel is another session.
    client.send(json!({ "type": "message", "sessionId": SESSION, "channel": "cli", "text": "hello" })).await;
    assert_eq!(client.next().await["code"], "NOT_FOUND");
}
