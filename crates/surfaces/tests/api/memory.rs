//! What a session remembers, over REST.

use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, World};

async fn save(world: &World, session: &str, content: &str) -> Value {
    world.post("/api/memory", json!({ "sessionId": session, "content": content })).await.with(201)
}

async fn found(world: &World, session: &str, q: &str) -> Vec<Value> {
    let page = world.get(&format!("/api/memory?sessionId={session}&q={q}")).await.with(200);
    page["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_memory_is_saved_found_promoted_and_forgotten() {
    let world = World::new([]).await;
    let saved = save(&world, SESSION, "Ada likes tabs.").await;
    assert_eq!(saved["scope"], format!("session:web:{SESSION}"));
    assert_eq!(
        (&saved["kind"], &saved["trust"], &saved["source"]),
        (&json!("fact"), &json!("person"), &json!({ "from": "person" }))
    );
    save(&world, SESSION, "The till is red.").await;
    let items = found(&world, SESSION, "which%20tabs").await;
    assert_eq!((items.len(), &items[0]["id"]), (1, &saved["id"]));
    assert!(items[0]["score"].as_f64().unwrap() > 0.0 && items[0].get("shares").is_none());
    let explained = world.get(&format!("/api/memory?sessionId={SESSION}&q=tabs&explain=true")).await.with(200);
    let shares = explained["items"][0]["shares"].as_array().unwrap();
    let sum: f64 = shares.iter().map(|share| share["share"].as_f64().unwrap()).sum();
    assert!((sum - explained["items"][0]["score"].as_f64().unwrap()).abs() < 0.001, "{explained}");
    let listed = world.get(&format!("/api/memory?sessionId={SESSION}&limit=1")).await.with(200);
    assert_eq!(listed["items"][0]["content"], "The till is red.");
    let next = listed["next"].as_u64().unwrap();
    let rest = world.get(&format!("/api/memory?sessionId={SESSION}&limit=1&before={next}")).await.with(200);
    assert_eq!(rest["items"][0]["content"], "Ada likes tabs.");

    assert!(found(&world, OTHER, "tabs").await.is_empty());
    let path = format!("/api/memory/{}", saved["id"].as_str().unwrap());
    let copy = world.post(&format!("{path}/promote?sessionId={SESSION}"), Value::Null).await.with(201);
    assert_eq!((&copy["scope"], &copy["source"]["session"]), (&json!("global"), &json!(format!("web:{SESSION}"))));
    assert_eq!(found(&world, OTHER, "tabs").await.len(), 1);
    let gone = world.delete(&format!("/api/memory/{}?sessionId={OTHER}", copy["id"].as_str().unwrap())).await;
    assert_eq!(gone.status.as_u16(), 204);
    assert!(found(&world, OTHER, "tabs").await.is_empty());
    assert_eq!(found(&world, SESSION, "tabs").await.len(), 1);
    assert_eq!(world.delete(&format!("{path}?sessionId={SESSION}")).await.status.as_u16(), 204);
    assert!(found(&world, SESSION, "tabs").await.is_empty());
}

#[tokio::test]
async fn what_was_learnt_elsewhere_keeps_who_said_it_and_when() {
    let world = World::new([]).await;
    let body = |more: Value| {
        let mut body = json!({ "sessionId": SESSION, "content": "I went to the lake." });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let stated = json!({ "author": "Caroline", "at": "1999-05-07", "context": "the pottery class" });
    let saved = world.post("/api/memory", body(stated)).await.with(201);
    let origin = json!({ "author": "Caroline", "at": "1999-05-07T00:00:00Z", "context": "the pottery class" });
    assert_eq!(saved["origin"], origin);
    assert_eq!(saved["author"]["kind"], "person", "who saved it stays beside it");
    for q in ["Caroline%20lake", "7%20May%201999", "pottery"] {
        assert_eq!(found(&world, SESSION, q).await[0]["origin"], origin, "{q}");
    }
    let read =
        world.post("/api/memory", body(json!({ "content": "Melanie (9 June 1999): It was fun." }))).await.with(201);
    assert_eq!(read["origin"], json!({ "author": "Melanie", "at": "1999-06-09T00:00:00Z" }));
    assert!(save(&world, SESSION, "The till is red.").await.get("origin").is_none());
    world.post("/api/memory", body(json!({ "at": "yesterday" }))).await.refused(400, "INVALID_ARGUMENT");
    world.post("/api/memory", body(json!({ "author": "x".repeat(65) }))).await.refused(413, "LIMIT_EXCEEDED");
}

#[tokio::test]
async fn the_list_says_whether_a_change_can_be_taken_back() {
    let world = World::new([]).await;
    let can_undo = async |session: &str, text: &str| {
        let page = world.get(&format!("/api/memory?sessionId={session}{text}")).await.with(200);
        page["canUndo"].as_bool().unwrap()
    };
    save(&world, OTHER, "The till is red.").await;
    world.post("/api/sessions", json!({ "sessionId": SESSION })).await;
    assert!(!can_undo(SESSION, "").await, "what another session changed is not taken back here");
    save(&world, SESSION, "Ada likes tabs.").await;
    assert!(can_undo(SESSION, "").await && can_undo(SESSION, "&q=tabs").await);
    let undo = json!({ "text": "/memory undo" });
    world.post(&format!("/api/sessions/{SESSION}/messages"), undo).await.with(200);
    assert!(!can_undo(SESSION, "").await && !can_undo(SESSION, "&q=tabs").await);
}

#[tokio::test]
async fn a_memory_of_another_session_is_not_there() {
    let world = World::new([]).await;
    let saved = save(&world, SESSION, "The secret till is red.").await;
    let path = format!("/api/memory/{}", saved["id"].as_str().unwrap());
    world.delete(&format!("{path}?sessionId={OTHER}")).await.refused(404, "NOT_FOUND");
    world.post(&format!("{path}/promote?sessionId={OTHER}"), Value::Null).await.refused(404, "NOT_FOUND");
    world.get("/api/memory?sessionId=no-such-session").await.refused(404, "NOT_FOUND");
    let body = json!({ "sessionId": "no-such-session", "content": "x" });
    world.post("/api/memory", body).await.refused(404, "NOT_FOUND");
    assert_eq!(found(&world, SESSION, "till").await.len(), 1);
}

#[tokio::test]
async fn scopes_are_read_strictly_and_global_is_not_written() {
    let world = World::new([]).await;
    let body = |scope: &str| json!({ "sessionId": SESSION, "content": "For all.", "scope": scope });
    world.post("/api/memory", body("global")).await.refused(403, "POLICY_DENIED");
    world.post("/api/memory", body(&format!("session:web:{OTHER}"))).await.refused(404, "NOT_FOUND");
    world.post("/api/memory", body("task:t1")).await.refused(404, "NOT_FOUND");
    for malformed in ["", "Global", "session:", "session:web", "everything"] {
        world.post("/api/memory", body(malformed)).await.refused(400, "INVALID_ARGUMENT");
    }
    world.post("/api/memory", body(&format!("session:web:{SESSION}"))).await.with(201);
    world.post("/api/memory", json!({ "sessionId": SESSION, "content": " " })).await.refused(400, "INVALID_ARGUMENT");
    assert!(found(&world, OTHER, "all").await.is_empty());
}
