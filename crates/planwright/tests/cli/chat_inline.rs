//! The inline interface of the chat, on a real terminal with a model of its screen.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::provider::{Provider, Reply, last_message};
use crate::screen_model::InlineChat;
use crate::world::World;

const SESSION: &str = "cli:session-one";
const OF_SESSION: &str = "--session session-one";
/// The letters of a plan that waits. They are shown from the moment on in which they count.
const LETTERS: &str = "a approve · s step by step";
const AHEAD_OF_PLAN: &str = "You typed this before the plan was on the screen";

fn says(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

fn held(reply: Reply) -> Reply {
    Reply::Held(Box::new(reply))
}

fn drafts() -> Reply {
    let plan = "# A greeting\n\n- [ ] say hello\n";
    Reply::Call { preface: "", tool: "plan_set_content", arguments: json!({ "plan_markdown": plan }) }
}

fn done() -> Reply {
    Reply::Call { preface: "", tool: "plan_progress", arguments: json!({ "status": "done" }) }
}

fn writes() -> Reply {
    Reply::Call { preface: "", tool: "write_file", arguments: json!({ "path": "a.txt", "content": "mine" }) }
}

fn chat(world: &World, provider: &Provider) -> InlineChat {
    let mut chat = InlineChat::start(world, 100, OF_SESSION, &provider.variables());
    chat.prompt();
    chat
}

fn plan_status(world: &World) -> Value {
    world.json(&format!("plan show 1 --session {SESSION}"))["status"].clone()
}

/// A chat in which the agent has drafted a plan, and the letters count.
fn with_plan(world: &World, provider: &Provider) -> InlineChat {
    let mut chat = chat(world, provider);
    chat.type_in("/plan on\r");
    chat.sees("plan 1 COLLECTING");
    chat.prompt();
    chat.type_in("add a greeting\r");
    chat.sees(LETTERS);
    chat
}

/// A world in which every write is asked about.
fn asking() -> World {
    let world = World::new();
    world.write("planwright.toml", "[[permissions]]\ntool = \"write_file\"\ndecide = \"ask\"\n");
    world
}

#[test]
fn a_message_is_written_above_the_box_with_its_answer() {
    let world = World::new();
    let provider = Provider::start(&[says("# One\n\ntwo *three*")]);
    let mut chat = chat(&world, &provider);
    chat.type_in("count");
    chat.sees("› count");
    assert_eq!(chat.cursor().1, 7, "behind the text:\n{}", chat.screen());
    chat.type_in("\r");
    chat.sees("two three");
    chat.prompt();
    chat.sees("tokens");
    let screen = chat.screen();
    let (above, below) = screen.split_once("two three").unwrap();
    assert!(above.contains("› count\n\nOne\n"), "{screen}");
    assert!(below.contains("──────") && below.trim_end().ends_with("tokens"), "{screen}");
    assert_eq!(screen.matches('›').count(), 2, "the box is drawn once: {screen}");
    assert_eq!(last_message(&provider.asked()), "count");
    chat.quit();
}

#[test]
fn a_message_of_several_lines_and_a_long_paste_are_sent_whole() {
    let world = World::new();
    let provider = Provider::start(&[says("Heard.")]);
    let mut chat = chat(&world, &provider);
    chat.type_in("one\ntwo\\\rthree");
    chat.sees("› one\n  two\n  three");
    let long = "a line\n".repeat(40);
    chat.type_in(&format!(" \u{1b}[200~{}\u{1b}[201~", long.replace('\n', "\r")));
    chat.sees("three [40 lines pasted]");
    chat.type_in("\r");
    chat.sees("Heard.");
    assert_eq!(last_message(&provider.asked()), format!("one\ntwo\nthree {long}"));
    chat.quit();
}

#[test]
fn keys_move_and_delete_in_the_text() {
    let world = World::new();
    let provider = Provider::start(&[says("Heard.")]);
    let mut chat = chat(&world, &provider);
    chat.type_in("three two\u{1b}[1;5D\u{1b}[D\u{17}one \u{1b}[F three.\u{1b}[D\u{1b}[3~");
    chat.sees("› one  two three\n");
    chat.type_in("\r");
    assert_eq!(last_message(&provider.asked()), "one  two three");
    chat.quit();
}

#[test]
fn what_is_typed_while_the_agent_works_waits_and_can_be_taken_back() {
    let world = World::new();
    let provider = Provider::start(&[held(says("First.")), says("Second.")]);
    let mut chat = chat(&world, &provider);
    chat.type_in("begin\r");
    chat.sees("thinking");
    chat.type_in("and the docs\r");
    chat.sees("queued: and the docs");
    chat.type_in("\u{1b}[A");
    chat.sees("› and the docs");
    chat.loses("queued:");
    chat.type_in("\u{17}tests\rhalf a");
    chat.sees("queued: and the tests");
    chat.sees("› half a");
    provider.release();
    chat.sees("Second.");
    assert_eq!(last_message(&provider.asked()), "begin");
    assert_eq!(last_message(&provider.asked()), "and the tests");
    // What was being typed is still there, and is not sent.
    chat.waits("the prompt", |screen| screen.contains("› half a") && screen.contains("tokens"));
    chat.type_in(" message");
    chat.sees("› half a message");
    chat.type_in("\u{3}");
    chat.prompt();
    chat.quit();
}

#[test]
fn escape_stops_the_agent_and_what_was_said_stays() {
    let world = World::new();
    let provider = Provider::start(&[Reply::Hold("I begin with the "), says("The second answer.")]);
    let mut chat = chat(&world, &provider);
    chat.type_in("begin\r");
    chat.sees("I begin with the");
    chat.type_in("later\r");
    chat.sees("queued: later");
    chat.type_in("\u{1b}");
    chat.sees("Stopped.");
    // What waited comes back, and Enter sends it.
    chat.sees("You stopped the agent");
    chat.sees("› later");
    assert!(chat.screen().contains("I begin with the"), "{}", chat.screen());
    chat.type_in("\r");
    chat.sees("The second answer.");
    chat.prompt();
    chat.type_in("\u{3}");
    chat.sees("Ctrl+C again leaves.");
    chat.type_in("\u{3}");
    let (seen, code) = chat.end();
    assert_eq!(code, 0, "{seen}");
}

#[test]
fn one_key_approves_the_plan_on_the_screen() {
    let world = World::new();
    let provider = Provider::start(&[drafts(), says("Ready."), done(), says("Hello was said.")]);
    let mut chat = with_plan(&world, &provider);
    chat.sees("plan 1 READY");
    chat.type_in("a");
    chat.sees("› /plan approve 1");
    chat.sees("Hello was said.");
    chat.prompt();
    assert_eq!(plan_status(&world), "COMPLETED");
    chat.quit();
}

#[test]
fn the_beginning_of_a_sentence_decides_nothing() {
    let world = World::new();
    let provider = Provider::start(&[drafts(), says("Ready."), says("As you like.")]);
    let mut chat = with_plan(&world, &provider);
    chat.type_in("a better idea is a view");
    chat.sees("› a better idea is a view");
    chat.type_in("\r");
    chat.sees("As you like.");
    chat.sees(LETTERS);
    assert_eq!(plan_status(&world), "READY");
    // A letter that is taken back decides nothing, and neither does one that was pasted.
    chat.type_in("r\u{7f}\u{1b}[200~r\u{1b}[201~");
    chat.sees("› r  Enter: reject");
    chat.type_in("\u{3}");
    chat.sees("› press a letter");
    assert_eq!(plan_status(&world), "READY");
    chat.quit();
}

#[test]
fn a_letter_that_was_typed_before_the_plan_was_there_decides_nothing() {
    let world = World::new();
    let provider = Provider::start(&[held(drafts()), says("Ready."), done(), says("Hello was said.")]);
    let mut chat = chat(&world, &provider);
    chat.type_in("/plan on\r");
    chat.sees("plan 1 COLLECTING");
    chat.prompt();
    chat.type_in("add a greeting\r");
    chat.sees("thinking");
    chat.type_in("/plan approve\ra");
    chat.sees("queued: /plan approve");
    provider.release();
    chat.sees(LETTERS);
    chat.sees(AHEAD_OF_PLAN);
    assert_eq!(plan_status(&world), "READY");
    // The line came back. Enter sends it, and the letter stands in the box after that.
    chat.sees("› /plan approve");
    chat.type_in("\r");
    chat.sees("Hello was said.");
    chat.sees("› a\n");
    assert_eq!(plan_status(&world), "COMPLETED");
    chat.type_in("\u{3}");
    chat.prompt();
    chat.quit();
}

#[test]
fn one_key_permits_a_call() {
    let world = asking();
    let provider = Provider::start(&[writes(), says("Written.")]);
    let mut chat = chat(&world, &provider);
    chat.type_in("write it\r");
    chat.sees("y yes, once");
    chat.type_in("y");
    chat.sees("Written.");
    chat.prompt();
    chat.quit();
}

#[test]
fn one_key_begins_the_request_for_changes() {
    let world = World::new();
    let provider = Provider::start(&[drafts(), says("Ready."), drafts(), says("Changed.")]);
    let mut chat = with_plan(&world, &provider);
    chat.type_in("c");
    chat.sees("› /plan revise #1");
    chat.type_in("say it twice\r");
    chat.sees("Changed.");
    chat.sees(LETTERS);
    chat.quit();
}

#[test]
fn commands_and_files_are_offered_while_they_are_typed() {
    let world = World::new();
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("notes.md"), "").unwrap();
    let arguments = format!("{OF_SESSION} --project {}", project.path().display());
    let provider = Provider::start(&[says("Heard.")]);
    let mut chat = InlineChat::start(&world, 100, &arguments, &provider.variables());
    chat.prompt();
    chat.type_in("/plan st");
    chat.sees("▸ /plan status");
    chat.type_in("\t");
    chat.sees("› /plan status");
    chat.type_in("\u{3}");
    chat.prompt();
    chat.type_in("/go");
    chat.sees("▸ /goal");
    chat.type_in("\u{1b}[B");
    chat.sees("▸ /goals");
    chat.type_in("\r");
    chat.sees("› /goals\n");
    chat.prompt();
    chat.type_in("read @not");
    chat.sees("▸ notes.md");
    chat.type_in("\t please\r");
    assert_eq!(last_message(&provider.asked()), "read @notes.md please");
    chat.sees("Heard.");
    chat.quit();
}

