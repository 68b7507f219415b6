//! Stop is at once, safe and final, wherever it is said.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::progress::Progress;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::json;

use crate::ledger::HangingLedger;
use crate::process::records_an_outcome;
use crate::test_tools::{Act, Prop};
use crate::world::{World, person, script, statuses};

#[tokio::test]
async fn a_model_that_stalls_is_stopped_and_what_was_heard_is_kept() {
    let world = World::new([Reply::text("It begins with").then_hang(), Reply::text("Going on.")]).await;
    let (watcher, mut told) = Watcher::new();
    let (agent, session) = (world.agent.clone(), world.session.clone());
    let turn = tokio::spawn(async move { agent.send(&session, &person(), "Tell me", &watcher).await });
    let mut heard = String::new();
    while heard != "It begins with" {
        if let Progress::Text(piece) = told.recv().await.unwrap() {
            heard.push_str(&piece);
        }
    }
    let answer = world.send("/stop").await;
    assert_eq!(answer.reply, "Stopped.");
    let outcome = turn.await.unwrap().unwrap();
    assert_eq!(outcome.end, Some(TurnEnd::Stopped));
    assert_eq!(outcome.reply, "It begins with\n\n*Stopped.*");
    assert_eq!(world.say("go on").await.reply, "Going on.");
    let sent = script(&world.sent(2));
    assert_eq!(sent[1], "model: It begins with\n\n[The person stopped this turn here.]");
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn a_tool_is_stopped_and_the_model_reads_that_its_outcome_is_unknown() {
    let unknown = "failed prop: Stopped in the middle: it is not known whether it was done.";
    let none = "failed prop: [No outcome: the turn ended before this call did.]";
    for (effect, first) in
        [(ToolEffect::Changes, unknown), (ToolEffect::Repeatable, unknown), (ToolEffect::ReadsOnly, none)]
    {
        let tool = Prop::new("prop", effect, Act::Hang);
        let model = ScriptedModel::new([
            Reply::call("prop", json!({})).and_call("prop", json!({"second": true})).with_text("I ring twice."),
            Reply::text("Going on."),
        ]);
        let world = World::with(model, |setup| setup.tool(&tool)).await;
        let turn = world.say_in_background("Ring twice");
        tool.called(1).await;
        assert_eq!(world.send("/stop").await.reply, "Stopped.");
        assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
        assert_eq!(tool.calls().len(), 1, "nothing is begun after a stop");
        assert_eq!(world.say("go on").await.reply, "Going on.");
        let sent = script(&world.sent(2));
        assert_eq!((sent[2].as_str(), sent[3].as_str()), (first, none), "{effect:?}");
        world.has_a_valid_history();
        world.is_sound().await;
    }
}

/// The stop arrives while the outcome of the first call is being written down.
#[tokio::test]
async fn no_call_is_begun_after_a_stop() {
    let (first, second) = (Prop::changing("first"), Prop::changing("second"));
    let model = ScriptedModel::new([Reply::call("first", json!({})).and_call("second", json!({}))]);
    let world = World::with(model.clone(), |setup| {
        setup.tool(&first);
        setup.tool(&second);
    })
    .await;
    let ledger = HangingLedger::new(world.ledger().await, records_an_outcome);
    let agent = world.setup.agent(ledger.clone(), model);
    let (sending, session) = (agent.clone(), world.session.clone());
    let turn = tokio::spawn(async move { sending.send(&session, &person(), "Ring both", &Watcher::none()).await });
    ledger.0.hangs().await;
    let session = world.session.clone();
    let stop = tokio::spawn(async move { agent.stop(&session, &person()).await });
    // A stop of work in this process waits for no other thread, so it has arrived after a few polls.
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
    ledger.0.wake();
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    assert!(stop.await.unwrap().unwrap());
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done], "what was done is written down");
    assert!(second.calls().is_empty());
}

#[tokio::test]
async fn nothing_is_asked_of_the_model_after_a_stop() {
    let tool = Prop::changing("prop");
    let gate = Gate::closed();
    let model = ScriptedModel::new([Reply::call("prop", json!({})).behind(&gate)])
        .otherwise(Reply::call("prop", json!({"again": true})));
    let world = World::with(model, |setup| setup.tool(&tool)).await;
    let turn = world.say_in_background("Ring");
    world.model.asked(1).await;
    assert!(world.agent.stop(&world.session, &person()).await.unwrap());
    gate.open();
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    assert_eq!((world.model.requests().len(), tool.calls().len()), (1, 0));
}

