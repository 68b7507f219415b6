//! A process that is killed between receiving, committing and sending.

use planwright_llm::scripted::{Reply, ScriptedModel};

use crate::world::{ADA, KillPoint, KilledLedger, World, options, start};

#[tokio::test]
async fn a_kill_at_any_place_loses_nothing_and_answers_once() {
    for at in [
        KillPoint::Before("receive_updates"),
        KillPoint::After("receive_updates"),
        KillPoint::Before("assign_update"),
        KillPoint::After("assign_update"),
        KillPoint::Before("finish_update"),
        KillPoint::After("finish_update"),
        KillPoint::Before("take_messages"),
    ] {
        let model = ScriptedModel::answering(|_| Reply::text("the answer"));
        let world = World::with(model, |_| {}).await;
        world.process.stop().await;
        let setup = world.setup.clone().owned_by("killed");
        let inner = setup.ledger().await;
        let (ledger, mut reached) = KilledLedger::around(inner, at);
        let agent = setup.agent(ledger.clone(), world.model.clone());
        // The killed process is never heard of again: its ledger answers nothing.
        let _killed = start(&agent, ledger, options(&world.api, "killed"));
        world.api.say(ADA, "do it");
        reached.wait_for(|reached| *reached).await.unwrap();
        let setup = world.setup.clone().owned_by("second");
        let ledger = setup.ledger().await;
        let agent = setup.agent(ledger.clone(), world.model.clone());
        let second = start(&agent, ledger.clone(), options(&world.api, "second"));
        world.api.wait_for_text(ADA, "the answer").await;
        world.api.all_received().await;
        assert_eq!(world.model.requests().len(), 1, "{at:?}");
        // A second message shows that the first is not answered again.
        world.api.say(ADA, "and again");
        world
            .api
            .wait("the second answer", |api| {
                let answers = api.messages(ADA).into_iter().filter(|message| message.text == "the answer").count();
                assert!(answers <= 2, "{at:?}");
                (answers == 2).then_some(())
            })
            .await;
        assert_eq!(world.model.requests().len(), 2, "{at:?}");
        assert!(ledger.pending_updates("123456", 0, 10).await.unwrap().len() <= 1);
        second.stop().await;
    }
}

/// An answer that replaces the message shown before is known to be there, so it is not sent twice.
#[tokio::test]
async fn an_answer_that_replaces_a_message_is_not_sent_twice() {
    let world = World::new([Reply::text("first words").then_hang(), Reply::text("Never.")]).await;
    world.api.say(ADA, "write");
    world.api.wait_for_text(ADA, "first words").await;
    world.api.lose_next_answer("editMessageText");
    world.api.say(ADA, "/stop");
    world.api.wait_for_text(ADA, "Stopped").await;
    world.api.say(ADA, "/help");
    world.api.wait_for(ADA, "help", |message| message.text.contains("/plan")).await;
    let texts: Vec<_> = world.api.messages(ADA).into_iter().map(|message| message.text).collect();
    let mut once = texts.clone();
    once.dedup();
    assert_eq!(texts, once);
}
