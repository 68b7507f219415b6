//! What a person sees while the agent writes.

use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use planwright_test_support::bot_api::FakeBotApi;

use crate::world::{ADA, GROUP, World};

/// A reply that is heard in part until the gate is opened.
fn begun(part: &str, whole: &'static str, gate: &Gate) -> Reply {
    let gate = gate.clone();
    Reply::made_from(move |_| Reply::text(whole).behind(&gate)).with_text(part)
}

/// The number of a draft that Ada saw.
async fn draft(api: &FakeBotApi, expected: &str) -> i64 {
    let wanted = |api: &FakeBotApi| api.drafts(ADA).into_iter().find(|(_, text)| text.contains(expected));
    api.wait("a draft", wanted).await.0
}

#[tokio::test]
async fn a_draft_shows_what_is_written_and_the_answer_is_one_message() {
    let gate = Gate::closed();
    let world = World::new([begun("I begin. ", "I begin. Then the **rest**.", &gate)]).await;
    world.api.say(ADA, "write");
    let number = draft(&world.api, "I begin.").await;
    assert!(world.api.messages(ADA).is_empty());
    assert!(!world.api.calls("sendChatAction").is_empty());
    gate.open();
    world.api.wait_for_text(ADA, "I begin. Then the rest.").await;
    assert_eq!(world.api.messages(ADA).len(), 1);
    assert!(world.api.calls("editMessageText").is_empty());
    assert!(number > 0 && world.api.drafts(ADA).iter().all(|(draft, _)| *draft == number));
}

#[tokio::test]
async fn stop_works_while_a_draft_is_shown() {
    let world = World::new([Reply::text("I begin to write a long answer").then_hang()]).await;
    world.api.say(ADA, "write");
    draft(&world.api, "I begin to write").await;
    world.api.say(ADA, "/stop");
    world.api.wait_for_text(ADA, "Stopped").await;
}

/// An older server does not know the method, and a bot may be refused.
#[tokio::test]
async fn without_drafts_one_message_is_edited_and_becomes_the_answer() {
    for refuse in [FakeBotApi::without_drafts, FakeBotApi::refuse_drafts] {
        let world = World::new([Reply::text("I begin to write a long answer").then_hang()]).await;
        refuse(&world.api);
        world.api.say(ADA, "write");
        let live = world.api.wait_for_text(ADA, "I begin to write").await;
        assert!(!world.api.calls("sendChatAction").is_empty());
        world.api.say(ADA, "/stop");
        world.api.wait_for_text(ADA, "Stopped").await;
        // The message that was shown becomes the answer.
        world
            .api
            .wait("the first message is edited", |api| {
                api.messages(ADA).into_iter().find(|message| message.id == live.id && message.edits > 0)
            })
            .await;
        assert_eq!((world.api.calls("sendMessageDraft").len(), world.api.drafts(ADA).len()), (1, 0));
    }
}

/// A server that does not know the method is not asked again.
#[tokio::test]
async fn a_missing_method_is_tried_once() {
    let gates = [Gate::closed(), Gate::closed()];
    let replies = gates.clone().map(|gate| begun("first words", "first words, last words", &gate));
    let world = World::new(replies).await;
    world.api.without_drafts();
    for (number, gate) in gates.iter().enumerate() {
        world.api.say(ADA, "write");
        let shown = |api: &FakeBotApi| api.messages(ADA).get(number).cloned();
        world.api.wait("the message that is edited", shown).await;
        gate.open();
        world.api.wait_for(ADA, "the answer", |message| message.text.contains("last words")).await;
        world
            .api
            .wait("all answers", |api| {
                let answers = api.messages(ADA).iter().filter(|message| message.text.contains("last words")).count();
                (answers == number + 1).then_some(())
            })
            .await;
    }
    assert_eq!(world.api.calls("sendMessageDraft").len(), 1);
}

#[tokio::test]
async fn a_group_gets_an_edited_message() {
    let world = World::with(ScriptedModel::new([Reply::text("For all").then_hang()]), |_| {}).await;
    world.api.say_in_group(GROUP, ADA, "write");
    world.api.wait_for_text(GROUP, "For all").await;
    assert!(world.api.calls("sendMessageDraft").is_empty());
}
