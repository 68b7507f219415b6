//! `planwright import` of what other programs keep, in the formats that they write.

use std::path::Path;

use planwright_core::journal::Entry;
use planwright_core::session::SessionIdentity;
use serde_json::{Value, json};

use crate::world::{Ran, World, fixture};

fn write(world: &World, name: &str, text: &str) {
    let path = world.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// How many are taken, were here, and are not taken.
#[track_caller]
fn counts(ran: Ran) -> (usize, usize, usize) {
    let answer = ran.json();
    let count = |name: &str| answer[name].as_array().unwrap().len();
    (count("taken"), count("alreadyHere"), count("skipped"))
}

const TASK_PLAN: &str = "# Task Plan: Tidy the parser\n<!--\n  WHAT: This is your roadmap for the entire task.\n-->\n\n## Goal\nOne file for each rule.\n\n\
                         ## Phases\n\n### Phase 1: Discovery\n- [x] Read it\n- [ ] List the rules\n- **Status:** in_progress\n";

#[test]
fn plans_of_claude_code_wait_for_a_person_and_are_taken_once() {
    let world = World::new();
    write(
        &world,
        "plans/review-draft-zany-lightning.md",
        "# Split the parser\n\n1. Move the lexer\n2. Move the tests\n",
    );
    write(&world, "plans/all-done.md", "# Rename it\n\n- [x] in the code\n- [x] in the docs\n");
    write(&world, "plans/empty.md", "\n");
    write(&world, "plans/notes.txt", "no plan");
    let line = "import claude-plans plans --session mcp:session-one";
    assert_eq!(counts(world.run(&format!("{line} --dry-run --json")).done()), (2, 0, 1));
    assert!(!world.store().exists(), "a dry run makes no store");
    world.run(&format!("{line} --dry-run")).done().says("nothing was written").says("empty.md: it is empty");
    let first = world.run(&format!("{line} --json")).done();
    let taken = &first.json()["taken"];
    assert_eq!((&taken[0]["status"], &taken[1]["status"]), (&json!("COMPLETED"), &json!("READY")));
    assert_eq!((&taken[1]["title"], &taken[1]["number"]), (&json!("Split the parser"), &json!(2)));
    assert_eq!(counts(first), (2, 0, 1));
    let before = world.json("sessions");
    assert_eq!(counts(world.run(&format!("{line} --json")).done()), (0, 2, 1));
    assert_eq!(counts(world.run(&format!("{line} --dry-run --json")).done()), (0, 2, 1));
    assert_eq!(world.json("sessions"), before);
    let plan = world.json("plan show 2 --session mcp:session-one");
    assert_eq!((&plan["status"], &plan["approval"]), (&json!("READY"), &Value::Null));
    world.run("verify").done();
}

#[test]
fn nothing_taken_is_an_error_with_the_reason() {
    let world = World::new();
    std::fs::create_dir(world.path("plans")).unwrap();
    for program in ["claude-plans", "planning-files", "task-master", "golemcore"] {
        world.run(&format!("import {program} plans")).exits(1).complains("nothing was taken: plans has no");
        world.run(&format!("import {program} nowhere")).exits(2).complains("nowhere is not a folder");
    }
    assert!(!world.store().exists());
    write(&world, "plans/empty.md", "");
    world.run("import claude-plans plans").exits(1).says("empty.md: it is empty");
    world
        .run("import plans.json plans")
        .exits(2)
        .complains("the programs are claude-plans, planning-files, task-master, golemcore");
}

#[test]
fn planning_files_become_a_plan_and_the_workbook() {
    let world = World::new();
    std::fs::create_dir_all(world.path("project/.git")).unwrap();
    write(&world, "project/task_plan.md", TASK_PLAN);
    write(&world, "project/findings.md", "# Findings & Decisions\n\n## Requirements\n- one file for each rule\n");
    write(&world, "project/progress.md", "# Progress Log\n\n## Session: 2026-01-15\n- read it\n");
    write(&world, "project/.planning/2026-01-10-backend/task_plan.md", "# Task Plan: Backend\n\n- [ ] start\n");
    assert_eq!(counts(world.run("import planning-files project --dry-run --json").done()), (3, 0, 0));
    let taken = world.run("import planning-files project --json").done().json();
    assert_eq!(taken["channel"], "mcp");
    let names: Vec<_> = taken["taken"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["task_plan.md", ".planning/2026-01-10-backend/task_plan.md", "findings.md, progress.md"]);
    let session = format!("mcp:{}", taken["sessionId"].as_str().unwrap());
    let plan = world.json(&format!("plan show 1 --session {session}"));
    let markdown = plan["markdown"].as_str().unwrap();
    assert!(
        markdown.starts_with("# Task Plan: Tidy the parser\n\n## Goal") && !markdown.contains("<!--"),
        "{markdown}"
    );
    assert_eq!((&plan["status"], &plan["steps"][0]["description"]), (&json!("READY"), &json!("Read it")));
    world.run(&format!("plan files show findings --session {session}")).done().says("one file for each rule");
    assert_eq!(counts(world.run("import planning-files project --json").done()), (0, 3, 0));
}

#[test]
fn lists_of_task_master_become_plans() {
    let world = World::new();
    let tasks = json!({
        "master": {
            "tasks": [
                { "id": 1, "title": "Implement Task Data Structure", "description": "Design the core structure.", "status": "done",
                  "dependencies": [], "priority": "high", "details": "Create:\n- JSON schema\n- Validation", "testStrategy": "Verify it.",
                  "subtasks": [{ "id": 1, "title": "Design Template", "status": "done", "dependencies": [] }] },
                { "id": 2, "title": "Develop Command Line", "description": "Create the CLI.", "status": "pending", "dependencies": [1] },
                { "id": 3, "title": "Drop it", "status": "cancelled", "dependencies": [] },
            ],
            "metadata": { "created": "2026-01-01T00:00:00.000Z", "description": "Tasks for master context" },
        },
        "feature-x": { "tasks": [{ "id": 1, "title": "Try it", "status": "deferred", "dependencies": [] }], "metadata": {} },
    });
    write(&world, "project/.taskmaster/tasks/tasks.json", &tasks.to_string());
    let line = "import task-master project --session mcp:session-one";
    assert_eq!(counts(world.run(&format!("{line} --json")).done()), (2, 0, 0));
    world
        .run("plan export 1 --session mcp:session-one")
        .done()
        .says("- [x] 1. Implement Task Data Structure")
        .says("  - [x] 1. Design Template")
        .says("- [ ] 2. Develop Command Line")
        .never_says("Drop it");
    world.run("plan show 2 --session mcp:session-one").done().says("Try it (deferred)");
    world.run(line).done().says("0 items taken over").says("2 items here already");
}

fn golemcore(more: &str) -> String {
    format!("import golemcore {} {more}", fixture("golemcore").display())
}

const CONVERSATION: &str = "telegram:7c1f0a52-30de-4d61-9a7e-0f4e8a5f2b11";

/// The lines of one part.
fn part(answer: &Value, list: &str, part: &str) -> Vec<String> {
    let lines = answer[list].as_array().unwrap().iter().filter(|line| line["part"] == part);
    lines.map(|line| line["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn everything_of_a_golemcore_bot_comes_along_once() {
    let world = World::new();
    let dry = world.run(&golemcore("--dry-run --json")).done();
    assert!(!world.store().exists());
    let real = world.run(&golemcore("--json")).done();
    for (run, answer) in [("dry", dry.json()), ("real", real.json())] {
        let taken: Vec<_> = ["plans", "conversations", "goals", "tasks", "memories", "chats"]
            .map(|name| part(&answer, "taken", name).len())
            .to_vec();
        assert_eq!(taken, [1, 2, 2, 2, 1, 1], "{run}: {answer:#}");
        assert_eq!(part(&answer, "skipped", "conversations"), ["sessions/webhook_build-server.json"], "{run}");
        assert_eq!(part(&answer, "skipped", "memories").len(), 2, "{run}: {answer:#}");
        assert_eq!(part(&answer, "skipped", "goals").len(), 1, "{run}");
        assert_eq!(part(&answer, "skipped", "chats"), ["chat 987654321"], "{run}");
        assert_eq!(part(&answer, "skipped", "other"), ["auto/schedules.json", "auto/diary"], "{run}");
        assert_eq!(answer["alreadyHere"], json!([]), "{run}");
    }
    let before = world.json("sessions");
    let again = world.run(&golemcore("--json")).done().json();
    assert_eq!((&again["taken"], again["alreadyHere"].as_array().unwrap().len()), (&json!([]), 9), "{again:#}");
    assert_eq!(world.json("sessions"), before);
    world.run("verify").done();
}

#[test]
fn a_golemcore_conversation_is_there_with_its_times_and_its_chat() {
    let world = World::new();
    world.run(&golemcore("")).done().says("conversations, taken over: 2").says("No plan is approved by this");
    let session: SessionIdentity = CONVERSATION.parse().unwrap();
    let (entries, pointers) = world.with_engine(async |engine| {
        let entries = engine.ledger().journal(&session, 0, 100).await.unwrap();
        (entries, engine.ledger().pointers().await.unwrap())
    });
    let entries: Vec<Entry> = entries.iter().map(|sealed| serde_json::from_str(&sealed.body).unwrap()).collect();
    let names: Vec<_> = entries.iter().map(|entry| entry.event.name()).collect();
    let turn = ["turn_begun", "model_replied", "turn_ended"];
    assert_eq!(
        names,
        ["session_opened"].into_iter().chain(turn).chain(turn).chain(["plan_imported"]).collect::<Vec<_>>()
    );
    assert_eq!(entries[1].at.to_string(), "2026-02-20T09:00:01Z");
    let said: Vec<_> =
        entries.iter().map(|entry| serde_json::to_value(&entry.event).unwrap()["text"].clone()).collect();
    assert_eq!((&said[1], &said[4]), (&json!("Which backups are older than a month?"), &json!("Keep the newer one.")));
    assert_eq!(pointers.len(), 1);
    assert_eq!((pointers[0].0.0.as_str(), &pointers[0].1), ("telegram:110201543:123456789", &session));
    world.run(&format!("plan show 1 --session {CONVERSATION}")).done().says("Tidy the backups").says("READY");
    world.run("goal list --session cli:golemcore").done().tells("Backups in order: No more than ten");
    world.run("task list --session cli:golemcore").done().says("List them").says("Delete the old ones");
    world.run("memory list --session cli:golemcore").done().tells("Ada prefers short answers in English.");
}

#[test]
fn a_conversation_that_began_here_is_not_mixed_with_one_of_the_same_name() {
    let world = World::new();
    let web = "web:9d0c7d1e-aaaa-4bbb-8ccc-1234567890ab";
    world.run(&format!("chat --session {web} --model rehearsal Hello")).done();
    let answer = world.run(&golemcore("--json")).done().json();
    assert_eq!(part(&answer, "skipped", "conversations").len(), 2, "{answer:#}");
    let reasons = answer["skipped"].to_string();
    assert!(reasons.contains(&format!("there is another conversation {web} here")), "{reasons}");
}

#[test]
fn what_lies_there_is_not_changed() {
    let world = World::new();
    let list = |folder: &Path| {
        let mut found = Vec::new();
        for part in ["auto", "sessions", "preferences"] {
            found.extend(std::fs::read_dir(folder.join(part)).unwrap().map(|entry| entry.unwrap().file_name()));
        }
        found.sort();
        found
    };
    let folder = fixture("golemcore");
    let before = list(&folder);
    world.run(&golemcore("")).done();
    assert_eq!(list(&folder), before);
}
