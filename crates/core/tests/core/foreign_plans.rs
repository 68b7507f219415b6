//! Plans and conversations of other programs, as they are read from their files.

use jiff::Timestamp;
use planwright_core::command::{Command, ImportedPlan, ImportedTurn, SessionCommand};
use planwright_core::legacy::golemcore::{read_goals, read_memories, read_record, read_session, read_telegram_chats};
use planwright_core::legacy::{ForeignFile, ForeignPlan, ForeignPlans};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use serde_json::json;

use crate::world::*;

fn read(whose: ForeignPlans, text: &str) -> Vec<ForeignPlan> {
    let changed_at: Timestamp = "2026-02-20T09:00:00Z".parse().unwrap();
    whose.read(&ForeignFile { name: "the file".to_owned(), text: text.to_owned(), changed_at })
}

#[track_caller]
fn one(whose: ForeignPlans, text: &str) -> (ImportedPlan, Vec<String>) {
    let mut found = read(whose, text);
    assert_eq!(found.len(), 1);
    let found = found.remove(0);
    (*found.plan.unwrap(), found.notes)
}

#[track_caller]
fn markdown(plan: &ImportedPlan) -> String {
    assert_eq!(plan.content.style(), PlanStyle::Document);
    let mut world = World::unopened("mcp:session-one");
    world.person(Command::Import(Box::new(plan.clone()))).unwrap();
    world.plan(&plan.id).markdown()
}

#[test]
fn a_text_waits_for_a_person_unless_all_of_it_is_done() {
    let (plan, notes) = one(ForeignPlans::ClaudePlans, "# Split the parser\n\n1. Move the lexer\n2. Move the tests\n");
    assert_eq!((plan.status, plan.title.as_deref()), (PlanStatus::Ready, Some("Split the parser")));
    assert_eq!(plan.created_at.to_string(), "2026-02-20T09:00:00Z");
    assert_eq!(plan.origin.description.as_deref(), Some("claude-plans the file"));
    assert_eq!(notes, Vec::<String>::new());
    let (done, notes) = one(ForeignPlans::ClaudePlans, "# Done\n\n- [x] one\n- [X] two\n");
    assert_eq!((done.status, notes.len()), (PlanStatus::Completed, 1));
    let (half, _) = one(ForeignPlans::ClaudePlans, "# Half\n\n- [x] one\n- [ ] two\n");
    assert_eq!(half.status, PlanStatus::Ready);
    for empty in ["", " \n\n"] {
        assert_eq!(read(ForeignPlans::ClaudePlans, empty)[0].plan, Err("it is empty".to_owned()));
    }
}

#[test]
fn the_same_text_is_the_same_plan() {
    let id = |whose, text: &str| one(whose, text).0.id;
    let text = "# One\n\n- [ ] two\n";
    assert_eq!(id(ForeignPlans::ClaudePlans, text), id(ForeignPlans::ClaudePlans, "\n# One\n\n- [ ] two\n\n"));
    assert_ne!(id(ForeignPlans::ClaudePlans, text), id(ForeignPlans::ClaudePlans, "# One\n\n- [ ] three\n"));
    assert_ne!(id(ForeignPlans::ClaudePlans, text), id(ForeignPlans::PlanningFiles, text));
}

#[test]
fn comments_that_nobody_sees_are_left_out_of_planning_files() {
    let text = "# Task Plan: Tidy up\n<!--\n  WHAT: a roadmap\n-->\n\n## Goal\nLess. <!-- really --> Fewer.\n\n```html\n<!-- kept -->\n```\n\n- [ ] one\n";
    let (plan, notes) = one(ForeignPlans::PlanningFiles, text);
    let expected = "# Task Plan: Tidy up\n\n## Goal\nLess.  Fewer.\n\n```html\n<!-- kept -->\n```\n\n- [ ] one\n";
    assert_eq!(markdown(&plan), expected);
    assert_eq!(notes.len(), 1, "{notes:?}");
    let (plain, notes) = one(ForeignPlans::PlanningFiles, "# Plain\n\n- [ ] one\n");
    assert_eq!((markdown(&plain).as_str(), notes), ("# Plain\n\n- [ ] one\n", Vec::new()));
}

