//! One letter and Enter instead of a command, on a real terminal.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::provider::{Provider, Reply, last_message};
use crate::terminal::Terminal;
use crate::world::World;

const SESSION: &str = "cli:session-one";

fn chat(world: &World, provider: &Provider) -> Terminal {
    Terminal::start_with(
        world,
        &format!("stty cols 100 rows 30; exec {} chat --session {SESSION}", env!("CARGO_BIN_EXE_planwright")),
        &provider.variables(),
    )
}

/// Waits until the next line can be typed.
#[track_caller]
fn prompt(terminal: &mut Terminal) {
    terminal.wait_for("\u{1b}[?2004h");
    terminal.wait_for("›");
}

#[track_caller]
fn quit(mut terminal: Terminal) {
    terminal.type_in("/quit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
}

fn says(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

fn drafts(step: &str) -> Reply {
    let plan = format!("# A greeting\n\n- [ ] {step}\n");
    Reply::Call { preface: "", tool: "plan_set_content", arguments: json!({ "plan_markdown": plan }) }
}

fn writes() -> Reply {
    Reply::Call { preface: "", tool: "write_file", arguments: json!({ "path": "a.txt", "content": "mine" }) }
}

fn status(world: &World) -> Value {
    world.json(&format!("plan show 1 --session {SESSION}"))["status"].clone()
}

/// A chat in which the agent has drafted a plan.
fn with_plan(world: &World, provider: &Provider) -> Terminal {
    let mut terminal = chat(world, provider);
    prompt(&mut terminal);
    terminal.type_in("/plan on\r");
    terminal.wait_for("Plan work is");
    prompt(&mut terminal);
    terminal.type_in("add a greeting\r");
    terminal.wait_for("/plan reject 1");
    terminal.wait_for("step by step");
    prompt(&mut terminal);
    terminal
}

/// A world in which every write is asked about.
fn asking() -> World {
    let world = World::new();
    world.write("planwright.toml", "[[permissions]]\ntool = \"write_file\"\ndecide = \"ask\"\n");
    world
}

#[test]
fn a_letter_approves_the_plan_on_the_screen() {
    let world = World::new();
    let done = Reply::Call { preface: "", tool: "plan_progress", arguments: json!({ "status": "done" }) };
    let provider = Provider::start(&[drafts("say hello"), says("Ready."), done, says("Hello was said.")]);
    let mut terminal = with_plan(&world, &provider);
    // Before Enter, the line says what it does.
    terminal.type_in("a");
    terminal.wait_for("Enter: approve");
    assert_eq!(status(&world), "READY");
    terminal.type_in("\r");
    terminal.wait_for("is approved");
    terminal.wait_for("Hello was said.");
    prompt(&mut terminal);
    assert_eq!(status(&world), "COMPLETED");
    quit(terminal);
}

#[test]
fn a_letter_begins_what_the_person_finishes() {
    let world = World::new();
    let provider = Provider::start(&[drafts("say hello"), says("Ready."), drafts("wave"), says("Changed.")]);
    let mut terminal = with_plan(&world, &provider);
    terminal.type_in("c\r");
    prompt(&mut terminal);
    terminal.wait_for("/plan revise #1");
    terminal.type_in("wave instead\r");
    terminal.wait_for("Changed.");
    prompt(&mut terminal);
    // What changed since has a letter, too.
    terminal.type_in("d\r");
    terminal.wait_for("wave");
    prompt(&mut terminal);
    terminal.type_in("r\r");
    terminal.wait_for("REJECTED");
    prompt(&mut terminal);
    assert_eq!(status(&world), "REJECTED");
    quit(terminal);
}

#[test]
fn a_letter_typed_before_the_plan_comes_back() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Held(Box::new(drafts("say hello"))), says("Ready.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("/plan on\r");
    prompt(&mut terminal);
    terminal.type_in("add a greeting\r");
    terminal.wait_for("thinking");
    terminal.type_in("a\r");
    terminal.wait_for("queued: a");
    provider.release();
    terminal.wait_for("You typed this before the plan was on the screen");
    prompt(&mut terminal);
    assert_eq!(status(&world), "READY");
    terminal.type_in("\u{3}");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn a_letter_permits_the_call_on_the_screen() {
    let world = asking();
    let provider = Provider::start(&[writes(), says("Written.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("write a file\r");
    terminal.wait_for("Allow once");
    terminal.wait_for("yes, once");
    prompt(&mut terminal);
    terminal.type_in("y\r");
    terminal.wait_for("Written.");
    prompt(&mut terminal);
    quit(terminal);
    assert_eq!(world.json("inbox")["items"], json!([]));
}

#[test]
fn a_letter_says_no_with_a_reason() {
    let world = asking();
    let provider = Provider::start(&[writes(), says("As you like.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("write a file\r");
    terminal.wait_for("Allow once");
    prompt(&mut terminal);
    terminal.type_in("n use another folder\r");
    terminal.wait_for("As you like.");
    prompt(&mut terminal);
    quit(terminal);
    provider.asked();
    assert!(last_message(&provider.asked()).contains("use another folder"));
}
