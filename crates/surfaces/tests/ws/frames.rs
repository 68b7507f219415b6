//! What clients may send, and how much of it.

use std::num::NonZeroU32;
use std::time::Duration;

use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::world::{OTHER, SESSION, World};

const TWENTY: NonZeroU32 = NonZeroU32::new(20).unwrap();
/// No test takes that long, so that a client gets nothing back of what it used up.
const NEVER: Duration = Duration::from_secs(86_400);

#[track_caller]
fn assert_problem(frame: &Value, code: &str) {
    assert_eq!((&frame["type"], &frame["code"]), (&json!("problem"), &json!(code)), "{frame}");
    assert!(frame["detail"].as_str().is_some_and(|expected| !expected.is_empty()), "{frame}");
}

#[tokio::test]
async fn what_cannot_be_understood_is_said_and_the_connection_goes_on() {
    let world = World::new().await;
    let mut client = world.client().await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let wrong = [
        String::new(),
        "hello".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        r#"{"type":"subscribe"}"#.to_owned(),
        r#"{"type":"approve","sessionId":"session-one"}"#.to_owned(),
        r#"{"type":"subscribe","sessionId":"session-one","since":3}"#.to_owned(),
        r#"{"type":"subscribe","sessionId":"session-one","after":-1}"#.to_owned(),
        r#"{"type":"subscribe","sessionId":"../../etc/passwd"}"#.to_owned(),
        r#"{"type":"subscribe","sessionId":"session-one","channel":"smoke"}"#.to_owned(),
        r#"{"type":"message","sessionId":"session-one"}"#.to_owned(),
        r#"{"type":"message","sessionId":"session-one","text":7}"#.to_owned(),
        r#"{"type":"ping"} {"type":"ping"}"#.to_owned(),
        format!(r#"{{"type":"message","sessionId":"session-one","text":"x","id":{deep}}}"#),
    ];
    for text in wrong {
        client.send_message(Message::text(text.clone())).await.unwrap();
        let frame = client.next().await;
        assert_problem(&frame, "INVALID_ARGUMENT");
        assert_eq!(frame["sessionId"], Value::Null, "{text:.80}");
    }
    client.send_message(Message::binary(br#"{"type":"ping"}"#.to_vec())).await.unwrap();
    assert_problem(&client.next().await, "INVALID_ARGUMENT");
    client.is_alive().await;
    assert_eq!(world.head(SESSION).await, 1, "nothing was written");
    assert_eq!(world.model.requests().len(), 0);
}

#[tokio::test]
async fn a_frame_that_is_too_large_ends_the_connection_and_nothing_else() {
    let world = World::limited(|limits| limits.frame_bytes = 10_000).await;
    let mut other = world.client().await;
    let mut client = world.client().await;
    let message = json!({ "type": "message", "sessionId": SESSION, "text": "x".repeat(10_000) });
    // The server may hang up before all of it is sent, and a connection that is cut like this tells no reason.
    let _ = client.send_message(Message::text(message.to_string())).await;
    assert!(matches!(client.closed().await, None | Some(1002)));
    world.until_connected(1).await;
    other.is_alive().await;
    assert_eq!(world.head(SESSION).await, 1, "nothing was written");
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_however_it_is_written() {
    let model = ScriptedModel::new([]).otherwise(Reply::text("Long.")).with_context_tokens(4_000_000);
    let world = World::answering(model).await;
    let mut client = world.client().await;
    // Six bytes in the frame for each in the message.
    let text = "\u{1}".repeat(256 * 1024 + 1);
    client.send(json!({ "type": "message", "sessionId": SESSION, "text": text, "id": 1 })).await;
    let frame = client.next().await;
    assert_problem(&frame, "LIMIT_EXCEEDED");
    assert_eq!(frame["id"], 1);
    client.send(json!({ "type": "message", "sessionId": SESSION, "text": &text[1..], "id": 2 })).await;
    let answer = client.next().await;
    assert_eq!((&answer["type"], &answer["id"]), (&json!("answer"), &json!(2)), "{answer}");
}

#[tokio::test]
async fn a_client_that_floods_is_disconnected() {
    let world = World::limited(|limits| (limits.burst, limits.frame_interval) = (TWENTY, NEVER)).await;
    let mut client = world.client().await;
    for _ in 0..20 {
        client.is_alive().await;
    }
    // All at once, without reading a single answer.
    for _ in 0..1_000 {
        if client.send_message(Message::text(r#"{"type":"ping"}"#)).await.is_err() {
            break;
        }
    }
    assert_eq!(client.closed().await, Some(1008));
    world.until_connected(0).await;
}

/// Frames that ask for nothing are frames as well.
#[tokio::test]
async fn pings_of_the_protocol_count_too() {
    let world = World::limited(|limits| (limits.burst, limits.frame_interval) = (TWENTY, NEVER)).await;
    let mut client = world.client().await;
    for _ in 0..21 {
        let _ = client.send_message(Message::Ping(Vec::new().into())).await;
    }
    assert_eq!(client.closed().await, Some(1008));
}

#[tokio::test]
async fn only_so_many_sessions_are_followed_at_once() {
    let world = World::limited(|limits| limits.subscriptions = 1).await;
    let mut client = world.client().await;
    client.subscribe(SESSION, None).await;
    // Subscribing again makes no second subscription.
    client.subscribe(SESSION, Some(0)).await;
    assert_eq!(client.entry().await.0, 1);
    client.send(json!({ "type": "subscribe", "sessionId": OTHER })).await;
    let frame = client.next().await;
    assert_problem(&frame, "LIMIT_EXCEEDED");
    assert_eq!(frame["sessionId"], OTHER);
    client.send(json!({ "type": "unsubscribe", "sessionId": SESSION })).await;
    assert_eq!(client.next().await["type"], "unsubscribed");
    client.subscribe(OTHER, None).await;
}
