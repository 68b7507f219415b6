//! What a conversation changes in files outside of any plan is shown, and the last turn's changes are undone.

use std::path::Path;

use planwright_agent::session::input::{Input, Request};
use planwright_core::plan::PlanStatus;
use planwright_core::refusal::RefusalCode;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::talk::{Talk as _, Watcher};
use serde_json::json;

use crate::planning::{report, set};
use crate::test_tools::{Act, Prop};
use crate::world::{World, person};

fn write(path: &str, content: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "content": content }))
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Two turns that change files, one that only answers.
async fn talked() -> World {
    let world = World::new([
        write("list.txt", "milk\n"),
        Reply::text("Noted."),
        write("list.txt", "milk\nbread\n").and_call("write_file", json!({ "path": "more.txt", "content": "jam\n" })),
        Reply::text("Noted, too."),
        Reply::text("You are welcome."),
    ])
    .await;
    world.say("We need milk").await;
    world.say("And bread and jam").await;
    world.say("Thanks").await;
    world
}

#[tokio::test]
async fn changes_without_a_plan_are_those_of_the_turns() {
    let world = talked().await;
    for expected in ["/changes", "/changes chat"] {
        let shown = world.send(expected).await.reply;
        assert!(shown.contains("This conversation changed 2 files outside of a plan (+3 −0 lines)."), "{shown}");
        assert!(shown.contains("after “We need milk”: `list.txt`"), "{shown}");
        assert!(shown.contains("after “And bread and jam”: `list.txt`, `more.txt`"), "{shown}");
        assert!(shown.contains("+bread") && shown.contains("```diff"), "{shown}");
    }
    let changes = world.agent.chat_changes().read(&world.session).await.unwrap();
    assert_eq!((changes.files.len(), changes.turns.len()), (2, 2));
    assert!(!changes.turns[1].files[0].text.contains("+milk"), "{}", changes.turns[1].files[0].text);
}

#[tokio::test]
async fn undo_puts_one_turn_after_the_other_back() {
    let world = talked().await;
    let files = world.files();
    let answer = world.send("/undo").await;
    assert!(answer.reply.contains("2 files that the last turn of the conversation"), "{}", answer.reply);
    assert_eq!((read(&files.join("list.txt")), read(&files.join("more.txt"))), (Some("milk\n".to_owned()), None));
    let shown = world.send("/changes").await.reply;
    assert!(shown.contains("changed 1 file") && shown.contains("Put back by "), "{shown}");
    world.send("/undo chat").await;
    assert_eq!(read(&files.join("list.txt")), None);
    let nothing = world.send("/undo").await;
    assert_eq!(nothing.refusal, Some(RefusalCode::WrongStatus));
    assert!(nothing.reply.contains("There is nothing to undo"), "{}", nothing.reply);
    assert!(world.send("/changes").await.reply.contains("left no file changed outside of a plan"));
    assert_eq!(world.event_names().await.iter().filter(|name| **name == "changes_undone").count(), 2);
    world.is_sound().await;
}

#[tokio::test]
async fn what_changed_since_is_left_and_named() {
    let world = talked().await;
    let files = world.files();
    std::fs::write(files.join("more.txt"), "mine").unwrap();
    let answer = world.send("/undo").await;
    assert!(answer.reply.contains("`more.txt`: It was changed since"), "{}", answer.reply);
    assert_eq!(read(&files.join("more.txt")).as_deref(), Some("mine"));
    assert_eq!(read(&files.join("list.txt")).as_deref(), Some("milk\n"));
    let again = world.send("/undo").await;
    assert_eq!(again.refusal, Some(RefusalCode::Conflict), "{}", again.reply);
    world.is_sound().await;
}

/// A request with a name that is sent again undoes nothing more.
#[tokio::test]
async fn an_undo_that_is_sent_twice_is_done_once() {
    let world = talked().await;
    for _ in 0..2 {
        let id = planwright_core::ids::RequestId::new("undo-1").unwrap();
        let request = Request::new(world.place(), person()).named(Some(id));
        let outcome = world.agent.submit(Input::UndoLastTurn, request).outcome().await.unwrap();
        assert_eq!(outcome.answer().unwrap().undone.unwrap().changes.len(), 2);
    }
    assert_eq!(read(&world.files().join("list.txt")).as_deref(), Some("milk\n"));
}

