//! The agent runs shell commands: the real program, a model provider in this process, and real commands in the sandbox.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use planwright_core::session::SessionIdentity;
use serde_json::{Value, json};

use crate::provider::{Provider, Reply};
use crate::world::{Ran, World, ran};

const SESSION: &str = "cli:commands-one";

fn call(command: &str) -> Reply {
    Reply::Call { preface: "", tool: "run_command", arguments: json!({ "command": command }) }
}

fn chat(world: &World, provider: &Provider, variables: &[(&str, &str)], text: &[&str]) -> Ran {
    let mut command = world.command();
    command.args(["chat", "--session", SESSION]).args(text).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.envs(provider.variables()).env("OPENAI_API_KEY", "sk-never-told").envs(variables.iter().copied());
    ran(&mut command)
}

/// The result of the last call, as the provider was sent it.
fn result(provider: &Provider) -> Value {
    let request = provider.asked();
    let last = request["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["role"], "tool", "{last}");
    serde_json::from_str(last["content"].as_str().unwrap()).unwrap_or_else(|_| last["content"].clone())
}

fn files(world: &World) -> PathBuf {
    let session: SessionIdentity = SESSION.parse().unwrap();
    world.path("users").join(session.folder_name()).join("files")
}

#[test]
fn a_command_runs_is_shown_and_no_secret_reaches_it() {
    let world = World::new();
    if !world.has_sandbox() {
        return;
    }
    world.write("token", "the-token-of-the-server");
    let look = "echo hello; env; cat ../../../token ../../../planwright.db; ls ../../..; exit 3";
    let provider = Provider::start(&[call(look), Reply::Text("Seen.".to_owned())]);
    let variables = [("PLANWRIGHT_TOKEN", "planwright-secret"), ("SECRET_OF_ADA", "her-secret"), ("MY_FLAG", "42")];
    let settings = [("PLANWRIGHT_SANDBOX_ENV", "MY_FLAG,CI=1")];
    let ran = chat(&world, &provider, &[&variables[..], &settings[..]].concat(), &["look around"]).done();
    let ran = ran.says("Seen.").complains("  │ hello").complains("✘ run_command").complains("exit code 3");
    provider.asked();
    let result = result(&provider);
    let output = result["output"].as_str().unwrap();
    assert!(output.contains("MY_FLAG=42\n") && output.contains("CI=1\n"), "{output}");
    for secret in ["planwright-secret", "her-secret", "sk-never-told", "the-token", "PLANWRIGHT_", "planwright.db\n"] {
        assert!(!output.contains(secret), "{secret} in {output}");
        assert!(!ran.stderr.contains(secret), "{secret} in {}", ran.stderr);
    }
    assert_eq!((&result["exit_code"], &result["ended"]), (&json!(3), &json!("exited")));
    world.run("verify").done();
}

#[test]
fn a_time_limit_and_an_amount_of_output_are_settings() {
    let world = World::new();
    if !world.has_sandbox() {
        return;
    }
    let provider = Provider::start(&[
        call("yes | head -c 100000; sleep 1000"),
        Reply::Call { preface: "", tool: "read_file", arguments: json!({ "path": "@commands/1.txt", "limit": 1 }) },
        Reply::Text("Long.".to_owned()),
    ]);
    let settings = [("PLANWRIGHT_SANDBOX_TIMEOUT_SECONDS", "1"), ("PLANWRIGHT_SANDBOX_OUTPUT_BYTES", "1000")];
    chat(&world, &provider, &settings, &["go"]).done().complains("time limit of 1 seconds");
    provider.asked();
    let ran = result(&provider);
    assert_eq!((&ran["ended"], &ran["truncated"]), (&json!("timed_out"), &json!(true)), "{ran}");
    assert!(ran["output"].as_str().unwrap().len() < 1200, "{ran}");
    assert_eq!(ran["output_file"], "@commands/1.txt");
    assert_eq!(result(&provider)["lines"], 50_000);
}

#[test]
fn read_only_changes_nothing_and_open_is_told_at_the_start() {
    let world = World::new();
    if world.has_sandbox() {
        let provider = Provider::start(&[call("touch made"), Reply::Text("No.".to_owned())]);
        chat(&world, &provider, &[("PLANWRIGHT_SANDBOX_LEVEL", "read_only")], &["go"]).done();
        provider.asked();
        assert_ne!(result(&provider)["exit_code"], 0);
        assert!(!files(&world).join("made").exists());
    }
    // The store keeps the level that it was made with.
    let world = World::new();
    // Where nothing is enforced, a person is asked about every command, unless a rule allows it.
    world.write("planwright.toml", "[[permissions]]\ntool = \"run_command\"\nmatch = \"touch\"\ndecide = \"allow\"\n");
    let provider = Provider::start(&[call("touch made"), Reply::Text("Yes.".to_owned())]);
    let open = [("PLANWRIGHT_SANDBOX_LEVEL", "open")];
    chat(&world, &provider, &open, &["go"]).done().complains("! sandbox level open");
    provider.asked();
    let made = result(&provider);
    assert!(files(&world).join("made").exists(), "{made}");
    let mut doctor = world.command();
    ran(doctor.arg("doctor").envs(open)).says("! sandbox").says("everything that you may");
}

#[test]
fn what_cannot_be_enforced_is_told_and_refused() {
    let world = World::new();
    // No folder can be made below a file, so no sandbox can be put together.
    let file = world.write("file", "");
    let nowhere = file.display().to_string();
    let provider = Provider::start(&[call("touch made"), Reply::Text("No.".to_owned())]);
    let ran = chat(&world, &provider, &[("TMPDIR", &nowhere)], &["go"]).done();
    ran.complains("cannot enforce the sandbox level workspace").complains("refused:");
    provider.asked();
    let refused = result(&provider);
    assert_eq!(refused["code"], "POLICY_DENIED", "{refused}");
    assert!(!files(&world).exists());
    let mut doctor = world.command();
    crate::world::ran(doctor.arg("doctor").env("TMPDIR", &nowhere)).says("! sandbox").says("commands are refused");
}

#[test]
fn a_secret_cannot_be_named_in_the_settings() {
    let world = World::new();
    world.write("planwright.toml", "[sandbox]\nenv = [\"OPENAI_API_KEY\"]\n");
    world.run("chat hello").exits(2).complains("OPENAI_API_KEY").complains("key of a model");
    world.write("planwright.toml", "[sandbox]\nlevel = \"none\"\n");
    world.run("chat hello").exits(2).complains("`none` is none of");
}

/// How a plan of the style is made, up to its proposal.
#[cfg(target_os = "linux")]
fn planned(style: &str, line: &str) -> Vec<Reply> {
    let call = |tool: &'static str, arguments: Value| Reply::Call { preface: "", tool, arguments };
    let mut replies = match style {
        "collect" => vec![call("run_command", json!({ "command": line })), call("plan_finalize", json!({}))],
        "document" => vec![call("plan_set_content", json!({ "plan_markdown": "# Go\n\n- [ ] run it\n" }))],
        _ => vec![
            call("plan_create_draft", json!({ "goal": "Go" })),
            call("plan_add_step", json!({ "description": "Run it", "agent": "coder", "commands": [line] })),
            call(
                "plan_set_metadata",
                json!({ "assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"] }),
            ),
            call("plan_submit", json!({})),
        ],
    };
    if style == "document" {
        replies.push(Reply::Text("Ready.".to_owned()));
    }
    replies
}

