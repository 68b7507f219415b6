//! Several servers with the same bot on one store.

use planwright_llm::scripted::{Reply, ScriptedModel};

use crate::world::{ADA, World};

#[tokio::test]
async fn one_server_polls_and_another_takes_over() {
    let world = World::with(ScriptedModel::answering(|_| Reply::text("ok")), |_| {}).await;
    let second = world.another("second").await;
    let answers = |api: &planwright_test_support::bot_api::FakeBotApi| {
        api.messages(ADA).iter().filter(|message| message.text == "ok").count()
    };
    for number in 1..=5 {
        world.api.say(ADA, &format!("message {number}"));
        world.api.wait("an answer", |api| (answers(api) == number).then_some(())).await;
    }
    // Two that poll at once end each other's calls, which Telegram answers with 409.
    let owner = world
        .ledger
        .acquire_poller("123456", "a third one", world.agent.engine().now(), std::time::Duration::from_secs(1))
        .await;
    assert_eq!(owner.unwrap(), None);
    world.process.stop().await;
    world.api.say(ADA, "message 6");
    world.api.wait("an answer of the second server", |api| (answers(api) == 6).then_some(())).await;
    assert_eq!(world.model.requests().len(), 6);
    second.stop().await;
}
