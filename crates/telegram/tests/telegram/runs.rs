//! Runs that were started in a chat: their end, their result and what they wait for are told there.

use planwright_core::model::ModelMessage;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::world::{ADA, World};

/// Ends its task at once.
fn diligent() -> ScriptedModel {
    ScriptedModel::answering(|request| match request.messages.last() {
        Some(ModelMessage::User { text }) if text.contains("_RUN ") => {
            Reply::call("task_update", json!({ "status": "done", "note": "renewed until May" }))
        }
        _ => Reply::text("The certificate is new."),
    })
}

#[tokio::test]
async fn the_result_of_a_run_is_told_in_the_chat_that_it_was_started_in() {
    let world = World::with(diligent(), |_| {}).await;
    world.api.say(ADA, "/task add Renew the certificate");
    world.api.wait_for_text(ADA, "Task 1 is added").await;
    world.api.say(ADA, "/auto on");
    world.api.wait_for_text(ADA, "Run 1 (TASK_RUN) is started").await;
    let told = world.api.wait_for_text(ADA, "is completed: renewed until May.").await;
    assert!(told.text.contains("The certificate is new."), "{}", told.text);
    let about = |text: &str| text.contains("is completed");
    assert_eq!(world.api.messages(ADA).iter().filter(|message| about(&message.text)).count(), 1);
}

#[tokio::test]
async fn a_run_that_pauses_says_so_in_its_chat_and_what_it_asks_is_put_there() {
    let world = World::with(ScriptedModel::answering(|_| Reply::text("Hm.")), |_| {}).await;
    world.api.say(ADA, "/task add Renew the certificate");
    world.api.wait_for_text(ADA, "Task 1 is added").await;
    world.api.say(ADA, "/auto on");
    let told = world.api.wait_for_text(ADA, "Run 1 is paused: 3 turns in a row made no progress.").await;
    assert!(told.text.contains("/auto resume 1"), "{}", told.text);
    // It was told, so the next process does not tell it again.
    world.process.stop().await;
    let again = world.another("second").await;
    world.api.say(ADA, "/auto off");
    world.api.wait_for_text(ADA, "Run 1 is stopped.").await;
    again.stop().await;
    let paused = world.api.messages(ADA).into_iter().filter(|message| message.text.contains("is paused")).count();
    assert_eq!(paused, 1);
}

#[tokio::test]
async fn what_a_run_asks_is_put_into_its_chat() {
    let asks = ScriptedModel::answering(|_| {
        Reply::call("ask_person", json!({ "questions": [{ "text": "Which certificate?" }] }))
    });
    let world = World::with(asks, |_| {}).await;
    world.api.say(ADA, "/task add Renew the certificate");
    world.api.wait_for_text(ADA, "Task 1 is added").await;
    world.api.say(ADA, "/auto on");
    world.api.wait_for_text(ADA, "Which certificate?").await;
}
