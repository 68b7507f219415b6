//! The workbook of a session, to be read.

use planwright_llm::scripted::Reply;
use serde_json::json;

use crate::world::{OTHER, SESSION, World};

#[tokio::test]
async fn the_documents_are_shown_as_they_are_and_only_those_of_the_session() {
    let write = json!({ "which": "findings", "content": "# What was found\n\nNothing yet.\n" });
    let world = World::new([Reply::call("write_plan", write), Reply::text("Noted.")]).await;
    world.say("/plan move the blog").await.with(200);
    let shown = world.get(&format!("/api/workbook?sessionId={SESSION}")).await.with(200);
    assert_eq!((&shown["sessionId"], &shown["on"], &shown["archives"]), (&json!(SESSION), &json!(true), &json!([])));
    assert!(shown["current"]["title"].as_str().unwrap().contains("move the blog"), "{shown}");
    let documents = shown["current"]["documents"].as_array().unwrap();
    let names: Vec<_> = documents.iter().map(|document| document["which"].as_str().unwrap()).collect();
    assert_eq!(names, ["task_plan", "findings", "progress"]);
    assert_eq!(
        (&documents[1]["markdown"], &documents[1]["version"]),
        (&json!("# What was found\n\nNothing yet.\n"), &json!(2))
    );
    let other = world.get(&format!("/api/workbook?sessionId={OTHER}")).await.with(200);
    assert_eq!((&other["on"], &other["current"]), (&json!(false), &json!(null)));
    world.get("/api/workbook?sessionId=nobody-here").await.refused(404, "NOT_FOUND");
    world.get("/api/workbook").await.refused(400, "INVALID_ARGUMENT");
}
