//! Everything that happened in a session, page by page.

use planwright_llm::scripted::Reply;
use serde_json::{Value, json};

use crate::world::{SESSION, World};

#[tokio::test]
async fn the_journal_is_read_in_order_and_to_its_end() {
    let (world, plan) = World::with_plan([]).await;
    let (mut seen, mut path): (Vec<Value>, _) = (Vec::new(), format!("/api/sessions/{SESSION}/journal?limit=3"));
    loop {
        let page = world.get(&path).await.with(200);
        let entries = page["entries"].as_array().unwrap();
        assert!((1..=3).contains(&entries.len()));
        seen.extend(entries.iter().cloned());
        match page["next"].as_u64() {
            Some(next) => path = format!("/api/sessions/{SESSION}/journal?limit=3&after={next}"),
            None => break,
        }
    }
    let numbers: Vec<_> = seen.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let session = world.get(&format!("/api/sessions/{SESSION}")).await.with(200);
    assert_eq!(session["seq"], json!(numbers.len()));
    let set = seen.iter().find(|entry| entry["type"] == "content_set").unwrap();
    assert_eq!((&set["planId"], &set["event"]["plan"]), (&plan["id"], &plan["id"]));
    assert_eq!(set["by"]["kind"], "agent");
    assert!(seen.iter().all(|entry| entry["hash"].as_str().unwrap().len() == 64));
    assert_eq!(seen[0]["event"], json!({ "type": "session_opened" }));

    // Behind the end there is nothing, and that is no mistake.
    let behind = world.get(&format!("/api/sessions/{SESSION}/journal?after=9007199254740991")).await.with(200);
    assert_eq!((&behind["entries"], &behind["next"]), (&json!([]), &Value::Null));
}

#[tokio::test]
async fn a_page_of_the_journal_is_about_a_megabyte() {
    let large = "x".repeat(200 * 1024);
    let world = World::new((0..8).map(|_| Reply::text(large.clone()))).await;
    for _ in 0..8 {
        world.say("say much").await.with(200);
    }
    let first = world.get(&format!("/api/sessions/{SESSION}/journal")).await;
    assert!((900_000..1_300_000).contains(&first.text.len()), "{}", first.text.len());
    let next = first.json()["next"].as_u64().unwrap();
    let last = first.json()["entries"].as_array().unwrap().last().unwrap()["seq"].as_u64().unwrap();
    assert_eq!(next, last);
    let second = world.get(&format!("/api/sessions/{SESSION}/journal?after={next}")).await.with(200);
    assert_eq!(second["entries"][0]["seq"], json!(last + 1));
}
