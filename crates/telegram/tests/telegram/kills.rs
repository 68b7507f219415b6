//! A process that is killed between receiving, committing, sending and noting.

use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use planwright_test_support::bot_api::FakeBotApi;
use planwright_test_support::clock::TestClock;
use planwright_test_support::killed_ledger::{KillPoint, KilledLedger};
use std::time::Duration;

use crate::world::{ADA, World, options, start};

fn answers(api: &FakeBotApi) -> usize {
    api.messages(ADA).iter().filter(|message| message.text == "the answer").count()
}

/// A bot whose only process was stopped, and a clock that the test moves.
async fn stopped_world() -> (World, TestClock) {
    let clock = TestClock::stopped();
    let moved = clock.clone();
    let model = ScriptedModel::answering(|_| Reply::text("the answer"));
    let world = World::with(model, |setup| setup.clock = Some(moved)).await;
    world.process.stop().await;
    (world, clock)
}

/// Ada writes, and the process dies there. Its leases end a minute later.
async fn killed_at(world: &World, clock: &TestClock, at: KillPoint) {
    let setup = world.setup.clone().owned_by("killed");
    // Messages are looked for all the time; the process is killed when it looks for the answer.
    let (ledger, mut killed) = match at {
        KillPoint::Before("take_messages") | KillPoint::After("take_messages") => {
            KilledLedger::around_once_called(setup.ledger().await, "finish_update", at)
        }
        KillPoint::Before(_) | KillPoint::After(_) => KilledLedger::around(setup.ledger().await, at),
    };
    let agent = setup.agent(ledger.clone(), world.model.clone());
    // The killed process is never heard of again: its ledger answers nothing.
    let _killed = start(&agent, ledger, options(&world.api, "killed"));
    world.api.say(ADA, "do it");
    killed.reached().await;
    clock.advance(Duration::from_secs(60));
}

/// A second message shows that the first is not answered again.
async fn one_more(world: &World, before: usize, at: KillPoint) {
    world.api.all_received().await;
    let requests = world.model.requests().len();
    world.api.say(ADA, "and again");
    world
        .api
        .wait("the second answer", |api| {
            assert!(answers(api) <= before + 1, "{at:?}");
            (answers(api) == before + 1).then_some(())
        })
        .await;
    assert_eq!((requests, world.model.requests().len()), (1, 2), "{at:?}");
}

#[tokio::test]
async fn a_kill_before_anything_is_sent_loses_nothing_and_answers_once() {
    for at in [
        // Between receiving and committing.
        KillPoint::Before("receive_updates"),
        KillPoint::After("receive_updates"),
        KillPoint::Before("assign_update"),
        KillPoint::After("assign_update"),
        // Between committing and sending.
        KillPoint::Before("finish_update"),
        KillPoint::After("finish_update"),
        KillPoint::Before("take_messages"),
        KillPoint::After("take_messages"),
    ] {
        let (world, clock) = stopped_world().await;
        killed_at(&world, &clock, at).await;
        assert_eq!(answers(&world.api), 0, "{at:?}");
        let second = world.another("second").await;
        world.api.wait_for_text(ADA, "the answer").await;
        one_more(&world, 1, at).await;
        assert!(world.ledger.pending_updates("123456", 0, 10).await.unwrap().len() <= 1);
        second.stop().await;
    }
}

/// Telegram took the answer, and the process was killed before it noted that. It cannot be known, so the answer comes again.
#[tokio::test]
async fn a_kill_between_acceptance_and_note_sends_a_new_message_again_and_asks_the_model_once() {
    let at = KillPoint::Before("settle_message");
    let (world, clock) = stopped_world().await;
    killed_at(&world, &clock, at).await;
    assert_eq!(answers(&world.api), 1);
    let second = world.another("second").await;
    world.api.wait("the answer comes again", |api| (answers(api) == 2).then_some(())).await;
    one_more(&world, 2, at).await;
    second.stop().await;
}

/// A kill while an answer replaces a message: it is known what the message says, so it is shown once.
#[tokio::test]
async fn a_kill_between_acceptance_and_note_shows_a_replaced_message_once() {
    let at = KillPoint::Before("settle_message");
    let clock = TestClock::stopped();
    let (moved, gate) = (clock.clone(), Gate::closed());
    let slow = gate.clone();
    let model = ScriptedModel::answering(move |request| {
        let again = format!("{request:?}").contains("and again");
        let slow = slow.clone();
        let whole = move |_: &_| Reply::text("the answer").behind(&slow);
        if again { Reply::text("the answer") } else { Reply::made_from(whole).with_text("the beginning ") }
    });
    let world = World::with(model, |setup| setup.clock = Some(moved)).await;
    world.api.without_drafts();
    world.process.stop().await;
    let setup = world.setup.clone().owned_by("killed");
    let (ledger, mut killed) = KilledLedger::around(setup.ledger().await, at);
    let agent = setup.agent(ledger.clone(), world.model.clone());
    let _killed = start(&agent, ledger, options(&world.api, "killed"));
    world.api.say(ADA, "do it");
    let live = world.api.wait_for_text(ADA, "the beginning").await;
    gate.open();
    killed.reached().await;
    assert_eq!(world.api.messages(ADA)[0].text, "the answer");
    clock.advance(Duration::from_secs(60));
    let second = world.another("second").await;
    let edits = || world.api.calls("editMessageText").len();
    let before = edits();
    world.api.wait("the second process edits it again", |_| (edits() > before).then_some(())).await;
    one_more(&world, 1, at).await;
    assert_eq!(world.api.messages(ADA)[0].id, live.id);
    second.stop().await;
}

/// An answer that replaces the message shown before is known to be there, so it is not sent twice.
#[tokio::test]
async fn an_answer_that_replaces_a_message_is_not_sent_twice() {
    let world = World::new([Reply::text("first words").then_hang(), Reply::text("Never.")]).await;
    world.api.without_drafts();
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
