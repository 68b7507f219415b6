//! What a person does with a plan before they decide, in the box of the chat: ticks, comments, edits, pages; and the commands of the
//! chat itself around it.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::provider::{Provider, Reply, last_message};
use crate::screen_model::InlineChat;
use crate::world::World;

const SESSION: &str = "cli:session-one";
const OF_SESSION: &str = "--session session-one";

fn says(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

fn call(tool: &'static str, arguments: Value) -> Reply {
    Reply::Call { preface: "", tool, arguments }
}

fn writes(path: &str) -> Reply {
    call("write_file", json!({ "path": path, "content": format!("{path} is mine\n") }))
}

fn drafts(step: &str) -> Reply {
    call("plan_set_content", json!({ "plan_markdown": format!("# A greeting\n\n- [ ] {step}\n- [ ] wave\n") }))
}

fn chat(world: &World, provider: &Provider, variables: &[(&str, &str)]) -> InlineChat {
    let variables = [&provider.variables()[..], variables].concat();
    let mut chat = InlineChat::start(world, 100, OF_SESSION, &variables);
    chat.prompt();
    chat
}

/// A chat in which a plan of this style waits, with its letters.
fn with_plan(mut chat: InlineChat, style: &str) -> InlineChat {
    chat.type_in(&format!("/plan on {style}\r"));
    chat.sees("plan 1 COLLECTING");
    chat.prompt();
    chat.type_in("do it\r");
    chat.sees("s step by step");
    chat
}

fn plan(world: &World) -> Value {
    world.json(&format!("plan show 1 --session {SESSION}"))
}

#[test]
fn ticked_steps_are_approved_and_no_others() {
    let world = World::new();
    let provider =
        Provider::start(&[writes("a.txt"), writes("b.txt"), call("plan_finalize", json!({})), says("Done.")]);
    let mut chat = with_plan(chat(&world, &provider, &[]), "collect");
    chat.type_in("t");
    chat.sees("▸ ☑ 1.");
    chat.type_in(" ");
    chat.sees("▸ ☐ 1.");
    chat.sees("Enter approves 1 of 2");
    chat.type_in("\r");
    chat.sees("› /plan approve 1 only 2");
    chat.sees("plan 1 COMPLETED");
    let statuses: Vec<_> =
        plan(&world)["steps"].as_array().unwrap().iter().map(|step| step["status"].clone()).collect();
    assert_eq!(statuses, ["SKIPPED", "COMPLETED"]);
    chat.prompt();
    chat.quit();
}

#[test]
fn leaving_the_ticks_approves_nothing() {
    let world = World::new();
    let provider = Provider::start(&[writes("a.txt"), call("plan_finalize", json!({})), says("Done.")]);
    let mut chat = with_plan(chat(&world, &provider, &[]), "collect");
    for leave in ["\u{1b}", "\u{3}"] {
        chat.type_in("t");
        chat.sees("▸ ☑ 1.");
        chat.type_in(leave);
        chat.loses("▸ ☑ 1.");
        chat.sees("Nothing was approved.");
        chat.sees("s step by step");
        chat.type_in("/clear\r");
        chat.loses("Nothing was approved.");
        chat.sees("s step by step");
    }
    assert_eq!(plan(&world)["status"], "READY");
    chat.quit();
}

#[test]
fn comments_on_steps_are_kept_and_sent_with_the_request_for_changes() {
    let world = World::new();
    let provider =
        Provider::start(&[drafts("say hello"), says("Ready."), drafts("say good morning"), says("Changed.")]);
    let mut chat = with_plan(chat(&world, &provider, &[]), "");
    chat.type_in("m");
    chat.sees("› /comment");
    chat.type_in("9 nothing\r");
    chat.sees("Plan 1 has 2 steps.");
    chat.sees("s step by step");
    chat.type_in("m 1 say good morning\r");
    chat.sees("Your comment on step 1 of plan 1 is kept, 1 comment in all.");
    chat.sees("s step by step");
    assert_eq!(plan(&world)["status"], "READY");
    chat.type_in("/comment send\r");
    chat.sees("Changed.");
    chat.sees("s step by step");
    let asked: Vec<_> = (0..4).map(|_| last_message(&provider.asked())).collect();
    assert!(asked.iter().any(|text| text.contains("say good morning") && text.contains("say hello")), "{asked:?}");
    chat.type_in("/comment send\r");
    chat.sees("There are no comments to send.");
    chat.quit();
}

#[test]
fn a_document_is_edited_and_shown_again() {
    let world = World::new();
    let editor = world.write("editor.sh", "sed -i 's/say hello/say good morning/' \"$1\"\n");
    let editor = format!("sh {}", editor.display());
    let provider = Provider::start(&[drafts("say hello"), says("Ready.")]);
    let mut chat = with_plan(chat(&world, &provider, &[("EDITOR", &editor), ("VISUAL", "")]), "");
    chat.type_in("e");
    chat.sees("Plan 1 has your text now, as version 2.");
    chat.sees("☐ say good morning");
    chat.sees("d what changed");
    let shown = plan(&world);
    assert_eq!(shown["status"], "READY");
    assert!(shown["markdown"].as_str().unwrap().contains("say good morning"), "{shown}");
    chat.quit();
}

#[test]
fn a_plan_is_read_in_the_pager() {
    let world = World::new();
    let pager = world.write("pager.sh", "cat > \"$0.seen\"\n");
    let pager_line = format!("sh {}", pager.display());
    let provider = Provider::start(&[writes("a.txt"), call("plan_finalize", json!({})), says("Done.")]);
    let mut chat = with_plan(chat(&world, &provider, &[("PAGER", &pager_line)]), "collect");
    chat.type_in("p");
    chat.sees("› /page 1");
    chat.sees("press a letter");
    let seen = std::fs::read_to_string(world.path("pager.sh.seen")).unwrap();
    let seen = anstream::adapter::strip_str(&seen).to_string();
    assert!(seen.contains("Plan 1  READY") && seen.contains("+a.txt is mine"), "{seen}");
    chat.quit();
}

#[test]
fn a_command_of_the_shell_runs_in_the_sandbox() {
    let world = World::new();
    if !world.has_sandbox() {
        return;
    }
    let provider = Provider::start(&[says("Heard.")]);
    let mut chat = chat(&world, &provider, &[]);
    chat.type_in("!echo one; echo dromedary; exit 3\r");
    chat.sees("  dromedary");
    chat.sees("✘ run_command");
    chat.prompt();
    chat.type_in(&format!("!ls {}\r", world.path("planwright.db").display()));
    chat.sees("cannot access");
    chat.prompt();
    chat.type_in("!sleep 60\r");
    chat.sees("run_command sleep 60");
    chat.type_in("\u{3}");
    chat.sees("you stopped it");
    chat.prompt();
    chat.type_in("hello\r");
    chat.sees("Heard.");
    chat.prompt();
    // The agent read nothing of it.
    assert!(!provider.asked().to_string().contains("dromedary"));
    chat.quit();
}

#[test]
fn a_theme_is_chosen_and_remembered() {
    let world = World::new();
    let provider = Provider::start(&[says("Heard.")]);
    let mut chat_one = chat(&world, &provider, &[]);
    chat_one.type_in("/theme pink\r");
    chat_one.sees("`/theme standard`: the colours of the terminal (chosen)");
    chat_one.prompt();
    chat_one.type_in("/theme mono\r");
    chat_one.sees("as in the theme `mono`");
    chat_one.prompt();
    chat_one.quit();
    let mut chat_two = chat(&world, &provider, &[]);
    chat_two.type_in("/quit\r");
    let (seen, _) = chat_two.end();
    assert!(!seen.contains("\u{1b}[36m") && seen.contains("\u{1b}[1m"), "{seen}");
}

#[test]
fn the_words_of_a_specialist_stand_under_its_name() {
    let world = World::new();
    let lists = json!({ "assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"] });
    let reports = Reply::Call {
        preface: "I copy the rows.",
        tool: "plan_progress",
        arguments: json!({ "status": "done", "evidence": "all copied" }),
    };
    let provider = Provider::start(&[
        call("plan_create_draft", json!({ "goal": "Move the tables" })),
        call("plan_set_metadata", lists),
        call("plan_add_step", json!({ "description": "Copy the rows", "agent": "coder" })),
        call("plan_submit", json!({})),
        reports,
        says("Done."),
    ]);
    let mut chat = with_plan(chat(&world, &provider, &[]), "build");
    chat.type_in("a");
    chat.sees("plan 1 COMPLETED");
    let screen = chat.screen();
    assert!(screen.contains("coder, step 1:\nI copy the rows.\n"), "{screen}");
    assert_eq!(screen.matches("Copy the rows  ").count(), 1, "its end is told once: {screen}");
    chat.quit();
}
