//! Damage in the store never hides what is whole.

use planwright_llm::scripted::Reply;
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

#[tokio::test]
async fn a_damaged_entry_does_not_hide_the_rest_of_the_conversation() {
    for (event, texts) in [
        // The words that began the turn, in its middle, and its end, which is the last entry of the journal.
        ("turn_begun", &["hello", "Good morning.", "Fine.", "Bye."][..]),
        ("model_replied", &["hello", "how are you?", "Good morning.", "Bye."][..]),
        ("turn_ended", &["hello", "how are you?", "Good morning.", "Fine.", "Bye."][..]),
    ] {
        let world = World::new(["Good morning.", "Fine.", "Bye."].map(Reply::text)).await;
        for text in ["hello", "how are you?", "see you"] {
            world.say(text).await.with(200);
        }
        let path = format!("/api/sessions/{SESSION}/messages");
        let nth = |offset: u32| {
            format!(
                "UPDATE journal SET body = 'rubbish' WHERE id = (SELECT id FROM journal
                 WHERE body LIKE '%\"type\":\"{event}\"%' ORDER BY id LIMIT 1 OFFSET {offset})"
            )
        };
        let which = if event == "turn_ended" { 2 } else { 1 };
        assert_eq!(world.tamper(&nth(which)), 1, "{event}");
        let page = world.get(&path).await.with(200);
        let reply: Vec<_> =
            page["messages"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
        for text in texts {
            assert!(reply.contains(text), "{event}: {text:?} is not in {reply:?}");
        }
        assert_eq!(names(&page).len(), 1, "{page}");
        assert!(
            names(&page)[0].starts_with("entry ") && names(&page)[0].ends_with(&format!("of web:{SESSION}")),
            "{page}"
        );
        // Page by page the same is said, and the damage is named once.
        let (mut paged, mut named, mut before) = (Vec::new(), 0, String::new());
        loop {
            let page = world.get(&format!("{path}?limit=1{before}")).await.with(200);
            let texts = page["messages"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap().to_owned());
            paged.splice(0..0, texts);
            named += page.get("damaged").map_or(0, |rows| rows.as_array().unwrap().len());
            match page["next"].as_u64() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
        }
        assert_eq!((paged.iter().map(String::as_str).collect::<Vec<_>>(), named), (reply, 1), "{event}");
    }
}
