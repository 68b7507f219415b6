//! What the terminal chat carries out by itself, and the checklist of a plan that is carried out. On a real terminal.
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
fn quit(mut terminal: Terminal) -> String {
    terminal.type_in("/quit\r");
    let (seen, code) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    anstream::adapter::strip_str(&seen).to_string()
}

fn says(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

fn call(tool: &'static str, arguments: Value) -> Reply {
    Reply::Call { preface: "", tool, arguments }
}

#[test]
fn the_person_sees_what_a_session_costs_and_clears_the_screen() {
    let world = World::new();
    let provider = Provider::start(&[says("It is noon.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("/cost\r");
    terminal.wait_for("No model was called in this session yet.");
    prompt(&mut terminal);
    terminal.type_in("what time is it?\r");
    terminal.wait_for("It is noon.");
    prompt(&mut terminal);
    terminal.type_in("/cost\r");
    terminal.wait_for("tokens read");
    prompt(&mut terminal);
    terminal.type_in("/context\r");
    terminal.wait_for("tokens");
    prompt(&mut terminal);
    terminal.type_in("/clear now\r");
    terminal.wait_for("Nothing can follow");
    prompt(&mut terminal);
    terminal.type_in("/clear\r");
    terminal.wait_for("\u{1b}[H\u{1b}[2J");
    prompt(&mut terminal);
    terminal.type_in("/help\r");
    terminal.wait_for("In this terminal");
    terminal.wait_for("/preview");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn another_model_answers_in_this_session_also_in_the_next_chat() {
    let world = World::new();
    let provider = Provider::start(&[says("The first answer.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("/model no-such-model\r");
    terminal.wait_for("error:");
    prompt(&mut terminal);
    terminal.type_in("first\r");
    terminal.wait_for("The first answer.");
    prompt(&mut terminal);
    terminal.type_in("/model rehearsal\r");
    terminal.wait_for("answers in this session from now on");
    prompt(&mut terminal);
    quit(terminal);
    let mut terminal = chat(&world, &provider);
    terminal.wait_for("This is a rehearsal");
    prompt(&mut terminal);
    quit(terminal);
    // Another session has the model of the settings.
    let line = format!("stty cols 100 rows 30; exec {} chat --session another-one", env!("CARGO_BIN_EXE_planwright"));
    let mut terminal = Terminal::start_with(&world, &line, &provider.variables());
    prompt(&mut terminal);
    assert!(!quit(terminal).contains("This is a rehearsal"));
}

#[test]
fn tab_completes_the_key_of_a_session_and_the_number_of_a_plan() {
    let world = World::new();
    world.run("chat --session unmistakable-key hello").done();
    let provider = Provider::start(&[says("Hello.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("/plan on\r");
    terminal.wait_for("Plan work is");
    prompt(&mut terminal);
    terminal.type_in("/plan show \t\r");
    terminal.wait_for("COLLECTING");
    prompt(&mut terminal);
    terminal.type_in("/switch unmis\t\r");
    terminal.wait_for("cli:unmistakable-key");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn a_message_is_written_in_the_editor() {
    let world = World::new();
    let editor = world.write("editor.sh", "printf 'first line\\nsecond line\\n' > \"$1\"\n");
    let editor = format!("sh {}", editor.display());
    let provider = Provider::start(&[says("Read.")]);
    let variables = [&provider.variables()[..], &[("EDITOR", editor.as_str()), ("VISUAL", "")][..]].concat();
    let line = format!("stty cols 100 rows 30; exec {} chat --session {SESSION}", env!("CARGO_BIN_EXE_planwright"));
    let mut terminal = Terminal::start_with(&world, &line, &variables);
    prompt(&mut terminal);
    terminal.type_in("/edit\r");
    terminal.wait_for("Read.");
    prompt(&mut terminal);
    assert_eq!(last_message(&provider.asked()), "first line\nsecond line");
    quit(terminal);
}

#[test]
fn a_key_that_is_set_is_offered_in_the_rehearsal() {
    let world = World::new();
    let variables = [("ANTHROPIC_API_KEY", "sk-never-told")];
    let mut terminal = Terminal::start_with(&world, &format!("{} chat", env!("CARGO_BIN_EXE_planwright")), &variables);
    terminal.wait_for("ANTHROPIC_API_KEY is set");
    prompt(&mut terminal);
    assert!(!quit(terminal).contains("sk-never-told"));
}

#[test]
fn recorded_calls_are_viewed_as_changes_of_files() {
    let world = World::new();
    let write = call("write_file", json!({ "path": "a.txt", "content": "mine\n" }));
    let provider = Provider::start(&[write, call("plan_finalize", json!({}))]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("/plan on collect\r");
    terminal.wait_for("Plan work is");
    prompt(&mut terminal);
    terminal.type_in("write it down\r");
    terminal.wait_for("changes of files");
    prompt(&mut terminal);
    terminal.type_in("v\r");
    terminal.wait_for("What plan 1 would do to files as they are now:");
    terminal.wait_for("+++ b/a.txt");
    terminal.wait_for("+mine");
    prompt(&mut terminal);
    terminal.type_in("/preview seven\r");
    terminal.wait_for("Give the number of a plan");
    prompt(&mut terminal);
    quit(terminal);
    assert_eq!(world.json(&format!("plan show 1 --session {SESSION}"))["status"], "READY");
}

#[test]
fn the_steps_of_a_plan_are_a_checklist_while_it_is_carried_out() {
    let world = World::new();
    let plan = "# A greeting\n\n- [ ] say hello\n- [ ] wave\n";
    let done = |step: u32| call("plan_progress", json!({ "step": step, "status": "done" }));
    let provider = Provider::start(&[
        call("plan_set_content", json!({ "plan_markdown": plan })),
        says("Ready."),
        done(1),
        Reply::Held(Box::new(done(2))),
        says("It is done."),
    ]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("/plan on\r");
    terminal.wait_for("Plan work is");
    prompt(&mut terminal);
    terminal.type_in("add a greeting\r");
    terminal.wait_for("/plan reject 1");
    prompt(&mut terminal);
    terminal.type_in("/plan approve\r");
    terminal.wait_for("1 of 2 done");
    terminal.wait_for("2. wave");
    provider.release();
    terminal.wait_for("It is done.");
    prompt(&mut terminal);
    let seen = quit(terminal);
    assert!(seen.contains("✔ 1. say hello") && seen.contains("✔ 2. wave"), "{seen}");
}