#[test]
fn tasks_are_a_list_for_each_tag() {
    let task = |id: u32, status: &str| json!({ "id": id, "title": format!("Task {id}"), "status": status });
    let mut first = task(1, "in-progress");
    first["description"] = json!("Say how.\nIn two lines.");
    first["testStrategy"] = json!("Run it.");
    first["dependencies"] = json!([2]);
    first["subtasks"] = json!([task(1, "done"), task(2, "pending")]);
    let tagged = json!({
        "master": { "tasks": [first, task(2, "done"), task(3, "cancelled")], "metadata": { "created": "2026-01-01" } },
        "empty": { "tasks": [] },
    });
    let found = read(ForeignPlans::TaskMaster, &tagged.to_string());
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].plan, Err("it has no tasks to do".to_owned()));
    assert_eq!(found[0].name, "the file, list `master`");
    assert!(found[0].notes[0].contains("task 3, Task 3, was cancelled"), "{:?}", found[0].notes);
    let plan = found[0].plan.as_ref().unwrap();
    let expected = "# Tasks of `master`\n\n- [ ] 1. Task 1 (in-progress)\n\n  Say how.\n  In two lines.\n\n  Test: Run it.\n\n  After: 2\n\n  \
                    - [x] 1. Task 1\n  - [ ] 2. Task 2\n\n- [x] 2. Task 2\n";
    assert_eq!(markdown(plan), expected);
    assert_eq!(plan.status, PlanStatus::Ready);

    let older = json!({ "tasks": [task(1, "done")], "meta": {} });
    let (plan, _) = one(ForeignPlans::TaskMaster, &older.to_string());
    assert_eq!((plan.status, plan.title.as_deref()), (PlanStatus::Completed, Some("Tasks of master")));
    for (wrong, why) in [("[]", "is a list"), ("{", "not JSON"), ("{}", "no list of tasks")] {
        let found = read(ForeignPlans::TaskMaster, wrong);
        assert!(found[0].plan.as_ref().unwrap_err().contains(why), "{wrong}: {found:?}");
    }
    let untitled = json!({ "master": { "tasks": [{ "id": 1 }] } });
    let found = read(ForeignPlans::TaskMaster, &untitled.to_string());
    assert_eq!(found[0].plan, Err("/tasks/0/title is missing".to_owned()));
}

#[test]
fn a_conversation_is_put_together_into_turns() {
    let message = |role: &str, content: &str| json!({ "role": role, "content": content });
    let mut call = message("assistant", "");
    call["toolCalls"] = json!([{ "id": "c", "name": "shell", "arguments": { "command": "ls" } }]);
    let mut result = message("tool", "a.txt");
    result["toolName"] = json!("shell");
    let mut spoken = message("user", "");
    spoken["voiceTranscription"] = json!("And now?");
    let session = json!({
        "id": "telegram:k3yk3y8x", "channelType": "TELEGRAM", "createdAt": 1_700_000_000.5,
        "messages": [
            message("system", "Be brief."), message("assistant", "Hello."), message("user", "List them."), call, result,
            message("assistant", "One file."), spoken,
        ],
    });
    let read = read_session(&session).unwrap();
    assert_eq!(read.session.to_string(), "telegram:k3yk3y8x");
    let turns: Vec<_> = read.turns.iter().map(|turn| (turn.turn.said.as_str(), turn.turn.replied.as_str())).collect();
    let answer = "[Tool: shell | Args: {\"command\":\"ls\"}]\n\n[Result of shell: a.txt]\n\nOne file.";
    assert_eq!(turns, [("[The agent wrote first.]", "Hello."), ("List them.", answer), ("And now?", "")]);
    assert_eq!(read.turns[0].at.to_string(), "2023-11-14T22:13:20.5Z");
    assert!(read.notes[0].contains("messages of the system"), "{:?}", read.notes);
    for (wrong, why) in [
        (json!({ "id": "webhook:build" }), "not a channel"),
        (json!({ "channelType": "web" }), "names no conversation"),
        (json!({ "id": "web:not a key" }), "not a conversation key"),
        (json!([]), "not an object"),
    ] {
        assert!(read_session(&wrong).unwrap_err().contains(why), "{wrong}: {:?}", read_session(&wrong));
    }
}

