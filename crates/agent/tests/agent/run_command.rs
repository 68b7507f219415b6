//! The tools for shell commands: real commands in the real sandbox, called by a scripted model over a real store.

mod background;
mod interrupted;
mod limits;
mod specialists;

use std::path::{Path, PathBuf};
use std::time::Duration;

use planwright_agent::session::progress::Progress;
use planwright_agent::toolbox::command::{CommandOptions, CommandTools, command_line};
use planwright_agent::toolbox::{ToolContext, Toolbox};
use planwright_core::turn::ToolStatus;
use planwright_core::workspace::Workspace;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_sandbox::{Sandbox, SandboxLevel, SandboxOptions};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::{Value, json};

use crate::world::{World, statuses};

/// Gives the agent the tools, at level `workspace` where this system can enforce it.
fn with_commands(change: impl FnOnce(&mut CommandOptions)) -> impl FnOnce(&mut AgentSetup) {
    |setup| {
        let sandbox = sandbox(&setup.folder);
        let level = match sandbox.support().refusal(SandboxLevel::Workspace) {
            None => SandboxLevel::Workspace,
            Some(reason) => {
                skip(Prerequisite::Sandbox, &format!("it ran at level open only: {reason}"));
                SandboxLevel::Open
            }
        };
        let mut options = CommandOptions { level, ..CommandOptions::default() };
        change(&mut options);
        setup.tools = Toolbox::new(CommandTools::new(sandbox, setup.files(), options).tools());
    }
}

