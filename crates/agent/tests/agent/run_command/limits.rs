//! Commands that write without end, do not end, multiply, or lose their workspace.

use std::time::Duration;

use planwright_agent::session::progress::Progress;
use planwright_core::turn::ToolStatus;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_sandbox::SandboxLevel;
use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::json;

#[cfg(target_os = "linux")]
use super::{alive, until};
use super::{called, results, run, with_commands};
use crate::world::{World, statuses};

#[tokio::test]
async fn of_a_huge_output_the_model_gets_both_ends_and_the_rest_is_in_a_file() {
    let world = called([
        run("echo begin; yes 0123456789abcdef | head -n 200000; echo needle; yes x | head -n 20000; echo end"),
        ("read_file", json!({"path": "@commands/1.txt", "offset": 200001, "limit": 3, "numbers": false})),
        ("grep_files", json!({"pattern": "needle", "path": "@commands/1.txt"})),
        ("list_files", json!({})),
    ])
    .await;
    let results = results(&world);
    let ran = &results[0];
    let output = ran["output"].as_str().unwrap();
    assert!(output.starts_with("begin\n") && output.ends_with("\nend\n"), "{ran}");
    assert!(output.len() < 20 * 1024 && output.contains("bytes are left out here"), "{}", output.len());
    assert_eq!((&ran["truncated"], &ran["exit_code"]), (&json!(true), &json!(0)));
    assert_eq!(ran["output_file"], "@commands/1.txt");
    assert_eq!(ran["output_bytes"], 6 + 200_000 * 17 + 7 + 20_000 * 2 + 4);
    assert_eq!(results[1]["content"], "0123456789abcdef\nneedle\nx\n", "{}", results[1]);
    assert_eq!(results[2]["matches"][0]["line"], 200_002, "{}", results[2]);
    assert!(!results[3].to_string().contains("commands"), "the files of the session are its own: {}", results[3]);
}

#[tokio::test]
async fn gigabytes_are_counted_and_dropped_and_neither_memory_nor_the_person_is_flooded() {
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": "head -c 300000000 /dev/zero | tr '\\0' z"})),
        Reply::text("Done."),
    ]);
    let world = World::with(model, with_commands(|options| options.file_bytes = 1_000_000)).await;
    let (_, told) = world.watch("Go").await;
    let ran = &results(&world)[0];
    assert_eq!(ran["output_bytes"], 300_000_000, "{}", ran["message"]);
    assert!(ran["output_file_problem"].as_str().unwrap().contains("1000000 bytes"), "{}", ran["output_file_problem"]);
    let file = world.files().with_file_name("outputs").join("1.txt");
    assert_eq!(std::fs::metadata(file).unwrap().len(), 1_000_000);
    let shown: Vec<_> = told
        .iter()
        .filter_map(|progress| match progress {
            Progress::ToolOutput { text, .. } => Some(text.len()),
            _ => None,
        })
        .collect();
    assert!(!shown.is_empty() && shown.iter().all(|bytes| *bytes < 5_000), "{shown:?}");
}

#[tokio::test]
async fn output_that_is_no_text_does_no_harm() {
    let world = called([run("printf '\\377\\376a\\000b\\033[2Jc'; head -c 2000 /dev/urandom")]).await;
    let ran = &results(&world)[0];
    assert_eq!(ran["exit_code"], 0, "{ran}");
    assert!(ran["output"].as_str().unwrap().contains("a\u{0}b\u{1b}[2Jc"), "{ran}");
    world.has_a_valid_history();
    world.is_sound().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_that_never_ends_is_ended_with_everything_that_it_started() {
    let marker = "86341.25";
    // The first child ignores the signal, the second one left the process group.
    let line = format!("echo begun; (trap '' TERM; sleep {marker}) & setsid sleep {marker} & sleep {marker}");
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": line, "timeout_seconds": 1})),
        Reply::text("Done."),
    ]);
    let world = World::with(model, with_commands(|_| {})).await;
    world.say("Go").await;
    let ran = &results(&world)[0];
    assert_eq!((&ran["ended"], &ran["exit_code"]), (&json!("timed_out"), &json!(null)), "{ran}");
    assert_eq!(ran["output"], "begun\n");
    assert!(ran["message"].as_str().unwrap().contains("time limit of 1 seconds"), "{ran}");
    assert_eq!(statuses(&world.events().await), [ToolStatus::Failed]);
    until("the processes are gone", || alive(marker) == 0).await;
}

/// The time limit of other tools does not end a command that may take longer.
#[tokio::test]
async fn a_command_has_a_time_limit_of_its_own() {
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": "sleep 0.2; echo late"})),
        Reply::text("Done."),
    ]);
    let world = World::with(model, |setup| {
        with_commands(|_| {})(setup);
        setup.policy.turn.tool_time = Duration::from_millis(20);
    })
    .await;
    world.say("Go").await;
    assert_eq!(results(&world)[0]["output"], "late\n");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_that_leaves_processes_behind_leaves_none() {
    let marker = "86341.75";
    let line = format!("sleep {marker} & setsid sleep {marker} & echo started");
    let world = called([("run_command", json!({"command": line})), run("true")]).await;
    assert_eq!(results(&world)[0]["output"], "started\n");
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done; 2]);
    until("the processes are gone", || alive(marker) == 0).await;
}

#[tokio::test]
async fn a_command_that_kills_its_group_harms_only_itself() {
    let world = called([run("echo before; kill -9 0"), run("kill -9 -1; echo survived"), run("echo after")]).await;
    let results = results(&world);
    assert_eq!(
        (&results[0]["ended"], &results[0]["output"]),
        (&json!("signalled"), &json!("before\n")),
        "{}",
        results[0]
    );
    assert_eq!(results[2]["output"], "after\n");
    world.is_sound().await;
}

#[tokio::test]
async fn a_workspace_that_a_command_removes_is_made_again() {
    let world = called([
        run("echo x > file; rm -rf \"$PWD\"; ls -a"),
        run("echo again > file; cat file"),
        ("read_file", json!({"path": "file", "numbers": false})),
    ])
    .await;
    let results = results(&world);
    assert_eq!(results[1]["output"], "again\n", "{results:?}");
    assert_eq!(results[2]["content"], "again\n");
}

#[tokio::test]
async fn many_processes_do_not_take_the_machine() {
    // Every process of the chain starts the next one until the limit stops it.
    let bomb = "f() { f | f & }; f; sleep 0.2; echo end";
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": bomb, "timeout_seconds": 5})),
        Reply::call("run_command", json!({"command": "echo still here"})),
        Reply::text("Done."),
    ]);
    let world = World::with(model, |setup| {
        with_commands(|options| {
            if options.level == SandboxLevel::Open {
                // Nothing limits it there, and this machine is needed.
                options.timeout = Duration::from_secs(1);
            }
        })(setup);
    })
    .await;
    if let Some(reason) = super::sandbox(world.folder.path()).support().refusal(SandboxLevel::Workspace) {
        return skip(Prerequisite::Sandbox, &reason);
    }
    world.say("Go").await;
    assert_eq!(results(&world)[1]["output"], "still here\n");
}
