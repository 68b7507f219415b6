//! What is typed before the thing that it decides about is on the screen decides nothing. On a real terminal.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::provider::{Provider, Reply, last_message};
use crate::terminal::{QUESTION, Terminal};
use crate::world::World;

const SESSION: &str = "cli:session-one";
const COLOUR: &str = "Which colour?";
const AHEAD_OF_PLAN: &str = "You typed this before the plan was on the screen";
const AHEAD_OF_QUESTION: &str = "You typed this before the question was on the screen";

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

fn asks() -> Reply {
    Reply::Call { preface: "", tool: "ask_person", arguments: json!({ "questions": [{ "text": COLOUR }] }) }
}

fn drafts() -> Reply {
    let plan = "# A greeting\n\n- [ ] say hello\n";
    Reply::Call { preface: "", tool: "plan_set_content", arguments: json!({ "plan_markdown": plan }) }
}

fn held(reply: Reply) -> Reply {
    Reply::Held(Box::new(reply))
}

fn status(world: &World) -> Value {
    world.json(&format!("plan show 1 --session {SESSION}"))["status"].clone()
}

/// The kinds of what waits in the inbox.
fn waiting(world: &World) -> Vec<Value> {
    world.json("inbox")["items"].as_array().unwrap().iter().map(|item| item["kind"].clone()).collect()
}

fn journal(world: &World) -> String {
    world.with_engine(async |engine| {
        let entries = engine.ledger().journal(&SESSION.parse().unwrap(), 0, 10_000).await.unwrap();
        entries.iter().map(|entry| entry.body.as_str()).collect::<Vec<_>>().join("\n")
    })
}