/// Starts the program, waits until its command runs, and kills the program. Everything that the command started ends.
#[cfg(target_os = "linux")]
fn killed(world: &World, provider: &Provider, text: &[&str], marker: &str) {
    let mut command = world.command();
    command.args(text).env("PATH", "/usr/bin:/bin").envs(provider.variables()).env("OPENAI_API_KEY", "sk-never-told");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the command runs", || files(world).join("log").exists() && alive(marker) >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the processes are gone", || alive(marker) == 0);
}

#[cfg(target_os = "linux")]
fn endless(marker: &str) -> String {
    format!("echo x >> log; setsid sleep {marker} & sleep {marker}")
}

#[cfg(target_os = "linux")]
#[test]
fn a_kill_ends_the_command_and_the_next_start_does_not_know_its_result() {
    let world = World::new();
    if !world.has_sandbox() {
        return;
    }
    let marker = "86351.25";
    let provider = Provider::start(&[call(&endless(marker)), Reply::Text("I do not know.".to_owned())]);
    killed(&world, &provider, &["chat", "--session", SESSION, "go"], marker);
    chat(&world, &provider, &[], &["what happened?"]).done().says("I do not know.");
    provider.asked();
    let told = result(&provider);
    assert!(told.to_string().contains("not known whether it was done"), "{told}");
    assert_eq!(std::fs::read_to_string(files(&world).join("log")).unwrap(), "x\n", "it ran once");
    world.run("verify").done();
}

#[cfg(target_os = "linux")]
#[test]
fn a_kill_in_the_middle_of_a_plan_leaves_its_command_uncertain() {
    for (style, marker) in [("collect", "86351.5"), ("build", "86351.625"), ("document", "86351.75")] {
        let world = World::new();
        if !world.has_sandbox() {
            return;
        }
        let line = endless(marker);
        let mut replies = planned(style, &line);
        if style != "collect" {
            replies.push(call(&line));
        }
        replies.push(Reply::Text("I do not know.".to_owned()));
        let provider = Provider::start(&replies);
        chat(&world, &provider, &[], &["--plan", style, "plan it"]).done();
        let plan = world.plan(SESSION, 1);
        let shown = world.json(&format!("plan show 1 --session {SESSION}"));
        if style == "build" {
            assert_eq!(shown["steps"][0]["commands"], json!([line]), "{shown}");
        }
        let digest = plan.digest().to_string();
        killed(&world, &provider, &["plan", "approve", "1", "--session", SESSION, "--digest", &digest], marker);
        let mut resume = world.command();
        resume.args(["plan", "resume", "1", "--session", SESSION]).env("PATH", "/usr/bin:/bin");
        ran(resume.envs(provider.variables()).env("OPENAI_API_KEY", "sk-never-told"));
        assert_eq!(std::fs::read_to_string(files(&world).join("log")).unwrap(), "x\n", "{style}: it ran once");
        let plan = world.json(&format!("plan show 1 --session {SESSION}"));
        if style == "document" {
            let requests: Vec<_> = (0..replies.len()).map(|_| provider.asked()).collect();
            assert!(requests.last().unwrap().to_string().contains("not known whether it was done"), "{requests:?}");
        } else {
            assert_eq!(plan["steps"][0]["status"], "UNCERTAIN", "{style}: {plan}");
        }
        world.run("verify").done();
    }
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that have the marker among their arguments.
#[cfg(target_os = "linux")]
fn alive(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let marked = |name: &str| {
        let line = std::fs::read(format!("/proc/{name}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(marker)
    };
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && marked(name)).count()
}
