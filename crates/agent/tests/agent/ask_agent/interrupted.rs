//! Stopped or killed in the middle of a question: it is asked once, and answered once.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::talk::{Talk as _, Watcher};
use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::model::ModelRequest;
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::Submission;
use planwright_llm::scripted::Reply;
use serde_json::json;

use super::{ask, planning};
use crate::process::Process;
use crate::specialist_scripts::{scripted, staffed};
use crate::test_tools::{Act, Prop};
use crate::world::{World, person, script};

fn planner() -> [Reply; 2] {
    [ask("coder", "How long?"), Reply::text("It takes three days.")]
}

fn specialist() -> [Reply; 2] {
    [Reply::call("look", json!({})), Reply::text("Three days.")]
}

fn looking() -> Prop {
    Prop::new("look", ToolEffect::ReadsOnly, Act::Answer(json!({"seen": true})))
}

/// What the next one answers, whatever it is asked: it goes by what it was told and did.
fn script_of_the_next_process(world: &World) {
    let planner = |request: &ModelRequest| planner()[usize::from(script(request).len() > 1)].clone();
    let specialist = |request: &ModelRequest| specialist()[usize::from(script(request).len() > 1)].clone();
    scripted(world, "", vec![Reply::made_from(planner); 4]);
    scripted(world, "asked coder", vec![Reply::made_from(specialist); 4]);
}

#[tokio::test]
async fn every_point_of_a_crash_leaves_an_answer_that_is_asked_for_once() {
    // message, call, question, call, result, answer, result, answer
    for point in 2..=8 {
        let prop = looking();
        let world = planning([], |setup| setup.tool(&prop)).await;
        let seen = AtomicUsize::new(0);
        let hangs = move |submission: &Submission| {
            let counts =
                matches!(submission.command, Command::Turn(TurnCommand::Begin { .. } | TurnCommand::Record { .. }));
            counts && seen.fetch_add(1, Ordering::SeqCst) + 1 == point
        };
        let model = staffed().script("", planner()).script("asked coder", specialist());
        let process = Process::hanging(&world, &model, hangs).await;
        process.send(&world.session, "Plan it");
        process.hangs().await;
        process.die().await;
        script_of_the_next_process(&world);
        let outcome = world.agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap();
        assert_eq!(outcome.reply, "It takes three days.", "point {point}");
        let events = world.events().await;
        let count = |wanted: fn(&Event) -> bool| events.iter().filter(|event| wanted(event)).count();
        assert_eq!(
            count(|event| matches!(event, Event::Turn { event: TurnEvent::Begun { .. }, .. })),
            2,
            "point {point}"
        );
        assert_eq!(
            count(|event| matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. })),
            2,
            "point {point}"
        );
        let told = |event: &Event| matches!(event, Event::Turn { event: TurnEvent::ModelReplied { reply, .. }, .. } if reply.text == "Three days.");
        assert_eq!(count(told), 1, "point {point}: the answer is recorded once");
        let heard = script(&world.model.requests_of("").last().cloned().unwrap_or_else(|| model.last_request()));
        assert_eq!(heard[2], r#"result ask_agent: {"agent":"coder","answer":"Three days."}"#, "point {point}");
        assert_eq!(heard.len(), 3, "point {point}: {heard:?}");
        assert!((1..=2).contains(&prop.calls().len()), "point {point}");
        assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none(), "point {point}");
        world.has_a_valid_history();
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_question_in_a_turn_that_is_given_up_ends_with_it() {
    let world = planning([], |setup| setup.policy.turn.resumptions = 1).await;
    for attempt in 1..=2 {
        let model = staffed().script("", [ask("coder", "How long?")]).script("asked coder", [Reply::hang()]);
        let process = Process::start(&world, &model).await;
        if attempt == 1 {
            process.send(&world.session, "Plan it");
            model.asked(2).await;
        } else {
            process.resume(&world.session);
            model.asked(1).await;
        }
        process.die().await;
    }
    let outcome = world.agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap();
    assert_eq!(outcome.end, Some(TurnEnd::Interrupted));
    let ended = world.event_names().await.iter().filter(|name| **name == "turn_ended").count();
    assert_eq!(ended, 2, "nothing is left open");
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
    world.model.then(Reply::text("Hello."));
    world.say("Hello").await;
    world.has_a_valid_history();
    world.is_sound().await;
}

/// The specialist is in the middle of something.
async fn asked(
    prop: &Prop,
    reply: Reply,
) -> (
    World,
    tokio::task::JoinHandle<planwright_engine::ledger::LedgerResult<planwright_agent::session::outcome::TurnOutcome>>,
) {
    let world = planning([ask("coder", "How long?"), Reply::text("Yes?")], |setup| setup.tool(prop)).await;
    scripted(&world, "asked coder", [reply]);
    let turn = world.say_in_background("Plan it");
    world.model.asked(2).await;
    (world, turn)
}

#[tokio::test]
async fn a_stop_ends_the_question_with_the_turn() {
    let hanging = Prop::new("look", ToolEffect::ReadsOnly, Act::Hang);
    for reply in [Reply::text("plugh").then_hang(), Reply::call("look", json!({})).with_text("plugh")] {
        let (world, turn) = asked(&hanging, reply).await;
        assert_eq!(world.send("/stop").await.reply, "Stopped.");
        assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
        assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
        world.say("Still there?").await;
        let heard = script(&world.model.last_request());
        assert!(heard.iter().all(|line| !line.contains("plugh")), "{heard:?}");
        assert_eq!(heard[2], "failed ask_agent: [No outcome: the turn ended before this call did.]");
        world.has_a_valid_history();
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_stop_from_elsewhere_ends_both_within_moments() {
    let (world, turn) = asked(&looking(), Reply::hang()).await;
    let other = world.another(&staffed(), "the other").await;
    assert!(other.stop(&world.session, &person()).await.unwrap());
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    let ended = world.event_names().await.iter().filter(|name| **name == "turn_ended").count();
    assert_eq!(ended, 2);
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
    assert_eq!(world.say("Hello").await.reply, "Yes?");
    world.is_sound().await;
}

#[tokio::test]
async fn a_reset_ends_both_and_nothing_is_left_of_them() {
    let (world, turn) = asked(&looking(), Reply::hang()).await;
    world.send("/reset").await;
    assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Stopped));
    world.say("Hello").await;
    assert_eq!(script(&world.model.last_request()), ["user: Hello"]);
    world.is_sound().await;
}
