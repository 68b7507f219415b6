//! A plan whose process was ended is paused: every command says so, how far it is, and how to continue or end it.

use std::net::TcpListener;

use serde_json::json;

use crate::provider::{Provider, Reply};
use crate::watch::{Carrier, approved};
use crate::world::{World, ran};

const SESSION: &str = "cli:session-one";

/// A document of three steps that the rehearsal drafted. The process that carries it out is killed while the model is
/// asked for the first step.
fn killed() -> World {
    let world = World::new();
    for line in ["/plan on", "add a health endpoint"] {
        ran(world.command().args(["chat", "--session", SESSION, line])).done();
    }
    let provider = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", provider.local_addr().unwrap());
    let digest = world.active_plan(SESSION).digest().to_string();
    let mut command = world.command();
    command.args(["plan", "approve", "1", "--digest", &digest]);
    command.env("PLANWRIGHT_MODEL", "openai:silent").env("OPENAI_API_KEY", "sk-x").env("OPENAI_BASE_URL", address);
    let mut child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let _asked = provider.accept().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    world
}

#[test]
fn a_killed_execution_is_paused_and_can_be_continued() {
    let world = killed();
    world
        .run("plan status")
        .done()
        .tells("It is paused: no process works on it")
        .tells("0 of 3 steps are done")
        .tells("Resume from step 1: planwright plan resume 1")
        .tells("Stop here: planwright plan resume 1 --stop");
    world.run("plan show 1").done().tells("It is paused");
    world.run("plan watch 1 --no-wait").exits(3).tells("It is paused: no process works on it. 0 of 3 steps are done.");
    world.run("plan resume 1").done().tells("Plan 1 COMPLETED");
    world.run("verify").done();
}

#[test]
fn a_killed_execution_can_be_ended() {
    let world = killed();
    world.run("plan resume 1 --stop").exits(3).tells("Plan 1 PARTIALLY_COMPLETED");
    assert_eq!(world.json("plan show 1")["status"], "PARTIALLY_COMPLETED");
    world.run("plan status").done().never_says("paused");
}

/// Recorded calls are carried out by Planwright, whichever program drafted them.
#[test]
fn recorded_calls_without_a_process_are_paused() {
    let world = approved();
    let carrier = Carrier::of(&world);
    carrier.starts_and_dies();
    carrier.does_step("s1");
    world.run("plan status").done().tells("It is paused").tells("1 of 3 steps are done");
    let watched = world.run("plan watch 1 --no-wait --json").exits(3);
    let paused = watched.stdout.lines().nth(1).map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let paused = paused.unwrap();
    assert_eq!((&paused["type"], &paused["counts"]["done"]), (&json!("paused"), &json!(1)), "{paused}");
    world.run("plan resume 1").done().tells("Plan 1 COMPLETED");
}

/// The first turn left the step open. The one after it reminds the agent, which asks for permission: to resume would be refused.
#[test]
fn a_plan_whose_turn_asks_for_permission_is_not_called_paused() {
    let world = World::new();
    world.write("planwright.toml", "[[permissions]]\ntool = \"write_file\"\ndecide = \"ask\"\n");
    let call = |tool: &'static str, arguments| Reply::Call { preface: "", tool, arguments };
    let says = |text: &str| Reply::Text(text.to_owned());
    let provider = Provider::start(&[
        call("plan_set_content", json!({ "plan_markdown": "# A greeting\n\n- [ ] say hello\n" })),
        says("Ready."),
        says("I stop here."),
        call("write_file", json!({ "path": "hello.txt", "content": "hello" })),
    ]);
    let chat = |line: &str| ran(world.command().args(["chat", "--session", SESSION, line]).envs(provider.variables()));
    chat("/plan on").done();
    chat("add a greeting").done();
    let asks = chat("/plan approve").says("Allow once");
    assert!(world.active_plan(SESSION).is_paused(), "no step has moved");
    let told = [
        chat("/status"),
        chat("/plan status"),
        world.run("plan status"),
        world.run("plan show 1"),
        world.run("plan watch 1 --no-wait"),
    ];
    for ran in told.map(|ran| ran.tells("The agent asks for permission")).into_iter().chain([asks, world.run("inbox")])
    {
        let flat = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!flat.contains("no process works on it") && !flat.contains("plan resume"), "{flat}");
    }
    let inbox = world.json("inbox")["items"].clone();
    let kinds: Vec<_> = inbox.as_array().unwrap().iter().map(|item| &item["kind"]).collect();
    assert_eq!(kinds, ["permission"], "{inbox}");
}
