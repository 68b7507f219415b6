//! A command that a person stops, or that the end of the process interrupts.

use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

#[cfg(target_os = "linux")]
use super::alive;
use super::{until, with_commands};
use crate::specialist_scripts::{proposed, reported, run_statuses, scripted, step};
use crate::talk::{Talk as _, Watcher};
use crate::world::{World, statuses};

#[cfg(target_os = "linux")]
#[tokio::test]
async fn stop_ends_the_command_at_once_and_says_that_its_result_is_unknown() {
    let marker = "86343.25";
    let line = format!("touch begun; trap '' TERM; sleep {marker}; touch ended");
    let model = ScriptedModel::new([Reply::call("run_command", json!({"command": line}))]);
    let world = World::with(model, with_commands(|_| {})).await;
    let turn = world.say_in_background("Go");
    until("the command runs", || world.files().join("begun").exists() && alive(marker) > 0).await;
    world.send("/stop").await;
    let outcome = turn.await.unwrap().unwrap();
    assert_eq!(outcome.end, Some(TurnEnd::Stopped));
    assert_eq!(statuses(&world.events().await), [ToolStatus::Uncertain]);
    until("the processes are gone", || alive(marker) == 0).await;
    assert!(!world.files().join("ended").exists());
    world.is_sound().await;
}

#[tokio::test]
async fn a_command_without_an_outcome_is_uncertain_and_not_run_again_in_a_turn() {
    let line = "echo x >> log; until test -e go; do sleep 0.01; done";
    let model = ScriptedModel::new([Reply::call("run_command", json!({"command": line}))]);
    let world = World::with(model, with_commands(|_| {})).await;
    let turn = world.say_in_background("Go");
    until("the command runs", || world.files().join("log").exists()).await;
    turn.abort();
    let world = world.restart().await;
    world.model.then(Reply::text("I do not know."));
    let outcome = world.agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap();
    assert_eq!(outcome.end, Some(TurnEnd::Answered));
    assert_eq!(statuses(&world.events().await), [ToolStatus::Uncertain]);
    assert_eq!(std::fs::read_to_string(world.files().join("log")).unwrap(), "x\n", "it ran once");
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn a_stopped_command_of_a_recorded_plan_is_uncertain() {
    let line = "echo x >> log; until test -e go; do sleep 0.01; done";
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": line}))
            .and_call("run_command", json!({"command": "echo y >> log"})),
        Reply::call("plan_finalize", json!({})),
    ]);
    let world = World::with(model, with_commands(|_| {})).await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    let approving = world.send_in_background("/plan approve");
    until("the command runs", || world.files().join("log").exists()).await;
    world.send("/stop").await;
    approving.await.unwrap().unwrap();
    assert_eq!(run_statuses(&world, 1).await, [StepStatus::Uncertain, StepStatus::Pending]);
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    assert_eq!(std::fs::read_to_string(world.files().join("log")).unwrap(), "x\n");
    world.is_sound().await;
}

#[tokio::test]
async fn a_specialist_runs_commands_on_its_step() {
    let world = proposed(&[step("Build it", "coder", &[])], with_commands(|_| {})).await;
    let build = Reply::call("run_command", json!({"command": "echo built > out && cat out"}));
    scripted(&world, "coder", [build, reported("done", "Built.")]);
    let answer = world.send("/plan approve").await;
    assert!(answer.reply.contains("**COMPLETED**"), "{}", answer.reply);
    assert_eq!(std::fs::read_to_string(world.files().join("out")).unwrap(), "built\n");
}

/// A server that one step starts is used by the next one, and ends with the execution.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_background_command_lasts_for_the_whole_execution() {
    let marker = "86343.75";
    let steps = [step("Start it", "coder", &[]), step("Use it", "tester", &[1])];
    let world = proposed(&steps, with_commands(|_| {})).await;
    let start = json!({"command": format!("echo up > state; sleep {marker}"), "background": true});
    scripted(&world, "coder", [Reply::call("run_command", start), reported("done", "It runs.")]);
    let look = Reply::call("command_output", json!({"id": 1}));
    scripted(&world, "tester", [look, reported("done", "It answered.")]);
    world.send("/plan approve").await;
    let seen = world.model.requests_of("tester").last().unwrap().messages.iter().find_map(|message| match message {
        planwright_core::model::ModelMessage::ToolResult { text, .. } => Some(text.clone()),
        _ => None,
    });
    assert!(seen.unwrap().contains("\"running\":true"));
    until("the process is gone", || alive(marker) == 0).await;
}
