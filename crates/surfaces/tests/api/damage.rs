//! Damage in the store never hides what is whole.

use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, World, drafting};

fn names(answer: &Value) -> Vec<&str> {
    let damaged = answer["damaged"].as_array().unwrap_or_else(|| panic!("{answer}"));
    damaged.iter().map(|row| row["what"].as_str().unwrap()).collect()
}

/// A plan that waits for a decision in each of the two sessions.
async fn two_plans() -> World {
    let (world, _) = World::with_plan(drafting()).await;
    world.post("/api/plans/enable", json!({ "sessionId": OTHER })).await.with(200);
    world.post(&format!("/api/sessions/{OTHER}/messages"), json!({ "text": "move it" })).await.with(200);
    world
}

#[tokio::test]
async fn a_damaged_plan_does_not_hide_the_others_in_the_inbox() {
    let world = two_plans().await;
    let damaged = "UPDATE plan SET body = 'rubbish' WHERE session_id = (SELECT min(session_id) FROM plan)";
    assert_eq!(world.tamper(damaged), 1);
    let inbox = world.get("/api/inbox").await.with(200);
    let sessions: Vec<_> = inbox["items"].as_array().unwrap().iter().map(|item| &item["sessionId"]).collect();
    assert_eq!(sessions, [OTHER], "{inbox}");
    assert_eq!(names(&inbox), [format!("plan 1 of web:{SESSION}")], "{inbox}");
    // Only the damaged plan itself cannot be shown.
    world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.refused(500, "INTERNAL");
    world.get(&format!("/api/plans/1?sessionId={OTHER}")).await.with(200);
    world.get(&format!("/api/plans?sessionId={SESSION}")).await.with(200);
}

#[tokio::test]
async fn a_damaged_session_does_not_hide_the_others() {
    let world = World::new([]).await;
    assert_eq!(world.tamper("UPDATE session SET state = 'rubbish' WHERE conversation = 'session-one'"), 1);
    let list = world.get("/api/sessions").await.with(200);
    let keys: Vec<_> = list["sessions"].as_array().unwrap().iter().map(|session| &session["sessionId"]).collect();
    assert_eq!(keys, [OTHER], "{list}");
    assert_eq!(names(&list), [format!("session web:{SESSION}")], "{list}");
}

#[tokio::test]
async fn a_damaged_entry_does_not_hide_the_rest_of_the_journal() {
    let world = two_plans().await;
    let before = world.get(&format!("/api/sessions/{SESSION}/journal")).await.with(200);
    let damaged =
        "UPDATE journal SET body = 'rubbish' WHERE seq = 2 AND session_id = (SELECT min(session_id) FROM journal)";
    assert_eq!(world.tamper(damaged), 1);
    let after = world.get(&format!("/api/sessions/{SESSION}/journal")).await.with(200);
    let mut whole = before["entries"].as_array().unwrap().clone();
    whole.remove(1);
    assert_eq!(after["entries"], Value::Array(whole));
    assert_eq!(names(&after), [format!("entry 2 of the journal of web:{SESSION}")]);
    // A page with nothing but the damaged entry leads to the next one.
    let page = world.get(&format!("/api/sessions/{SESSION}/journal?after=1&limit=1")).await.with(200);
    assert_eq!((&page["entries"], &page["next"]), (&json!([]), &json!(2)), "{page}");
}
