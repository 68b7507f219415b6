//! The progress that a client gets during a turn.

use std::time::Duration;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::progress::Progress;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::turn::ToolStatus;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::test_tools::Prop;
use crate::world::{World, events, person};

/// What a surface that follows the rules has on its screen at the end: `Again` takes back what the reply said so far.
fn on_screen(told: &[Progress]) -> String {
    let mut shown = String::new();
    for progress in told {
        match progress {
            Progress::Text(piece) => shown.push_str(piece),
            Progress::Again { .. } => shown.clear(),
            _ => {}
        }
    }
    shown
}

#[tokio::test]
async fn the_words_come_in_order_and_are_the_answer() {
    let message = "One, two, three — čtyři, 五, and so on to the end.";
    let world = World::new([Reply::text(message)]).await;
    let (outcome, told) = world.watch("Count").await;
    assert_eq!(on_screen(&told), message);
    assert_eq!(outcome.reply, message);
    let pieces = told.iter().filter(|progress| matches!(progress, Progress::Text(_))).count();
    assert!(pieces > 1, "{told:?}");
}

#[tokio::test]
async fn what_a_failed_attempt_said_does_not_count() {
    let reply = Reply::text("The whole answer.").tried_again("the line broke", Duration::from_secs(2));
    let world = World::new([reply]).await;
    let (outcome, told) = world.watch("Hello").await;
    assert!(told.contains(&Progress::Again { why: "the line broke".to_owned(), wait: Duration::from_secs(2) }));
    assert_eq!(on_screen(&told), "The whole answer.");
    assert_eq!(outcome.reply, "The whole answer.");
}

#[tokio::test]
async fn what_a_failed_attempt_said_is_not_kept_when_the_turn_is_stopped() {
    let reply = Reply::text("The whole answer.").tried_again("the line broke", Duration::ZERO).then_hang();
    let world = World::new([reply]).await;
    let (watcher, mut told) = Watcher::new();
    let (agent, session) = (world.agent.clone(), world.session.clone());
    let turn = tokio::spawn(async move { agent.send(&session, &person(), "Hello", &watcher).await });
    let mut heard = Vec::new();
    while on_screen(&heard) != "The whole answer." {
        heard.push(told.recv().await.unwrap());
    }
    world.agent.stop(&world.session, &person()).await.unwrap();
    assert_eq!(turn.await.unwrap().unwrap().reply, "The whole answer.\n\n*Stopped.*");
}

#[tokio::test]
async fn a_message_is_accepted_once_it_is_stored() {
    let world = World::new([Reply::hang()]).await;
    let (watcher, mut told) = Watcher::new();
    let (agent, session) = (world.agent.clone(), world.session.clone());
    let turn = tokio::spawn(async move { agent.send(&session, &person(), "Keep this", &watcher).await });
    let Some(Progress::Accepted(accepted)) = told.recv().await else { panic!("the message was not accepted first") };
    // Another process sees it on disk.
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    let stored = events(other.engine(), &world.session).await;
    let begun = stored
        .iter()
        .any(|event| matches!(event, Event::Turn { id: turn, event: TurnEvent::Begun { text, .. } } if *turn == accepted && text == "Keep this"));
    assert!(begun, "{stored:?}");
    world.agent.stop(&world.session, &person()).await.unwrap();
    turn.await.unwrap().unwrap();
}

#[tokio::test]
async fn calls_are_told_with_what_they_are_about_and_what_they_came_to() {
    let prop = Prop::changing("prop");
    let model = ScriptedModel::new([
        Reply::call("read_file", json!({"path": "notes/a.txt"})).and_call("prop", json!({"n": 1})),
        Reply::text("Done."),
    ]);
    let world = World::with(model, |setup| setup.tool(&prop)).await;
    let (_, told) = world.watch("Go").await;
    let short: Vec<_> = told
        .iter()
        .map(|progress| match progress {
            Progress::Accepted(_) => "accepted".to_owned(),
            Progress::ModelCalled => "model".to_owned(),
            Progress::Replied { calls } => format!("replied {calls}"),
            Progress::ToolStarted { name, detail } => format!("started {name} {detail}"),
            Progress::ToolEnded { name, status, .. } => {
                format!("ended {name} {}", if *status == ToolStatus::Done { "well" } else { "badly" })
            }
            Progress::Text(_) => "text".to_owned(),
            other => format!("{other:?}"),
        })
        .collect();
    let mut expected = vec![
        "accepted",
        "model",
        "replied 2",
        "started read_file notes/a.txt",
        "ended read_file badly",
        "started prop ",
        "ended prop well",
        "model",
    ];
    expected.extend(short.iter().filter(|line| *line == "text").map(String::as_str));
    expected.push("replied 0");
    assert_eq!(short, expected);
}
