//! Telegram that is slow, strict, unreachable, or delivers twice.

use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::world::{ADA, BOB, World};

fn echo() -> ScriptedModel {
    let count = std::sync::atomic::AtomicUsize::new(0);
    ScriptedModel::answering(move |_| {
        Reply::text(format!("answer {}", count.fetch_add(1, std::sync::atomic::Ordering::SeqCst)))
    })
}

#[tokio::test]
async fn an_answer_waits_as_long_as_telegram_asks() {
    let world = World::with(echo(), |_| {}).await;
    let wait = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 1", "parameters": { "retry_after": 1 } });
    world.api.fail_next("sendMessage", 429, &wait.to_string());
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "answer 0").await;
    assert_eq!(world.api.messages(ADA).len(), 1);
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn failures_of_telegram_lose_no_answer() {
    let world = World::with(echo(), |_| {}).await;
    world.api.fail_next("sendMessage", 502, "<html>Bad Gateway</html>");
    world.api.fail_next("getUpdates", 502, "<html>Bad Gateway</html>");
    world.api.fail_next("getUpdates", 500, "not json");
    let huge = json!({ "ok": false, "error_code": 429, "description": "x", "parameters": { "retry_after": 99_999_999_999_u64 } });
    world.api.fail_next("sendMessage", 429, &huge.to_string());
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "answer 0").await;
    assert_eq!(world.model.requests().len(), 1);
}

#[tokio::test]
async fn another_program_that_polls_is_waited_for() {
    let world = World::with(echo(), |_| {}).await;
    let conflict =
        json!({ "ok": false, "error_code": 409, "description": "Conflict: terminated by other getUpdates request" });
    world.api.fail_next("getUpdates", 409, &conflict.to_string());
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "answer 0").await;
}

#[tokio::test]
async fn an_update_that_comes_twice_is_handled_once() {
    let world = World::with(echo(), |_| {}).await;
    let message = |text: &str| json!({ "message": { "message_id": 1, "from": { "id": ADA }, "chat": { "id": ADA, "type": "private" }, "text": text } });
    for (id, text) in [(2_001, "one"), (2_001, "one"), (2_003, "three"), (2_002, "two"), (2_003, "three")] {
        world.api.deliver_as(id, message(text));
    }
    world.api.wait("three answers", |api| (api.messages(ADA).len() == 3).then_some(())).await;
    // Also after they were received, and out of order.
    world.api.all_received().await;
    world.api.deliver_as(2_003, message("three"));
    world.api.deliver_as(2_004, message("four"));
    world.api.wait("four answers", |api| (api.messages(ADA).len() == 4).then_some(())).await;
    let mut heard = world.heard();
    heard.sort_unstable();
    assert_eq!(heard, ["four", "one", "three", "two"]);
}

#[tokio::test]
async fn a_person_who_blocked_the_bot_stops_no_other() {
    let world = World::with(echo(), |_| {}).await;
    world.api.block(BOB);
    world.api.say(BOB, "hi");
    world.api.say(ADA, "hi");
    world.api.wait_for(ADA, "an answer", |message| message.text.starts_with("answer")).await;
    let undelivered = async {
        loop {
            let found = world.ledger.undelivered(10).await.unwrap();
            if let Some(message) = found.into_iter().find(|message| message.failed) {
                return message;
            }
            tokio::task::yield_now().await;
        }
    };
    let undelivered = undelivered.await;
    assert!(undelivered.target.ends_with(&BOB.to_string()) && undelivered.why.unwrap().contains("blocked"));
    world.api.say(ADA, "/status");
    world.api.wait_for_text(ADA, "could not be delivered").await;
}

#[tokio::test]
async fn a_revoked_token_is_tried_rarely() {
    let world = World::with(echo(), |_| {}).await;
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "answer 0").await;
    world.api.revoke_token();
    let before = world.api.calls("getUpdates").len();
    world.process.stop().await;
    // Refused calls are not counted as calls, so none came through.
    assert_eq!(world.api.calls("getUpdates").len(), before);
}

#[tokio::test]
async fn text_that_telegram_does_not_take_is_sent_without_its_look() {
    let world = World::new([Reply::text("**bold** words")]).await;
    world.api.refuse_entities();
    world.api.say(ADA, "hi");
    let answer = world.api.wait_for_text(ADA, "bold words").await;
    assert!(answer.entities.is_empty());
}