#[test]
fn the_history_comes_back_and_is_searched() {
    let world = World::new();
    let provider = Provider::start(&[says("Heard.")]);
    for text in ["run the tests", "run the build"] {
        let mut chat = chat(&world, &provider);
        chat.type_in(&format!("{text}\r"));
        assert_eq!(last_message(&provider.asked()), text);
        chat.sees("Heard.");
        chat.prompt();
        chat.quit();
    }
    let mut chat = chat(&world, &provider);
    chat.type_in("\u{1b}[A\u{1b}[A");
    chat.sees("› run the build");
    chat.type_in("\u{3}");
    chat.prompt();
    chat.type_in("\u{12}tests");
    chat.sees("sent before: tests");
    chat.type_in("\r");
    chat.sees("› run the tests");
    chat.type_in("\r");
    assert_eq!(last_message(&provider.asked()), "run the tests");
    chat.quit();
}

#[test]
fn without_colours_nothing_is_coloured_and_everything_is_there() {
    let world = World::new();
    let provider = Provider::start(&[drafts(), says("Ready.")]);
    let line =
        format!("stty cols 60 rows 30; exec env NO_COLOR=1 {} chat {OF_SESSION}", env!("CARGO_BIN_EXE_planwright"));
    let mut chat = InlineChat::start_line(&world, 60, &line, &provider.variables());
    chat.prompt();
    chat.type_in("/plan on\r");
    chat.sees("plan 1 COLLECTING");
    chat.prompt();
    chat.type_in("add a greeting\r");
    chat.sees(LETTERS);
    chat.type_in("/quit\r");
    let (seen, code) = chat.end();
    assert_eq!(code, 0, "{seen}");
    let mut ends = seen.split("\u{1b}[").skip(1).filter_map(|rest| rest.chars().find(char::is_ascii_alphabetic));
    assert!(ends.all(|end| end != 'm'), "{seen:?}");
}

