//! Sessions followed: only those that were asked for, from where it was asked.

use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::client::Client;
use crate::world::{OTHER, SESSION, World, person, session, write};

impl Client {
    /// That nothing comes but what is asked for here: another session, whose entries take the same way as any other
    /// entry. They are written after everything that must not come.
    pub(crate) async fn nothing_more(&mut self, world: &World) {
        let key = format!("marker-{}", world.next_marker());
        world.open(&key).await;
        self.subscribe(&key, Some(0)).await;
        for _ in 0..3 {
            write(&world.engine, &key, 1).await;
        }
        for expected in world.journal(&key).await {
            let mut frame = self.next().await;
            assert_eq!(frame["sessionId"], *key, "{frame}");
            assert_eq!((frame["seq"].as_u64().unwrap(), frame["event"].take()), expected);
        }
        self.send(json!({ "type": "unsubscribe", "sessionId": key })).await;
        let frame = self.next().await;
        assert_eq!((&frame["type"], &frame["sessionId"]), (&json!("unsubscribed"), &json!(key)), "{frame}");
    }
}

#[tokio::test]
async fn what_is_not_there_cannot_be_followed() {
    let world = World::new().await;
    let mut client = world.client().await;
    for (key, after, code) in [
        ("no-such-session", json!(0), "NOT_FOUND"),
        ("no-such-session", json!(null), "NOT_FOUND"),
        (SESSION, json!(2), "INVALID_ARGUMENT"),
        (SESSION, json!(u64::MAX), "INVALID_ARGUMENT"),
    ] {
        client.send(json!({ "type": "subscribe", "sessionId": key, "after": after })).await;
        let frame = client.next().await;
        assert_eq!((&frame["type"], &frame["code"]), (&json!("problem"), &json!(code)), "{key} {after}: {frame}");
        assert_eq!(frame["sessionId"], key);
    }
    // And it does not begin to be followed when it begins.
    world.open("no-such-session").await;
    write(&world.engine, "no-such-session", 3).await;
    write(&world.engine, SESSION, 1).await;
    client.nothing_more(&world).await;
}

#[tokio::test]
async fn it_begins_where_it_was_asked_to() {
    let world = World::new().await;
    write(&world.engine, SESSION, 3).await;
    let journal = world.journal(SESSION).await;
    for after in [0, 1, 3, journal.len() as u64] {
        let mut client = world.follower(SESSION, after).await;
        for entry in &journal[after as usize..] {
            assert_eq!(client.entry().await, *entry);
        }
        client.nothing_more(&world).await;
    }
    let mut client = world.follower(SESSION, None).await;
    client.nothing_more(&world).await;
    write(&world.engine, SESSION, 1).await;
    assert_eq!(client.entry().await.0, journal.len() as u64 + 1);
}

#[tokio::test]
async fn nothing_of_one_session_reaches_followers_of_another() {
    let secret = Reply::text("the secret of session two");
    let world = World::answering(ScriptedModel::new([]).otherwise(secret)).await;
    let mut client = world.follower(SESSION, 0).await;
    let mut other = world.follower(OTHER, 0).await;
    other.send(json!({ "type": "message", "sessionId": OTHER, "text": "tell me" })).await;
    other.next_of("answer").await;
    write(&world.engine, OTHER, 5).await;
    write(&world.engine, SESSION, 1).await;
    let expected = world.journal(SESSION).await;
    // Neither an entry of the other one nor what is told on its way.
    for (seq, event) in &expected {
        let frame = client.next().await;
        assert_eq!((&frame["seq"], &frame["event"]), (&json!(seq), event), "{frame}");
    }
    client.nothing_more(&world).await;
    // Nor the same key on another channel.
    let elsewhere: planwright_core::session::SessionIdentity = format!("cli:{SESSION}").parse().unwrap();
    world.engine.sessions().open(&elsewhere, &person()).await.unwrap();
    let also = world.engine.sessions().disable_plan_mode(&elsewhere, &person()).await.unwrap();
    assert!(also.seq >= 1);
    client.nothing_more(&world).await;
}

#[tokio::test]
async fn what_is_not_followed_any_more_is_silent() {
    let world = World::new().await;
    let mut client = world.follower(SESSION, None).await;
    client.subscribe(OTHER, None).await;
    client.send(json!({ "type": "unsubscribe", "sessionId": SESSION })).await;
    assert_eq!(client.next().await["type"], "unsubscribed");
    write(&world.engine, SESSION, 2).await;
    write(&world.engine, OTHER, 1).await;
    let last = world.head(OTHER).await;
    loop {
        let frame = client.next().await;
        assert_eq!(frame["sessionId"], OTHER, "{frame}");
        if frame["seq"] == last {
            break;
        }
    }
    client.nothing_more(&world).await;
}

#[tokio::test]
async fn a_session_that_is_deleted_is_told_once() {
    let world = World::new().await;
    let mut client = world.follower(SESSION, None).await;
    let lease = std::time::Duration::from_secs(60);
    let lease = world.engine.ledger().acquire_lease(&session(SESSION), "who deletes", lease).await.unwrap().unwrap();
    world.engine.ledger().delete_session(&lease).await.unwrap();
    let frame = client.next().await;
    assert_eq!((&frame["type"], &frame["sessionId"], &frame["seq"]), (&json!("gone"), &json!(SESSION), &json!(1)));
    // One that begins under its key is another one, which has to be asked for.
    world.open(SESSION).await;
    write(&world.engine, SESSION, 1).await;
    client.nothing_more(&world).await;
    client.subscribe(SESSION, Some(0)).await;
    assert_eq!(client.entry().await.0, 1);
}

/// What the model says while it says it has the number of the last entry that was told.
#[tokio::test]
async fn what_is_told_on_the_way_lies_between_the_entries() {
    let world = World::new().await;
    let mut client = world.follower(SESSION, None).await;
    client.send(json!({ "type": "message", "sessionId": SESSION, "text": "hello" })).await;
    let (mut seq, mut told) = (1, false);
    loop {
        let frame = client.next().await;
        let now = frame["seq"].as_u64().unwrap();
        match frame["type"].as_str().unwrap() {
            "progress" => {
                assert_eq!(now, seq, "{frame}");
                assert!(frame["progress"].is_object(), "{frame}");
                told = true;
            }
            "answer" => {}
            _ => {
                assert_eq!(now, seq + 1, "{frame}");
                seq = now;
            }
        }
        if frame["type"] == "turn_ended" {
            break;
        }
    }
    assert!(told, "nothing was told on the way");
}
