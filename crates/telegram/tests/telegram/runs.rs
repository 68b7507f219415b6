//! Runs that were started in a chat: their end, their result and what they wait for are told there.

use std::time::Duration;

use planwright_core::model::ModelMessage;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::clock::TestClock;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{ADA, World};

/// Ends its task at once.
fn diligent() -> ScriptedModel {
    ends_its_task("done")
}

fn ends_its_task(status: &'static str) -> ScriptedModel {
    ScriptedModel::answering(move |request| match request.messages.last() {
        Some(ModelMessage::User { text }) if text.contains("_RUN ") => {
            Reply::call("task_update", json!({ "status": status, "note": "renewed until May" }))
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

/// A server starts it, and no person typed anything.
#[tokio::test]
async fn the_run_of_a_schedule_is_told_in_the_chat_that_the_schedule_was_made_in() {
    for (status, expected) in
        [("done", "is completed: renewed until May."), ("failed", "is failed: renewed until May.")]
    {
        let clock = TestClock::stopped();
        let world = World::with(ends_its_task(status), |setup| setup.clock = Some(clock.clone())).await;
        world.api.say(ADA, "/schedule add 0 * * * * Renew the certificate");
        world.api.wait_for_text(ADA, "starts its runs").await;
        let stop = CancellationToken::new();
        let (server, stopping) = (world.agent.clone(), stop.clone());
        let serving = tokio::spawn(async move { server.run_schedules(stopping).await });
        clock.advance(Duration::from_secs(3_660));
        world.api.wait_for_text(ADA, expected).await;
        let about = world.api.messages(ADA).into_iter().filter(|message| message.text.contains(expected)).count();
        assert_eq!(about, 1);
        stop.cancel();
        serving.await.unwrap();
    }
}
