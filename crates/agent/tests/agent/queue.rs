//! Inputs of one session run one after another, from any process; and no session waits for another.

mod crashes;
mod recovered_answers;
mod two_processes;

use std::sync::Arc;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::input::{Input, Request};
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::LedgerError;
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::json;

use crate::test_tools::Prop;
use crate::world::{World, newest_message, person, session, turns};

/// Calls a tool first, then repeats what the person said.
pub(crate) fn echo() -> ScriptedModel {
    ScriptedModel::answering(|request| match request.messages.last() {
        Some(planwright_core::model::ModelMessage::User { text }) => Reply::call("prop", json!({"heard": text})),
        _ => Reply::text(format!("You said: {}", newest_message(request))),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_one_session_are_answered_one_after_another_in_the_order_they_came() {
    let prop = Prop::changing("prop");
    let world = Arc::new(World::with(echo(), |setup| setup.tool(&prop)).await);
    let sender = Arc::clone(&world);
    // On a worker of the runtime, as surfaces are. They are polled, and so sent, in this order.
    let sent = tokio::spawn(async move {
        tokio::join!(
            biased;
            sender.say("one"),
            sender.say("two"),
            sender.say("three"),
            sender.say("four"),
            sender.say("five"),
            sender.say("six"),
        )
    });
    let (one, two, three, four, five, six) = sent.await.unwrap();
    let replies: Vec<_> = [one, two, three, four, five, six].into_iter().map(|outcome| outcome.reply).collect();
    let message = ["one", "two", "three", "four", "five", "six"];
    assert_eq!(replies, message.map(|word| format!("You said: {word}")));
    assert_eq!(turns(&world.events().await), message.map(|word| (word.to_owned(), TurnEnd::Answered)));
    assert_eq!(prop.calls(), message.map(|word| json!({"heard": word})));
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_messages_at_once_never_overlap() {
    let prop = Prop::changing("prop");
    let world = World::with(echo(), |setup| setup.tool(&prop)).await;
    let sent: Vec<_> = (0..30).map(|n| (n, world.say_in_background(&format!("message {n}")))).collect();
    for (n, turn) in sent {
        assert_eq!(turn.await.unwrap().unwrap().reply, format!("You said: message {n}"));
    }
    assert_eq!(turns(&world.events().await).len(), 30);
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn no_session_waits_for_another() {
    let gate = Gate::closed();
    let slow = gate.clone();
    let model = ScriptedModel::answering(move |request| match newest_message(request).as_str() {
        "slow" => Reply::text("At last.").behind(&slow),
        message => Reply::text(format!("Quick {message}.")),
    });
    let world = World::with(model, |_| {}).await;
    let turn = world.say_in_background("slow");
    world.model.asked(1).await;
    let other = session("session-two");
    world.engine().sessions().open(&other, &person()).await.unwrap();
    let quick = world.agent.send(&other, &person(), "answer", &Watcher::none()).await.unwrap();
    assert_eq!(quick.reply, "Quick answer.");
    assert!(!turn.is_finished());
    gate.open();
    assert_eq!(turn.await.unwrap().unwrap().reply, "At last.");
}

#[tokio::test]
async fn dropping_the_future_does_not_cancel_the_turn() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("Unread.").behind(&gate), Reply::text("Second.")]).await;
    let turn = world.say_in_background("First");
    world.model.asked(1).await;
    turn.abort();
    assert!(turn.await.unwrap_err().is_cancelled());
    gate.open();
    assert_eq!(world.say("Second").await.reply, "Second.");
    let ends: Vec<_> = turns(&world.events().await).into_iter().map(|(_, end)| end).collect();
    assert_eq!(ends, [TurnEnd::Answered, TurnEnd::Answered]);
}

/// More than a process can hold are refused before they take memory. What only reads is answered all the same.
#[tokio::test]
async fn inputs_that_are_too_many_are_refused_and_nothing_is_stored() {
    let world = World::new([Reply::hang()]).await;
    let submit = |text: &str| world.agent.submit(Input::typed(text), Request::new(world.place(), person()));
    let running = submit("Hello");
    world.model.asked(1).await;
    let waiting: Vec<_> = (0..10_000).map(|_| submit("And then?")).collect();
    let LedgerError::Refused(refusal) = submit("One more").outcome().await.unwrap_err() else {
        panic!("it is a refusal")
    };
    assert_eq!(refusal.code, RefusalCode::Unavailable);
    assert!(refusal.message.contains("send it again"), "{refusal}");
    submit("/status").outcome().await.unwrap();
    drop((running, waiting));
}
