use serde_json::{Value, json};

use crate::mcp::talk;
use crate::world::{SESSION, World};

fn call(tool: &str, arguments: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
        .to_string()
}

/// With a workbook that an agent began.
fn begun() -> World {
    let world = World::new();
    world.run(&format!("plan files on --session {SESSION}")).done().says("Planning files are on");
    let begin = call("init_plan", &json!({ "task_title": "Move the shop" }));
    talk(&world, &format!("mcp --session {SESSION}"), &[&begin]).done();
    world
}

fn file(world: &World, name: &str) -> std::path::PathBuf {
    world.path("users/mcp-session-one/plan").join(name)
}

#[test]
fn an_agent_keeps_a_workbook_that_a_person_reads() {
    let world = begun();
    let text = std::fs::read_to_string(file(&world, "task_plan.md")).unwrap();
    assert!(text.contains("Move the shop"));
    assert_eq!(world.run("plan files show").done().stdout, text);
    assert_eq!(world.json("plan files show findings")["version"], 1);
    world.run("plan files list").done().says("Move the shop, in work").says("users/mcp-session-one/plan");
    world.run("plan files show secrets").exits(2).complains("task_plan");
}

#[test]
fn what_a_person_edits_is_what_the_agent_reads() {
    let world = begun();
    std::fs::write(file(&world, "findings.md"), "found by hand\n").unwrap();
    assert_eq!(world.run("plan files show findings").done().stdout, "found by hand\n");
    assert_eq!(world.json("plan files show findings")["by"]["name"], "an edit of the file");
    let read = call("read_plan", &json!({ "which": "findings" }));
    let talked = talk(&world, &format!("mcp --session {SESSION}"), &[&read]).done();
    assert!(talked.stdout.contains("found by hand"), "{}", talked.stdout);
    world.run("verify").done();
}

#[test]
fn switched_off_it_stays_and_cannot_be_called() {
    let world = begun();
    world.run("plan files off").done().says("Planning files are off");
    let talked = talk(&world, &format!("mcp --session {SESSION}"), &[&call("read_plan", &json!({}))]).done();
    assert!(talked.stdout.contains("POLICY_DENIED"), "{}", talked.stdout);
    world.run("plan files show").done().says("Move the shop");
    assert_eq!(world.json("plan files on")["planningFiles"], true);
}

#[test]
fn looking_makes_nothing() {
    let world = World::new();
    world.run("plan files list").exits(4);
    world.run("plan on").done();
    world.run("plan files list").done().says("no workbook");
    world.run("plan files show").exits(4).complains("no workbook");
    assert!(!world.path("users").exists());
}

#[test]
fn templates_of_the_person_are_used_and_broken_ones_are_named() {
    let world = World::new();
    std::fs::create_dir(world.path("templates")).unwrap();
    world.write("templates/findings.md", "# What we found\n\n## My own section\n");
    world.write("templates/progress.md", "no heading, and {{nonsense}}");
    world.run(&format!("plan files on --session {SESSION}")).done();
    let begin = call("init_plan", &json!({ "task_title": "T" }));
    let talked = talk(&world, &format!("mcp --session {SESSION}"), &[&begin]).done();
    assert!(talked.stdout.contains("progress.md cannot be used"), "{}", talked.stdout);
    world.run("plan files show findings").done().says("My own section");
    world.run("plan files show progress").done().never_says("nonsense");
}

#[test]
fn deleting_a_session_takes_its_workbook_with_it() {
    let world = begun();
    world.run(&format!("sessions delete {SESSION} --yes")).done();
    assert!(!world.path("users/mcp-session-one").exists());
}

#[test]
fn notes_that_lie_in_a_project_are_adopted_and_nothing_is_overwritten() {
    let world = World::new();
    let plan =
        "# Move the shop\n\n## Phases\n\n### Phase 1: look\n- **Status:** in_progress\n- [ ] count the shelves\n";
    world.run(&format!("plan files on --session {SESSION}")).done();
    world
        .run(&format!("workbook adopt --session {SESSION}"))
        .exits(4)
        .complains("task_plan.md, findings.md, progress.md");
    world.write("task_plan.md", plan);
    world.write("findings.md", "# Found\n\nThe shelves are of oak.\n");
    let adopted = world.json(&format!("workbook adopt --session {SESSION}"));
    assert_eq!(adopted["adopted"], json!(["task_plan.md", "findings.md"]));
    assert_eq!(adopted["title"], "Move the shop");
    assert_eq!(world.run("plan files show").done().stdout, plan);
    assert!(world.run("plan files show findings").done().stdout.contains("of oak"));
    assert!(
        world.run("plan files show progress").done().stdout.contains("Move the shop"),
        "it begins with its template"
    );
    assert_eq!(world.json("plan files show")["by"]["kind"], "person");
    assert_eq!(std::fs::read_to_string(world.path("task_plan.md")).unwrap(), plan);
    let read = talk(&world, &format!("mcp --session {SESSION}"), &[&call("read_plan", &json!({}))]).done();
    assert!(read.stdout.contains("count the shelves"), "{}", read.stdout);

    // What is in work stays, unless it is to be archived.
    world.write("task_plan.md", "# Another\n");
    world.run("workbook adopt").exits(3).complains("Move the shop");
    assert_eq!(world.run("plan files show").done().stdout, plan);
    world.run("workbook adopt --archive").done().says("Another").says("archived as");
    assert_eq!(world.run("plan files show").done().stdout, "# Another\n");
    assert!(std::fs::read_dir(file(&world, "archive")).unwrap().count() == 1);

    // Only files of the folder itself.
    std::fs::remove_file(world.path("findings.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hosts", world.path("findings.md")).unwrap();
    world.run("workbook adopt --archive").exits(2).complains("is not a file");
    world.write("task_plan.md", &"x".repeat(300 * 1024));
    world.run("workbook adopt --archive").exits(2).complains("more than 262144 bytes");
    world.run("verify").done();
}

#[test]
fn hidden_characters_do_not_reach_a_terminal_through_a_title() {
    let world = World::new();
    world.run(&format!("plan files on --session {SESSION}")).done();
    let begin = call("init_plan", &json!({ "task_title": "red \u{1b}[31m \u{202e}alert" }));
    talk(&world, &format!("mcp --session {SESSION}"), &[&begin]).done();
    let listed = world.run("plan files list").done();
    assert!(!listed.stdout.contains('\u{1b}') && !listed.stdout.contains('\u{202e}'), "{:?}", listed.stdout);
}