#[tokio::test]
async fn nothing_is_undone_under_an_agent_at_work() {
    let prop = Prop::new("wait", planwright_core::gate::ToolEffect::Changes, Act::Hang);
    let model = ScriptedModel::new([write("a.txt", "a"), Reply::text("Done."), Reply::call("wait", json!({}))]);
    let world = World::with(model, |setup| setup.tool(&prop)).await;
    world.say("Write").await;
    let waiting = world.say_in_background("Wait");
    prop.called(1).await;
    // Another process is told to undo while this one works.
    let command = planwright_core::workspace::Undo {
        plan: None,
        step: None,
        in_turn: None,
        changes: Vec::new(),
        not_undone: Vec::new(),
    };
    let command = planwright_core::command::SessionCommand::RecordUndo(Box::new(command));
    let command = planwright_core::command::Command::Session(command);
    let refused = world.engine().submit(&world.session, &person(), command).await;
    assert_eq!(refused.unwrap_err().code(), RefusalCode::WrongStatus);
    world.send("/stop").await;
    waiting.await.unwrap().unwrap();
    assert_eq!(read(&world.files().join("a.txt")).as_deref(), Some("a"));
}

#[tokio::test]
async fn a_plan_that_is_active_comes_first_and_after_it_what_was_changed_last() {
    let world = talked().await;
    world.model.then(set("- [ ] write"));
    world.model.then(Reply::text("Ready."));
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.model.then(write("plan.txt", "planned\n"));
    world.model.then(report(1));
    world.model.then(Reply::text("Done."));
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    let shown = world.send("/changes").await.reply;
    assert!(shown.starts_with("Plan 1 changed 1 file"), "{shown}");
    world.send("/plan done").await;
    assert!(world.send("/changes").await.reply.starts_with("Plan 1 changed 1 file"), "it was the last");
    assert!(world.send("/changes chat").await.reply.starts_with("This conversation changed 2 files"));
    world.model.then(write("list.txt", "butter\n"));
    world.model.then(Reply::text("Noted."));
    world.say("Rather butter").await;
    assert!(world.send("/changes").await.reply.starts_with("This conversation changed 2 files"));
    world.send("/undo").await;
    assert_eq!(read(&world.files().join("list.txt")).as_deref(), Some("milk\nbread\n"));
    assert_eq!(read(&world.files().join("plan.txt")).as_deref(), Some("planned\n"));
    world.send("/undo 1").await;
    assert_eq!(read(&world.files().join("plan.txt")), None);
    world.is_sound().await;
}

#[tokio::test]
async fn a_reset_begins_a_new_conversation() {
    let world = talked().await;
    world.send("/reset").await;
    let shown = world.send("/changes chat").await.reply;
    assert_eq!(shown, "This conversation changed no file outside of a plan.");
    assert!(world.send("/undo chat").await.refused());
}

/// An undo at a server that has the store and not the files of the session.
async fn is_refused_elsewhere(world: &World, line: &str) {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = AgentSetup::new(folder.path()).owned_by("another machine");
    let elsewhere = elsewhere.agent(world.ledger().await, ScriptedModel::new([]));
    let before = world.events().await.len();
    let answer = elsewhere.type_text(&world.place(), &person(), line, &Watcher::none()).await;
    let (code, message) = match answer {
        Ok(answer) => (answer.refusal, answer.reply),
        Err(error) => (Some(error.code()), error.into_refusal().message),
    };
    assert_eq!(code, Some(RefusalCode::Conflict));
    assert!(message.contains("are elsewhere"), "{message}");
    assert_eq!(world.events().await.len(), before, "nothing is recorded");
    assert!(!folder.path().join("users").exists(), "no folder is made");
}

#[tokio::test]
async fn a_server_without_the_files_undoes_no_plan() {
    let world = World::new([write("list.txt", "milk\n"), Reply::call("plan_finalize", json!({}))]).await;
    world.send("/plan on collect").await;
    world.say("We need milk").await;
    world.send("/plan approve").await;
    assert_eq!(read(&world.files().join("list.txt")).as_deref(), Some("milk\n"));
    is_refused_elsewhere(&world, "/undo 1").await;
    let answer = world.send("/undo 1").await;
    assert!(!answer.refused(), "{}", answer.reply);
    assert_eq!(read(&world.files().join("list.txt")), None);
}

#[tokio::test]
async fn a_server_without_the_files_puts_nothing_back_and_says_that_they_are_elsewhere() {
    let world = talked().await;
    is_refused_elsewhere(&world, "/undo").await;
    // Where the files are it is undone.
    let answer = world.send("/undo").await;
    assert!(answer.reply.contains("2 files that the last turn of the conversation"), "{}", answer.reply);
    assert_eq!(read(&world.files().join("more.txt")), None);
}