/// Bytes that are no record, or only the beginning of one, are a reason and never a crash.
#[test]
fn a_record_that_is_cut_anywhere_is_refused_or_shorter() {
    let whole = include_bytes!(
        "../../../planwright/tests/fixtures/golemcore/sessions/telegram_7c1f0a52-30de-4d61-9a7e-0f4e8a5f2b11.pb"
    );
    let read = read_session(&read_record(whole).unwrap()).unwrap();
    assert_eq!(read.turns.len(), 2);
    assert_eq!(read.turns[1].turn.said, "Keep the newer one.");
    assert!(read.turns[0].turn.replied.contains(r#""options":{"quiet":true}"#), "{}", read.turns[0].turn.replied);
    for end in 0..whole.len() {
        let _ = read_record(&whole[..end]).map(|value| read_session(&value));
    }
    assert!(read_record(b"{\"id\": \"web:one\"}").is_err());
}

#[test]
fn goals_memories_and_chats_are_read_one_by_one() {
    let goals = read_goals(r#"[{"id":"g","title":"One","description":"Two","tasks":[{"id":"t","title":"T","status":"SKIPPED"}]},{"title":"x"},3]"#)
        .unwrap();
    assert_eq!(goals[0].as_ref().unwrap().title, "One: Two");
    assert!(goals[1].as_ref().unwrap_err().contains("/id is missing") && goals[2].is_err());
    assert_eq!(read_goals("{}").unwrap_err().code, RefusalCode::InvalidArgument);
    let memories =
        read_memories("{\"id\":\"m\",\"title\":\"A\",\"content\":\"B\",\"scope\":\"session:web:k3yk3y8x\"}\n\nno\n");
    let first = memories[0].as_ref().unwrap();
    assert_eq!(
        (first.content.as_str(), first.session.as_ref().unwrap().to_string()),
        ("A: B", "web:k3yk3y8x".to_owned())
    );
    assert!(memories[1].is_err() && memories.len() == 2);
    let chats = read_telegram_chats(r#"{"pointers":{"telegram|7":"k3yk3y8x","web|a|b":"k"}}"#).unwrap();
    assert_eq!(chats, [("7".to_owned(), "k3yk3y8x".to_owned())]);
    assert!(read_telegram_chats("{}").is_err());
}

#[test]
fn a_turn_that_is_taken_over_is_over_and_only_a_person_takes_it() {
    let mut world = World::unopened("telegram:42");
    let take = |said: &str, replied: &str| {
        let turn = ImportedTurn { said: said.to_owned(), replied: replied.to_owned() };
        Command::Session(SessionCommand::TakeTurn(Box::new(turn)))
    };
    assert_eq!(world.agent(take("Hello", "Hi")).unwrap_err().code, RefusalCode::PolicyDenied);
    let events = world.person(take("Hello", "Hi")).unwrap();
    let names: Vec<_> = events.iter().map(planwright_core::event::Event::name).collect();
    assert_eq!(names, ["session_opened", "turn_begun", "model_replied", "turn_ended"]);
    let session = world.snapshot.session.as_ref().unwrap();
    assert!(session.turn.is_none() && !session.plan_mode.enabled);
    let names: Vec<_> = world.person(take("Still there?", " ")).unwrap().iter().map(|event| event.name()).collect();
    assert_eq!(names, ["turn_begun", "turn_ended"]);
    assert_eq!(world.person(take(" ", "Hi")).unwrap_err().code, RefusalCode::InvalidArgument);
}
