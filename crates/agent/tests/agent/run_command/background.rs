//! Commands in the background: read, stopped, and ended with their turn or execution.

use planwright_core::event::{Event, SessionEvent};
use planwright_core::turn::ToolStatus;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

#[cfg(target_os = "linux")]
use super::{alive, until};
use super::{called, results, with_commands};
use crate::world::{World, statuses};

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_background_command_is_read_and_stopped() {
    let marker = "86342.25";
    let line = format!("echo ready; touch ready; sleep {marker}");
    let world = called([
        ("run_command", json!({"command": line, "background": true})),
        ("run_command", json!({"command": "until test -e ready; do sleep 0.01; done"})),
        ("command_output", json!({"id": 1})),
        ("stop_command", json!({"id": 1})),
        ("command_output", json!({"id": 1})),
        ("read_file", json!({"path": "@commands/1.txt", "numbers": false})),
    ])
    .await;
    let results = results(&world);
    assert_eq!(
        (&results[0]["id"], &results[0]["running"], &results[0]["output_file"]),
        (&json!(1), &json!(true), &json!("@commands/1.txt")),
        "{}",
        results[0]
    );
    assert_eq!((&results[2]["running"], &results[2]["output"]), (&json!(true), &json!("ready\n")), "{}", results[2]);
    for ended in &results[3..5] {
        assert_eq!((&ended["running"], &ended["ended"]), (&json!(false), &json!("stopped")), "{ended}");
    }
    assert_eq!(results[5]["content"], "ready\n");
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done; 6]);
    until("the process is gone", || alive(marker) == 0).await;
}

/// What it changes after its call has returned is found with the next look at it; what a tool changed meanwhile is not its.
#[tokio::test]
async fn changes_of_a_background_command_are_found_later() {
    let line = "until test -e go; do sleep 0.01; done; echo late > late.txt";
    let world = called([
        ("run_command", json!({"command": line, "background": true})),
        ("write_file", json!({"path": "go", "content": ""})),
        ("command_output", json!({"id": 1, "wait_seconds": 60})),
        ("command_output", json!({"id": 1})),
    ])
    .await;
    let events = world.events().await;
    let uncovered = events.iter().filter_map(|event| match event {
        Event::Session(SessionEvent::FilesChanged { call_changes, .. }) => call_changes.uncovered.clone(),
        _ => None,
    });
    let added: Vec<_> = uncovered.map(|paths| (paths.added, paths.changed, paths.removed)).collect();
    assert_eq!(added, [(vec!["late.txt".to_owned()], vec![], vec![])]);
}

#[tokio::test]
async fn the_end_of_a_background_command_can_be_waited_for() {
    let world = called([
        (
            "run_command",
            json!({"command": "until test -e go; do sleep 0.01; done; echo gone; exit 4", "background": true}),
        ),
        ("run_command", json!({"command": "touch go"})),
        ("command_output", json!({"id": 1, "wait_seconds": 60})),
    ])
    .await;
    let ended = &results(&world)[2];
    assert_eq!(
        (&ended["running"], &ended["exit_code"], &ended["output"]),
        (&json!(false), &json!(4), &json!("gone\n"))
    );
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done; 3], "looking is no failure");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn background_commands_end_with_their_turn() {
    let marker = "86342.75";
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": format!("echo a; sleep {marker}"), "background": true})),
        Reply::text("It runs."),
        Reply::call("command_output", json!({"id": 1})),
        Reply::text("It is gone."),
    ]);
    let world = World::with(model, with_commands(|_| {})).await;
    world.say("Start it").await;
    until("the process is gone", || alive(marker) == 0).await;
    world.say("And now?").await;
    let answer = results(&world).pop().unwrap();
    assert_eq!(answer["code"], "NOT_FOUND", "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("@commands/1.txt"), "{answer}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn only_so_many_run_at_once() {
    let start = |n: usize| ("run_command", json!({"command": format!("sleep 86342.5 # {n}"), "background": true}));
    let world = called((0..9).map(start)).await;
    let results = results(&world);
    assert!(results[..8].iter().all(|result| result["running"] == true), "{results:?}");
    assert_eq!(results[8]["code"], "LIMIT_EXCEEDED", "{}", results[8]);
    until("the processes are gone", || alive("86342.5") == 0).await;
}