/// The sandbox of a program whose data is in this folder.
fn sandbox(data: &Path) -> Sandbox {
    let make = |name: &str| -> PathBuf {
        let path = data.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    std::fs::write(data.join("token"), "the token of the server").unwrap();
    Sandbox::new(SandboxOptions {
        home: Some(make("home")),
        scratch: Some(make("scratch")),
        hidden: vec![data.to_owned()],
        ..SandboxOptions::default()
    })
}

/// A conversation in which the model makes these calls, one after another, and then says that it is done.
async fn called(calls: impl IntoIterator<Item = (&'static str, Value)>) -> World {
    let calls = calls.into_iter().map(|(tool, arguments)| Reply::call(tool, arguments));
    let model = ScriptedModel::new(calls.chain([Reply::text("Done.")]));
    let world = World::with(model, with_commands(|_| {})).await;
    world.say("Go").await;
    world
}

fn run(command: &str) -> (&'static str, Value) {
    ("run_command", json!({ "command": command }))
}

/// The results that the model was sent, in order.
fn results(world: &World) -> Vec<Value> {
    use planwright_core::model::ModelMessage;
    let messages = world.model.last_request().messages;
    let result = |message: &ModelMessage| match message {
        ModelMessage::ToolResult { text, .. } => Some(serde_json::from_str(text).unwrap_or(json!(text))),
        ModelMessage::User { .. } | ModelMessage::Assistant { .. } => None,
    };
    messages.iter().filter_map(result).collect()
}

/// Waits for a condition that a process brings about.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(tokio::time::Instant::now() < deadline, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The processes of this machine that have the marker among their arguments, apart from this one.
#[cfg(target_os = "linux")]
fn alive(marker: &str) -> usize {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let marked = |name: &str| {
        let line = std::fs::read(format!("/proc/{name}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(marker)
    };
    processes
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own && marked(name))
        .count()
}

#[tokio::test]
async fn a_command_works_in_the_workspace_and_its_result_is_told() {
    let world = called([
        ("write_file", json!({"path": "in/numbers.txt", "content": "3\n1\n2\n"})),
        run("sort in/numbers.txt > sorted.txt && cat sorted.txt && echo odd >&2"),
        ("read_file", json!({"path": "sorted.txt", "numbers": false})),
        ("run_command", json!({"command": "pwd; cat numbers.txt | wc -l", "cwd": "in"})),
    ])
    .await;
    let results = results(&world);
    let ran = &results[1];
    let output = ran["output"].as_str().unwrap();
    assert!(output.contains("1\n2\n3\n") && output.contains("odd\n"), "{ran}");
    assert_eq!(
        (&ran["exit_code"], &ran["truncated"], &ran["ended"]),
        (&json!(0), &json!(false), &json!("exited")),
        "{ran}"
    );
    assert!(ran["duration_ms"].is_u64() && ran.get("output_file").is_none(), "{ran}");
    assert_eq!(results[2]["content"], "1\n2\n3\n");
    let there = world.files().canonicalize().unwrap().join("in");
    assert_eq!(results[3]["output"], format!("{}\n3\n", there.display()));
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done; 4]);
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn a_command_that_fails_is_a_failure_with_its_output() {
    let world = called([run("echo before; exit 3"), run("kill -9 $$"), run("no-such-program")]).await;
    let results = results(&world);
    let short: Vec<_> = results.iter().map(|result| (result["exit_code"].clone(), result["ended"].clone())).collect();
    assert_eq!(short, [(json!(3), json!("exited")), (json!(137), json!("signalled")), (json!(127), json!("exited"))]);
    assert_eq!(results[0]["output"], "before\n");
    assert_eq!(results[0]["message"], "The command ended with exit code 3.");
    assert!(results[2]["output"].as_str().unwrap().contains("not found"), "{}", results[2]);
    assert_eq!(statuses(&world.events().await), [ToolStatus::Failed; 3]);
}

#[tokio::test]
async fn output_is_shown_while_the_command_runs() {
    let model = ScriptedModel::new([
        // It waits for a file that the test writes when it has seen the first words.
        Reply::call(
            "run_command",
            json!({"command": "echo first; until test -e go; do sleep 0.01; done; echo second"}),
        ),
        Reply::text("Done."),
    ]);
    let world = World::with(model, with_commands(|_| {})).await;
    let mut told = world.agent.observe(&world.session);
    let turn = world.say_in_background("Go");
    let mut shown = String::new();
    loop {
        match told.recv().await.unwrap() {
            Progress::ToolOutput { name, text } => {
                assert_eq!(name, "run_command");
                if shown.is_empty() {
                    assert!(!text.contains("second"));
                    std::fs::write(world.files().join("go"), "").unwrap();
                }
                shown.push_str(&text);
            }
            Progress::ToolEnded { status, .. } => {
                assert_eq!(status, ToolStatus::Done);
                break;
            }
            _ => {}
        }
    }
    assert_eq!(shown, "first\nsecond\n");
    turn.await.unwrap().unwrap();
}

#[tokio::test]
async fn no_secret_reaches_a_command() {
    let cargo = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    assert!(!cargo.is_empty(), "a variable of this process that is not listed");
    let token = "cat ../../../token || cat \"$PWD/../../../token\"; ls ..; ls ../../..";
    let world =
        called([run("env"), run(token), run("cat /proc/*/environ | tr '\\0' '\\n' | grep CARGO_MANIFEST_DIR")]).await;
    let results = results(&world);
    let environment = results[0]["output"].as_str().unwrap();
    assert!(environment.contains("PATH=") && environment.contains("TERM=dumb"), "{environment}");
    assert!(!environment.contains("CARGO_MANIFEST_DIR"), "{environment}");
    if sandbox(world.folder.path()).support().refusal(SandboxLevel::Workspace).is_none() {
        for result in &results[1..] {
            let output = result["output"].as_str().unwrap();
            assert!(!output.contains("the token") && !output.contains("planwright.db"), "{output}");
            assert!(!output.contains("outputs") && !output.contains(&cargo), "{output}");
        }
    }
}

#[tokio::test]
async fn no_working_folder_leads_out() {
    let outside = tempfile::tempdir().unwrap();
    let at = |cwd: &str| ("run_command", json!({"command": "pwd", "cwd": cwd}));
    let link = format!("ln -s {} link", outside.path().display());
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": link})),
        Reply::call("run_command", at("link").1),
        Reply::call("run_command", at("..").1),
        Reply::call("run_command", at("/etc").1),
        Reply::call("run_command", at("missing").1),
        Reply::call("run_command", at("a/../../..").1),
        Reply::text("Done."),
    ]);
    let world = World::with(model, with_commands(|_| {})).await;
    world.say("Go").await;
    assert_eq!(
        statuses(&world.events().await),
        [
            ToolStatus::Done,
            ToolStatus::Refused,
            ToolStatus::Refused,
            ToolStatus::Refused,
            ToolStatus::Refused,
            ToolStatus::Refused
        ]
    );
    for result in &results(&world)[1..] {
        assert_eq!(result["code"], "INVALID_ARGUMENT", "{result}");
    }
}

#[tokio::test]
async fn arguments_are_checked_before_anything_runs() {
    let long = "x".repeat(200 * 1024);
    let world = called([
        ("run_command", json!({"command": "  "})),
        ("run_command", json!({"command": "echo a\u{0}b"})),
        ("run_command", json!({"command": long})),
        ("run_command", json!({"command": "true", "timeout_seconds": 601})),
        ("run_command", json!({"command": "true", "timeout_seconds": 0})),
        ("run_command", json!({"command": "true", "shell": "zsh"})),
        ("command_output", json!({"id": 7})),
        ("stop_command", json!({"id": 7})),
    ])
    .await;
    let codes: Vec<_> = results(&world).iter().map(|result| result["code"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        codes,
        [
            "INVALID_ARGUMENT",
            "INVALID_ARGUMENT",
            "LIMIT_EXCEEDED",
            "LIMIT_EXCEEDED",
            "INVALID_ARGUMENT",
            "INVALID_ARGUMENT",
            "NOT_FOUND",
            "NOT_FOUND"
        ]
    );
    assert!(!world.files().exists(), "nothing was made");
}

/// While calls are recorded nothing runs; what was recorded runs once it is approved, and fails if its command fails.
#[tokio::test]
async fn a_recorded_command_runs_when_it_is_approved() {
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": "echo one >> log"}))
            .and_call("run_command", json!({"command": "echo two >> log; exit 1"}))
            .and_call("run_command", json!({"command": "echo three >> log"})),
        Reply::call("plan_finalize", json!({})),
    ]);
    let world = World::with(model, with_commands(|_| {})).await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    assert!(!world.files().exists());
    let answer = world.send("/plan approve").await;
    assert!(answer.reply.contains("1 done") && answer.reply.contains("1 failed"), "{}", answer.reply);
    assert_eq!(std::fs::read_to_string(world.files().join("log")).unwrap(), "one\ntwo\n");
    let note = world.plan(1).await.execution.unwrap().steps[1].note.clone().unwrap();
    assert!(note.contains("\"exit_code\":1") && note.contains("\"message\":"), "{note}");
    world.is_sound().await;
}