#[test]
fn an_approval_typed_ahead_comes_back_and_enter_sends_it() {
    let world = World::new();
    let done = Reply::Call { preface: "", tool: "plan_progress", arguments: json!({ "status": "done" }) };
    let provider = Provider::start(&[drafts(), says("Ready."), done, says("Hello was said.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("/plan on\r");
    terminal.wait_for("Plan work is");
    prompt(&mut terminal);
    terminal.type_in("add a greeting\r/plan approve\r");
    terminal.wait_for("/plan reject 1");
    terminal.wait_for(AHEAD_OF_PLAN);
    prompt(&mut terminal);
    terminal.wait_for("/plan approve");
    assert_eq!(status(&world), "READY");
    terminal.type_in("\r");
    terminal.wait_for("is approved");
    terminal.wait_for("Hello was said.");
    prompt(&mut terminal);
    assert_eq!(status(&world), "COMPLETED");
    quit(terminal);
}

#[test]
fn an_approval_typed_while_the_agent_drafts_comes_back() {
    let world = World::new();
    let provider = Provider::start(&[held(drafts()), says("Ready.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("/plan on\r");
    prompt(&mut terminal);
    terminal.type_in("add a greeting\r");
    terminal.wait_for("thinking");
    terminal.type_in("/plan approve\r");
    terminal.wait_for("queued: /plan approve");
    // Not finished when the card comes: Enter sends it only once it stands there whole.
    terminal.type_in("/plan rej");
    provider.release();
    terminal.wait_for(AHEAD_OF_PLAN);
    prompt(&mut terminal);
    terminal.wait_for("/plan approve");
    terminal.type_in("\u{3}");
    prompt(&mut terminal);
    terminal.wait_for("/plan rej");
    terminal.type_in("ect\r");
    terminal.wait_for(AHEAD_OF_PLAN);
    prompt(&mut terminal);
    assert_eq!(status(&world), "READY");
    terminal.type_in("\r");
    terminal.wait_for("REJECTED");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn a_decision_typed_ahead_comes_back_also_if_nothing_waits() {
    let world = World::new();
    let provider = Provider::start(&[says("It is noon.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("what time is it?\r/plan approve\r");
    terminal.wait_for("It is noon.");
    terminal.wait_for("You typed this before");
    prompt(&mut terminal);
    terminal.wait_for("/plan approve");
    terminal.type_in("\u{3}");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn a_message_typed_ahead_is_queued_in_sight_and_sent_in_its_turn() {
    let world = World::new();
    let provider = Provider::start(&[held(says("The first answer.")), says("The second answer.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("first\r");
    terminal.wait_for("thinking");
    terminal.type_in("the secomd\u{7f}\u{7f}nd one\r");
    terminal.wait_for("queued: the second one");
    provider.release();
    terminal.wait_for("The first answer.");
    terminal.wait_for("the second one");
    terminal.wait_for("The second answer.");
    assert_eq!(last_message(&provider.asked()), "first");
    assert_eq!(last_message(&provider.asked()), "the second one");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn a_message_typed_ahead_answers_no_question_that_came_later() {
    let world = World::new();
    let provider = Provider::start(&[asks(), says("Thanks.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("paint the wall\rand hurry\r");
    terminal.wait_for(COLOUR);
    terminal.wait_for(AHEAD_OF_QUESTION);
    prompt(&mut terminal);
    terminal.wait_for("and hurry");
    assert_eq!(waiting(&world), ["question"]);
    // The line is the person's: they clear it and answer.
    terminal.type_in("\u{3}");
    prompt(&mut terminal);
    terminal.type_in("blue\r");
    terminal.wait_for("Thanks.");
    prompt(&mut terminal);
    quit(terminal);
    let journal = journal(&world);
    assert!(journal.contains(r#""answers":["blue"]"#) && !journal.contains("and hurry"), "{journal}");
}

#[test]
fn a_question_that_waited_over_a_crash_is_shown_before_the_prompt() {
    let world = World::new();
    let provider = Provider::start(&[asks(), says("Thanks.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("paint the wall\r");
    terminal.wait_for(COLOUR);
    prompt(&mut terminal);
    terminal.kill();
    let mut terminal = chat(&world, &provider);
    terminal.wait_for(COLOUR);
    prompt(&mut terminal);
    terminal.type_in("blue\r");
    terminal.wait_for("Thanks.");
    prompt(&mut terminal);
    quit(terminal);
    assert!(journal(&world).contains(r#""answers":["blue"]"#));
}

#[test]
fn what_waits_in_another_session_is_shown_when_one_switches_to_it() {
    let world = World::new();
    world.write("planwright.toml", "[[permissions]]\ntool = \"write_file\"\ndecide = \"ask\"\n");
    let arguments = json!({ "path": "a.txt", "content": "mine" });
    let writes = Reply::Call { preface: "", tool: "write_file", arguments };
    let provider = Provider::start(&[writes, says("Written.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("write a file\r");
    terminal.wait_for("Allow once");
    prompt(&mut terminal);
    terminal.type_in("/new\r");
    terminal.wait_for("New session");
    prompt(&mut terminal);
    terminal.type_in("/switch session-one\r");
    terminal.wait_for("The agent asks to call");
    terminal.wait_for("Allow once");
    prompt(&mut terminal);
    assert_eq!(waiting(&world), ["permission"]);
    terminal.type_in("/deny not now\r");
    terminal.wait_for("Written.");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn lines_pasted_while_the_agent_works_are_one_message() {
    let world = World::new();
    let provider = Provider::start(&[held(says("The first answer.")), says("The second answer.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("first\r");
    terminal.wait_for("thinking");
    terminal.type_in("\u{1b}[200~one\ntwo\nthree\u{1b}[201~\r");
    terminal.wait_for("queued: one");
    provider.release();
    terminal.wait_for("The second answer.");
    provider.asked();
    assert_eq!(last_message(&provider.asked()), "one\ntwo\nthree");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn what_is_queued_comes_back_when_the_agent_is_stopped() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Hold("I begin with the "), says("The second answer.")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("first\r");
    terminal.wait_for("I begin with the");
    terminal.type_in("then the second\r");
    terminal.wait_for("queued: then the second");
    terminal.type_in("\u{3}");
    terminal.wait_for("Stopped.");
    terminal.wait_for("You stopped the agent");
    prompt(&mut terminal);
    terminal.wait_for("then the second");
    terminal.type_in("\r");
    terminal.wait_for("The second answer.");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn a_stop_that_is_typed_stops_the_agent_at_once() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Hold("I begin with the ")]);
    let mut terminal = chat(&world, &provider);
    prompt(&mut terminal);
    terminal.type_in("first\r");
    terminal.wait_for("I begin with the");
    terminal.type_in("/stop\r");
    terminal.wait_for("Stopped.");
    prompt(&mut terminal);
    quit(terminal);
}

#[test]
fn the_terminal_is_put_back_when_the_program_is_ended_at_work() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Hold("I begin with the ")]);
    let line = format!(
        "cd {}; stty -a >before; {} chat --session ended-at-work; stty -a >after",
        world.path("").display(),
        env!("CARGO_BIN_EXE_planwright")
    );
    let mut terminal = Terminal::start_with(&world, &line, &provider.variables());
    prompt(&mut terminal);
    terminal.type_in("first\r");
    terminal.wait_for("I begin with the");
    let found =
        std::process::Command::new("pgrep").args(["-f", "^[^ ]*planwright chat --session ended-at-work"]).output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    assert!(std::process::Command::new("kill").arg(found.trim()).status().unwrap().success(), "{found:?}");
    let (seen, _) = terminal.end();
    let (on, off) = (seen.rfind("\u{1b}[?2004h"), seen.rfind("\u{1b}[?2004l"));
    assert!(on < off, "{seen:?}");
    let read = |name: &str| std::fs::read_to_string(world.path(name)).unwrap();
    assert_eq!(read("before"), read("after"));
}

#[test]
fn an_answer_typed_before_the_question_of_a_command_is_no_answer() {
    let world = World::with_plan();
    let mut terminal = Terminal::start(&world, "plan approve");
    terminal.type_in("y\n");
    terminal.wait_for(QUESTION);
    terminal.type_in("n\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, 3, "{seen}");
    assert_eq!(world.status(), "READY");
}

#[test]
fn a_line_of_a_pipe_answers_no_question_without_naming_it() {
    let world = World::new();
    let provider = Provider::start(&[asks(), says("Thanks.")]);
    let pipe = |lines: &str| {
        let mut command = world.command();
        command.args(["chat", "--session", SESSION]).envs(provider.variables());
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes()).unwrap();
        crate::world::Ran::from(child.wait_with_output().unwrap())
    };
    // Both lines are in the pipe before the question is asked.
    let ran = pipe("paint the wall\nand hurry\n").exits(3).says(COLOUR).tells("Nothing was answered.");
    assert_eq!(waiting(&world), ["question"]);
    let code = ran.stdout.split("/answer ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    pipe("blue\n").exits(3).says(COLOUR);
    pipe("/answer 00000000 blue\n").exits(3).says(COLOUR);
    assert_eq!(waiting(&world), ["question"]);
    pipe(&format!("/answer {code} blue\n")).done().says("Thanks.");
    assert!(journal(&world).contains(r#""answers":["blue"]"#));
}

#[test]
fn a_line_of_a_pipe_denies_no_call_without_naming_it() {
    let world = World::new();
    world.write("planwright.toml", "[[permissions]]\ntool = \"write_file\"\ndecide = \"ask\"\n");
    let arguments = json!({ "path": "a.txt", "content": "mine" });
    let writes = Reply::Call { preface: "", tool: "write_file", arguments };
    let provider = Provider::start(&[writes, says("As you like.")]);
    let one = |line: &str| {
        crate::world::ran(world.command().args(["chat", "--session", SESSION, line]).envs(provider.variables()))
    };
    let ran = one("write a file").done().says("Allow once");
    let code = ran.stdout.split("/allow ").nth(1).unwrap().split(['`', ' ']).next().unwrap().to_owned();
    one("/deny no").exits(3).says(&code);
    assert_eq!(waiting(&world), ["permission"]);
    one(&format!("/deny {code} not now")).done().says("As you like.");
    assert!(waiting(&world).is_empty());
}
