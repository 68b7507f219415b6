//! A message that is answered as a stream of events.

use axum::body::Body;
use axum::http::Request;
use futures::StreamExt as _;
use planwright_llm::scripted::{Gate, Reply};
use serde_json::{Value, json};

use crate::world::{SESSION, TIMEOUT, World, came, drafting};

fn asking(text: &str) -> Request<Body> {
    let request = Request::post(format!("/api/sessions/{SESSION}/messages"));
    let request = request.header("content-type", "application/json").header("accept", "text/event-stream");
    request.body(Body::from(json!({ "text": text }).to_string())).unwrap()
}

/// Name and data of each event; comments are left out.
fn events(text: &str) -> Vec<(String, Value)> {
    let blocks = text.split("\n\n").filter(|block| block.contains("event: "));
    blocks
        .map(|block| {
            let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            (line("event: ").to_owned(), serde_json::from_str(line("data: ")).unwrap())
        })
        .collect()
}

#[tokio::test]
async fn everything_is_told_in_order_and_the_answer_last() {
    let world = World::new(drafting()).await;
    world.say("/plan on").await.with(200);
    let streamed = world.call(asking("move the blog")).await;
    assert_eq!(streamed.headers["content-type"], "text/event-stream");
    let events = events(&streamed.text);
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    let place =
        |name: &str| names.iter().position(|there| *there == name).unwrap_or_else(|| panic!("{name}: {names:?}"));
    let order = ["accepted", "tool_started", "tool_ended", "text", "answer"].map(place);
    assert!(order.is_sorted(), "{names:?}");
    assert_eq!(names.iter().filter(|name| ["answer", "problem"].contains(name)).count(), 1);
    assert_eq!(place("answer"), names.len() - 1);
    let mut seq = 0;
    for (name, data) in &events {
        assert_eq!((&data["type"], &data["sessionId"]), (&json!(name), &json!(SESSION)), "{data}");
        assert!(data["seq"].as_u64().unwrap() >= seq, "{names:?}");
        seq = data["seq"].as_u64().unwrap();
    }
    let head = world.get(&format!("/api/sessions/{SESSION}")).await.with(200)["seq"].clone();
    let (_, answer) = events.last().unwrap();
    assert_eq!(
        (&answer["outcome"], &answer["plan"]["status"], &answer["seq"]),
        (&json!("answered"), &json!("READY"), &head)
    );
}

#[tokio::test]
async fn a_command_is_one_answer_and_a_refusal_is_none() {
    let world = World::new([]).await;
    let events = events(&world.call(asking("/plan on")).await.text);
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((events[0].0.as_str(), &events[0].1["outcome"]), ("answer", &json!("done")));
    assert!(events[0].1["seq"].as_u64().unwrap() > 1);
    world.call(asking("/plan show 7")).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("too late").behind(&gate)]).await;
    let response = world.send(asking("take your time")).await;
    let mut body = response.into_body().into_data_stream();
    let first = tokio::time::timeout(TIMEOUT, body.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(events(std::str::from_utf8(&first).unwrap())[0].0, "accepted");
    world.stopping.cancel();
    let mut rest = String::new();
    while let Some(piece) = tokio::time::timeout(TIMEOUT, body.next()).await.unwrap() {
        rest.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
    }
    let last = events(&rest).pop().unwrap();
    assert_eq!((last.0.as_str(), &last.1["code"]), ("problem", &json!("UNAVAILABLE")));
    gate.open();
}

#[tokio::test]
async fn closing_a_stream_does_not_stop_the_turn() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("Still here.").behind(&gate)]).await;
    let response = world.send(asking("take your time")).await;
    drop(response);
    gate.open();
    let mut changes = world.ledger.changes();
    loop {
        let page = came(
            world.send(Request::get(format!("/api/sessions/{SESSION}/messages")).body(Body::empty()).unwrap()).await,
        )
        .await;
        if page.text.contains("Still here.") {
            break;
        }
        tokio::time::timeout(TIMEOUT, changes.recv()).await.unwrap().unwrap();
    }
}
