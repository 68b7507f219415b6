//! Requests that clients send twice.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use planwright_llm::scripted::{Gate, Reply};
use serde_json::json;

use crate::world::{Received, SESSION, World, came, sent};

#[track_caller]
fn is_replayed(came: &Received) {
    assert_eq!(came.headers["idempotent-replayed"], "true", "{came:?}");
}

#[tokio::test]
async fn a_repeated_request_gets_the_same_answer_and_does_nothing() {
    let world = World::new([Reply::text("Hello!")]).await;
    let path = format!("/api/sessions/{SESSION}/messages");
    let first = world.post_with_key(&path, "one", json!({ "text": "hi" })).await;
    assert!(!first.headers.contains_key("idempotent-replayed"));
    let again = world.post_with_key(&path, "one", json!({ "text": "hi" })).await;
    is_replayed(&again);
    assert_eq!((first.status, &first.text), (again.status, &again.text));
    assert_eq!(first.headers["content-type"], again.headers["content-type"]);
    assert_eq!(world.model.requests().len(), 1);
    let other = world.post_with_key(&path, "one", json!({ "text": "something else" })).await;
    other.refused(422, "CONFLICT");
    // Another process on the same store knows it as well.
    let request = Request::post(&path).header("content-type", "application/json").header("idempotency-key", "one");
    let elsewhere = sent(world.another(), request.body(Body::from(json!({ "text": "hi" }).to_string())).unwrap()).await;
    is_replayed(&came(elsewhere).await);
}

#[tokio::test]
async fn everything_that_is_posted_can_be_repeated() {
    let (world, plan) = World::with_plan([]).await;
    let id = plan["id"].as_str().unwrap();
    let here = json!({ "sessionId": SESSION });
    for (path, body) in [
        ("/api/sessions".to_owned(), json!({})),
        ("/api/plans/enable".to_owned(), here.clone()),
        (format!("/api/plans/{id}/approve"), json!({ "digest": plan["digest"], "later": true })),
        (format!("/api/plans/{id}/cancel"), json!({})),
        // A refusal is an answer, too.
        (format!("/api/plans/{id}/reject"), json!({})),
        ("/api/plans/disable".to_owned(), here.clone()),
        ("/api/plans/done".to_owned(), here),
        (format!("/api/sessions/{SESSION}/stop"), json!({})),
        (format!("/api/sessions/{SESSION}/messages"), json!({ "text": "/new" })),
    ] {
        let first = world.post_with_key(&path, "key", body.clone()).await;
        let events = world.event_names(SESSION).await;
        let again = world.post_with_key(&path, "key", body).await;
        is_replayed(&again);
        assert_eq!((first.status, first.text), (again.status, again.text), "{path}");
        assert_eq!(world.event_names(SESSION).await, events, "{path}");
    }
}

#[tokio::test]
async fn the_second_of_two_equal_requests_waits_for_the_first() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("Hello!").behind(&gate)]).await;
    let path = format!("/api/sessions/{SESSION}/messages");
    let ask = || world.post_with_key(&path, "one", json!({ "text": "hi" }));
    let others = async {
        world.model.asked(1).await;
        let another = world.post_with_key(&path, "one", json!({ "text": "another" })).await;
        gate.open();
        another
    };
    let (first, second, third, other) = tokio::join!(ask(), ask(), ask(), others);
    other.refused(422, "CONFLICT");
    let replayed =
        [&first, &second, &third].iter().filter(|came| came.headers.contains_key("idempotent-replayed")).count();
    assert_eq!(replayed, 2);
    assert!([&second, &third].iter().all(|came| came.text == first.text));
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn a_key_is_printable_and_not_too_long() {
    let world = World::new([]).await;
    for key in ["", &"x".repeat(256), "tab\there"] {
        world.post_with_key("/api/sessions", key, json!({})).await.refused(400, "INVALID_ARGUMENT");
    }
    world.post_with_key("/api/sessions", &"x".repeat(255), json!({})).await.with(201);
    // The same key for another call is another request.
    let first = world.post_with_key("/api/sessions", "key", json!({})).await.with(201);
    world.post_with_key("/api/plans/enable", "key", json!({ "sessionId": first["sessionId"] })).await.with(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_at_two_servers_at_once_is_carried_out_once_and_answered_alike() {
    let replies = (0..KEYS).map(|number| Reply::text(format!("Reply {number}.")));
    let world = World::new(replies).await;
    let other = world.another_process("the other").await;
    let path = format!("/api/sessions/{SESSION}/messages");
    for number in 0..KEYS {
        let texts = ["hello", "/plan on", "/plan off", "/status"];
        let (key, body) = (format!("key-{number}"), json!({ "text": texts[number % texts.len()] }).to_string());
        let request = || {
            let request = Request::post(&path).header("content-type", "application/json");
            request.header("idempotency-key", &key).body(Body::from(body.clone())).unwrap()
        };
        let (here, there) = tokio::join!(sent(world.router.clone(), request()), sent(other.clone(), request()));
        let (here, there) = (came(here).await, came(there).await);
        assert_eq!((here.status, there.status), (StatusCode::OK, StatusCode::OK), "{here:?}, {there:?}");
        assert_eq!(here.json()["reply"], there.json()["reply"], "{body}");
    }
    let begun = world.event_names(SESSION).await.into_iter().filter(|name| name == "turn_begun").count();
    assert_eq!(begun, KEYS / 4);
}

/// How many keys are sent to both.
const KEYS: usize = 60;