#[tokio::test]
async fn a_level_that_cannot_be_enforced_refuses_every_command_and_is_not_recorded() {
    // Nothing can be made below a file, so this system enforces nothing.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let change = move |setup: &mut AgentSetup| {
        let sandbox = Sandbox::new(SandboxOptions { scratch: Some(file), ..SandboxOptions::default() });
        setup.tools = Toolbox::new(CommandTools::new(sandbox, setup.files(), CommandOptions::default()).tools());
    };
    let model = ScriptedModel::new([
        Reply::call("run_command", json!({"command": "touch made"})),
        Reply::text("Then not."),
        Reply::call("run_command", json!({"command": "touch made"})),
        Reply::text("Then not."),
    ]);
    let world = World::with(model, change).await;
    for text in ["Go", "Plan it"] {
        world.say(text).await;
        let refused = results(&world).pop().unwrap();
        assert_eq!(refused["code"], "POLICY_DENIED", "{refused}");
        let phrase = refused["message"].as_str().unwrap();
        assert!(
            phrase.contains("workspace") && phrase.contains("`sandbox.level`") && phrase.contains("doctor"),
            "{phrase}"
        );
        world.send("/plan on collect").await;
    }
    assert!(!world.files().exists());
    assert_eq!(world.plan(1).await.content.steps().len(), 0);
}

#[test]
fn the_line_of_a_call_is_its_command() {
    let arguments = |value: Value| value.as_object().unwrap().clone();
    assert_eq!(command_line(&arguments(json!({"command": "cargo test", "cwd": "x"}))), Some("cargo test"));
    assert_eq!(command_line(&arguments(json!({"command": 7}))), None);
    assert_eq!(command_line(&arguments(json!({}))), None);
}

/// In a project commands work in its folder, and what Planwright keeps of them is not in it.
#[tokio::test]
async fn a_command_in_a_project_leaves_nothing_of_ours_there() {
    let world = called([]).await;
    let project = tempfile::tempdir().unwrap();
    let path = project.path().canonicalize().unwrap();
    std::fs::create_dir_all(path.join(".git/hooks")).unwrap();
    std::fs::create_dir(path.join("src")).unwrap();
    let workspace = Workspace::Project { path: path.to_str().unwrap().to_owned() };
    let call = async |tool: &str, arguments: Value| {
        let context = ToolContext::without_lease(&world.session).in_workspace(&workspace);
        let arguments = arguments.as_object().unwrap().clone();
        let files = world.setup.files().tools();
        let tool = files.into_iter().chain(world.setup.tools.iter()).find(|found| found.spec().name == tool).unwrap();
        tool.call(context, arguments).await
    };
    let inside = path.join("src").display().to_string();
    let line = "pwd; seq 1 100000; echo made > made.txt; echo '#!/bin/sh' > ../.git/hooks/pre-commit";
    let ran = call("run_command", json!({"command": line, "cwd": inside})).await.unwrap();
    assert!(ran.value["output"].as_str().unwrap().starts_with(&format!("{inside}\n1\n2\n")), "{}", ran.value);
    assert_eq!(std::fs::read_to_string(path.join("src/made.txt")).unwrap(), "made\n");
    if sandbox(world.folder.path()).support().refusal(SandboxLevel::Workspace).is_none() {
        assert!(ran.failure.is_some() && !path.join(".git/hooks/pre-commit").exists(), "{}", ran.value);
    }
    let read =
        call("read_file", json!({"path": ran.value["output_file"], "offset": 100_001, "limit": 1})).await.unwrap();
    assert!(read.value["content"].as_str().unwrap().contains("100000"), "{}", read.value);
    let mut left: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".git", "src"]);

    std::fs::remove_dir_all(&path).unwrap();
    let refused = call("run_command", json!({"command": "pwd"})).await.unwrap_err();
    assert!(refused.message.contains("was removed"), "{refused:?}");
    assert!(!path.exists(), "a project folder is not made");
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &path).unwrap();
    let refused = call("run_command", json!({"command": "touch made"})).await.unwrap_err();
    assert!(refused.message.contains("Another folder or a link"), "{refused:?}");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    std::fs::remove_file(&path).unwrap();
}
