//! Telegram that is slow, strict, unreachable, or delivers twice.

use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_telegram::TelegramOptions;
use planwright_test_support::agent::AgentSetup;
use serde_json::json;
use std::time::Duration;

use crate::log::log;
use crate::world::{ADA, BOB, LONG, World, options, start};

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

/// Another program with the same token and a store of its own. Each call of `getUpdates` ends the one before.
#[tokio::test]
async fn two_programs_that_poll_are_said_once_and_one_is_left() {
    let log = log();
    let world = World::with(echo(), |_| {}).await;
    let folder = tempfile::tempdir().unwrap();
    let setup = AgentSetup::new(folder.path());
    let ledger = setup.ledger().await;
    let other = start(&setup.agent(ledger.clone(), echo()), ledger, options(&world.api, "another program"));
    world.api.wait("the calls end each other", |api| (api.conflicts() >= 4).then_some(())).await;
    let reply = log.count("another program receives the updates of this bot");
    assert!((1..=2).contains(&reply), "each program says it once, not {reply} times");
    other.stop().await;
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "answer 0").await;
    assert_eq!((world.api.messages(ADA).len(), world.model.requests().len()), (1, 1));
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
    let undelivered = tokio::time::timeout(LONG, undelivered).await.expect("the answer to Bob is given up");
    assert!(undelivered.target.ends_with(&BOB.to_string()) && undelivered.why.unwrap().contains("blocked"));
    world.api.say(ADA, "/status");
    world.api.wait_for_text(ADA, "1 message could not be delivered").await;
    world.api.wait_for_text(ADA, "Messages that could not be delivered: 1\n").await;
}

#[tokio::test]
async fn a_revoked_token_is_said_once_and_the_bot_works_again_with_it() {
    let log = log();
    let world = World::with(echo(), |_| {}).await;
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "answer 0").await;
    // The pause is longer than the lease, as it is outside of tests; there it is five minutes.
    world.process.stop().await;
    let lease = Duration::from_millis(40);
    let second = world.another_with(TelegramOptions { lease, ..options(&world.api, "second") }).await;
    let before = world.api.calls("getUpdates").len();
    world.api.wait("the second process polls", |api| (api.calls("getUpdates").len() > before).then_some(())).await;
    world.api.revoke_token();
    // A call that waits at Telegram is not ended by that.
    world.api.deliver(json!({ "poll": {} }));
    world.api.wait("it is tried several times", |api| (api.refused_calls() >= 4).then_some(())).await;
    assert_eq!(log.count("Telegram does not accept the token"), 1);
    world.api.accept_token();
    world.api.say(ADA, "hi again");
    world.api.wait_for_text(ADA, "answer 1").await;
    second.stop().await;
}

/// A bot that is started with a token that is not accepted.
#[tokio::test]
async fn a_wrong_token_at_the_start_is_said_once() {
    let log = log();
    let world = World::with(echo(), |_| {}).await;
    world.process.stop().await;
    world.api.revoke_token();
    let second = world.another("second").await;
    let before = world.api.refused_calls();
    world.api.wait("it is tried several times", |api| (api.refused_calls() >= before + 4).then_some(())).await;
    assert_eq!(log.count("Telegram does not accept the token"), 1);
    world.api.accept_token();
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "answer 0").await;
    second.stop().await;
}

#[tokio::test]
async fn text_that_telegram_does_not_take_is_sent_without_its_look() {
    let world = World::new([Reply::text("**bold** words")]).await;
    world.api.refuse_entities();
    world.api.say(ADA, "hi");
    let answer = world.api.wait_for_text(ADA, "bold words").await;
    assert!(answer.entities.is_empty());
}