#[test]
fn where_the_box_cannot_be_drawn_the_chat_is_plain() {
    let world = World::new();
    for (arguments, term) in [("--plain", "xterm"), ("", "dumb")] {
        let program = env!("CARGO_BIN_EXE_planwright");
        let line = format!("stty cols 100 rows 30; exec env TERM={term} {program} chat {OF_SESSION} {arguments}");
        let mut chat = InlineChat::start_line(&world, 100, &line, &[]);
        chat.sees("Tab completes");
        chat.sees("\n›");
        assert!(!chat.screen().contains("────"), "{}", chat.screen());
        chat.quit();
    }
}

#[test]
fn the_terminal_is_left_as_it_was() {
    let world = World::new();
    let program = env!("CARGO_BIN_EXE_planwright");
    let line = format!(
        "stty cols 80 rows 30; cd {}; stty -a >before; {program} chat; stty -a >after",
        world.path("").display()
    );
    let mut chat = InlineChat::start_line(&world, 80, &line, &[]);
    chat.prompt();
    chat.type_in("\u{4}");
    let (seen, _) = chat.end();
    assert!(seen.contains("\u{1b}[?2004l"), "{seen:?}");
    let read = |name: &str| std::fs::read_to_string(world.path(name)).unwrap();
    assert_eq!(read("before"), read("after"));
}
