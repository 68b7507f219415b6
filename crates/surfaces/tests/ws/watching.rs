//! A client that shows lists is told which sessions are written to, without following any of them.

use std::time::Duration;

use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::client::Client;
use crate::stores::Store;
use crate::world::{OTHER, SESSION, World, person, session, write};

async fn watching(world: &World) -> Client {
    let mut client = world.client().await;
    client.send(json!({ "type": "watch" })).await;
    client.next_of("watching").await;
    client
}

fn kinds(frame: &Value) -> Vec<&str> {
    frame["kinds"].as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect()
}

/// The frame about the last entry of the session. Those about what came before it, such as its beginning, are passed over.
async fn told(world: &World, client: &mut Client) -> Value {
    let head = world.engine.sessions().get_stored(&session(SESSION)).await.unwrap().head.seq;
    loop {
        let frame = client.next_of("changed").await;
        if frame["sessionId"] == SESSION && frame["seq"] == head {
            return frame;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_told_of_this_process_and_of_others_on_sqlite() {
    told_of_all(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_told_of_this_process_and_of_others_on_postgres() {
    told_of_all(Store::postgres().await).await;
}

async fn told_of_all(store: Store) {
    let world = World::with(store, ScriptedModel::new([]), |_| {}).await;
    let mut client = watching(&world).await;
    let elsewhere = world.store.engine().await;
    for (engine, key) in [(&world.engine, SESSION), (&elsewhere, OTHER), (&elsewhere, SESSION)] {
        write(engine, key, 1).await;
        let head = engine.sessions().get_stored(&session(key)).await.unwrap().head.seq;
        loop {
            let frame = client.next_of("changed").await;
            // The beginning of the sessions may be told as well.
            if frame["sessionId"] == key && frame["seq"] == head {
                assert_eq!(frame["channel"], "web");
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_told_what_kind_of_thing_was_written_and_not_what() {
    let model = ScriptedModel::new([]).otherwise(Reply::text("Good morning."));
    let world = World::with(Store::sqlite(), model, |_| {}).await;
    let mut client = watching(&world).await;
    let rename = async |title: &str| {
        world.engine.sessions().rename(&session(SESSION), &person(), Some(title.to_owned())).await.unwrap();
    };
    rename("one").await;
    told(&world, &mut client).await;
    rename("two").await;
    let renamed = told(&world, &mut client).await;
    assert_eq!(kinds(&renamed), ["session"]);
    assert!(!renamed.to_string().contains("two"), "{renamed}");
    let style = planwright_core::plan::PlanStyle::Document;
    world.engine.sessions().enable_plan_mode(&session(SESSION), &person(), style).await.unwrap();
    assert_eq!(kinds(&told(&world, &mut client).await), ["plan"]);
    client.send(json!({ "type": "message", "sessionId": SESSION, "text": "hello", "id": 1 })).await;
    client.next_of("answer").await;
    client.send(json!({ "type": "unwatch" })).await;
    client.next_of("unwatched").await;
    rename("three").await;
    client.send(json!({ "type": "ping" })).await;
    assert_eq!(client.next().await["type"], "pong");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_told_that_a_session_is_gone() {
    let world = World::with(Store::sqlite(), ScriptedModel::new([]), |_| {}).await;
    let mut client = watching(&world).await;
    let (ledger, gone) = (world.engine.ledger(), session(SESSION));
    let lease = ledger.acquire_lease(&gone, "a test", Duration::from_secs(60)).await.unwrap().unwrap();
    ledger.delete_session(&lease).await.unwrap();
    loop {
        let frame = client.next_of("changed").await;
        if frame["sessionId"] == SESSION && frame["gone"] == true {
            break;
        }
    }
}