#[tokio::test]
async fn there_is_nothing_to_stop_while_nothing_is_under_way() {
    let world = World::new([Reply::text("Hello.")]).await;
    assert_eq!(world.send("/stop").await.reply, "There is nothing to stop.");
    world.say("Hello").await;
    assert_eq!(world.send("/stop").await.reply, "There is nothing to stop.");
    assert_eq!(
        world
            .events()
            .await
            .iter()
            .filter(|event| matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. }))
            .count(),
        1
    );
}

#[tokio::test]
async fn a_stop_ends_the_turn_and_not_those_that_wait() {
    let world = World::new([Reply::hang(), Reply::text("Second."), Reply::text("Third.")]).await;
    let first = world.say_in_background("One");
    world.model.asked(1).await;
    let (second, third) = (world.say_in_background("Two"), world.say_in_background("Three"));
    world.send("/stop").await;
    assert_eq!(first.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    assert_eq!(second.await.unwrap().unwrap().reply, "Second.");
    assert_eq!(third.await.unwrap().unwrap().reply, "Third.");
}

#[tokio::test]
async fn another_process_ends_the_turn_and_nothing_is_written_over() {
    let gate = Gate::closed();
    let tool = Prop::changing("prop");
    let model = ScriptedModel::new([Reply::call("prop", json!({})).behind(&gate), Reply::text("Going on.")]);
    let world = World::with(model, |setup| setup.tool(&tool)).await;
    let turn = world.say_in_background("Ring");
    world.model.asked(1).await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    let stop = Command::Turn(TurnCommand::Stop);
    assert_eq!(other.engine().submit(&world.session, &person(), stop).await.unwrap().events.len(), 1);
    gate.open();
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    assert_eq!(tool.calls().len(), 0, "what the model says after the end does not count");
    assert_eq!(world.event_names().await, ["session_opened", "turn_begun", "turn_ended"]);
    assert_eq!(world.say("go on").await.reply, "Going on.");
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn another_process_ends_a_turn_whose_model_says_nothing() {
    let model = ScriptedModel::new([Reply::hang(), Reply::text("Going on.")]);
    let world = World::with(model, |setup| setup.options.lease = std::time::Duration::from_millis(300)).await;
    let turn = world.say_in_background("Ring");
    world.model.asked(1).await;
    let other = world.another(&ScriptedModel::new([Reply::text("I am another.")]), "the other").await;
    assert!(other.stop(&world.session, &person()).await.unwrap());
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    world.model.abandoned(1).await;
    let watcher = Watcher::none();
    assert_eq!(other.send(&world.session, &person(), "Hello", &watcher).await.unwrap().reply, "I am another.");
    world.is_sound().await;
}

#[tokio::test]
async fn a_message_that_waits_for_another_process_can_be_taken_back() {
    let world = World::new([Reply::hang()]).await;
    let first = world.say_in_background("One");
    world.model.asked(1).await;
    let model = ScriptedModel::new([]);
    let other = world.another(&model, "the other").await;
    let (watcher, mut told) = Watcher::new();
    let (waiting, session) = (other.clone(), world.session.clone());
    let second = tokio::spawn(async move { waiting.send(&session, &person(), "Two", &watcher).await });
    assert_eq!(told.recv().await, Some(Progress::WaitingForOthers));
    // Stop ends the running work, in whichever process it runs, and the inputs that wait behind it here.
    assert!(other.stop(&world.session, &person()).await.unwrap());
    let refused = second.await.unwrap().unwrap_err();
    assert!(refused.to_string().contains("nothing was sent from here"), "{refused}");
    assert_eq!(first.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    assert!(model.requests().is_empty());
    assert_eq!(world.event_names().await, ["session_opened", "turn_begun", "turn_ended"]);
    world.is_sound().await;
}

#[tokio::test]
async fn a_reset_ends_the_turn_and_its_plan_and_begins_afresh() {
    let world = World::new([Reply::hang(), Reply::text("Who are you?")]).await;
    world.send("/plan on collect").await;
    let turn = world.say_in_background("My name is Ada");
    world.model.asked(1).await;
    world.send("/reset").await;
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    world.say("Hello").await;
    assert_eq!(script(&world.sent(2)), ["user: Hello"]);
    assert!(!world.engine().sessions().get(&world.session).await.unwrap().plan_mode.enabled);
    assert_eq!(world.plan(1).await.status, planwright_core::plan::PlanStatus::Cancelled);
    world.is_sound().await;
}
