//! The workbook of a session, read and written.

use planwright_llm::scripted::{Gate, Reply};
use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, TIMEOUT, World};

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
    world.get("/api/workbook?sessionId=no-such-session").await.refused(404, "NOT_FOUND");
    world.get("/api/workbook").await.refused(400, "INVALID_ARGUMENT");
}

async fn findings(world: &World) -> Value {
    let shown = world.get(&format!("/api/workbook?sessionId={SESSION}")).await.with(200);
    shown["current"]["documents"][1].clone()
}

#[tokio::test]
async fn a_person_writes_a_document_from_the_version_that_they_read() {
    let world = World::new([Reply::text("Noted.")]).await;
    let path = "/api/workbook/findings";
    let writing =
        |version: u32, markdown: &str| json!({ "sessionId": SESSION, "version": version, "markdown": markdown });
    world.put(path, writing(1, "# Nothing\n")).await.refused(404, "NOT_FOUND");
    world.say("/plan move the blog").await.with(200);
    assert_eq!(findings(&world).await["version"], 1);

    let written = world.put(path, writing(1, "# What was found\n\nA leak.\n")).await.with(200);
    assert_eq!(
        (&written["which"], &written["version"], &written["markdown"], &written["by"]),
        (&json!("findings"), &json!(2), &json!("# What was found\n\nA leak.\n"), &json!("person"))
    );
    assert_eq!(findings(&world).await, written);
    let journal = world.get(&format!("/api/sessions/{SESSION}/journal")).await.with(200);
    let last = journal["entries"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["type"], "workbook_written", "{last}");
    assert_eq!(
        (&last["by"]["kind"], &last["by"]["through"], &last["event"]["why"]),
        (&json!("person"), &json!("web"), &json!("user"))
    );

    // From an old version nothing is written; the newest one comes with the refusal.
    let refused = world.put(path, writing(1, "# Mine\n")).await.refused(409, "CONFLICT");
    assert_eq!(refused["document"], written);
    assert_eq!(findings(&world).await, written);
    // A write whose answer was lost is sent again.
    assert_eq!(world.put(path, writing(1, "# What was found\n\nA leak.\n")).await.with(200), written);

    for (path, body, status, code) in [
        ("/api/workbook/diary", writing(2, "x"), 400, "INVALID_ARGUMENT"),
        (path, writing(2, " \n"), 400, "INVALID_ARGUMENT"),
        (path, writing(2, &"x".repeat(1_500_000)), 413, "LIMIT_EXCEEDED"),
        (path, json!({ "sessionId": SESSION, "markdown": "x" }), 400, "INVALID_ARGUMENT"),
        (path, json!({ "sessionId": OTHER, "version": 2, "markdown": "x" }), 404, "NOT_FOUND"),
        (path, json!({ "sessionId": SESSION, "channel": "cli", "version": 2, "markdown": "x" }), 404, "NOT_FOUND"),
        (path, json!({ "sessionId": "no-such-session", "version": 2, "markdown": "x" }), 404, "NOT_FOUND"),
    ] {
        world.put(path, body).await.refused(status, code);
    }
    assert_eq!(findings(&world).await, written);
}

/// The model waits in the middle of its turn until it is told to answer.
#[tokio::test]
async fn a_document_is_written_while_a_turn_is_under_way() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("Noted."), Reply::text("Done.").behind(&gate)]).await;
    world.say("/plan move the blog").await.with(200);
    let writing = async {
        tokio::time::timeout(TIMEOUT, world.model.asked(2)).await.expect("the model is asked");
        let body = json!({ "sessionId": SESSION, "version": 1, "markdown": "# Found\n" });
        let written = world.put("/api/workbook/findings", body).await.with(200);
        let working = world.get(&format!("/api/sessions/{SESSION}")).await.with(200)["working"].clone();
        gate.open();
        (written, working)
    };
    let (answer, (written, working)) = tokio::join!(world.say("go on"), writing);
    answer.with(200);
    assert_eq!((&written["version"], working), (&json!(2), json!(true)));
}
