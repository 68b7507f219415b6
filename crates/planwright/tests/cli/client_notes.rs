//! The hooks after a call, at the end of a turn and at the start of a conversation: notes in the workbook, one reminder, and the
//! place where the work is.

use serde_json::{Value, json};

use crate::client_dialects::{command, send};
use crate::mcp::talk;
use crate::world::{Ran, World};

const INPUTS: &str = include_str!("hook_inputs/after_calls.txt");
const CLIENTS: [&str; 7] = ["claude-code", "codex", "gemini", "goose", "opencode", "cursor", "vscode"];

/// What the client sends, if it sends such a thing.
fn input(world: &World, client: &str, what: &str) -> Option<String> {
    let line = INPUTS.lines().find_map(|line| line.strip_prefix(&format!("{client} {what} ")))?;
    let project = world.path("").display().to_string();
    let project = project.trim_end_matches('/');
    Some(line.replace("{project}", project).replace("{home}", project))
}

fn call(tool: &str, arguments: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
        .to_string()
}

/// With an agent in the folder, and a workbook that it began.
fn with_workbook() -> World {
    let world = World::new();
    talk(&world, "mcp", &[&call("plan_get", &json!({}))]).done();
    world.run("plan files on").done();
    talk(&world, "mcp", &[&call("init_plan", &json!({ "task_title": "Move the shop" }))]).done();
    world
}

fn after(world: &World, client: &str, what: &str) -> Option<Ran> {
    Some(send(&mut command(world, client, "post-tool-use"), &input(world, client, what)?).done())
}

#[test]
fn findings_and_errors_of_the_clients_own_tools_are_noted_in_the_workbook() {
    for client in CLIENTS {
        let world = with_workbook();
        // Every second one is noted, as for Planwright's own agent.
        let found = after(&world, client, "found");
        assert!(!world.run("plan files show findings").done().stdout.contains("of oak"), "{client}");
        if found.is_some() {
            after(&world, client, "found");
            let findings = world.run("plan files show findings").done().stdout;
            assert_eq!(findings.matches("the shelves are of oak").count(), 1, "{client}: {findings}");
        } else {
            assert_eq!(client, "goose", "every other client tells what a call answered");
        }
        let Some(first) = after(&world, client, "failed") else {
            assert_eq!(client, "codex", "every other client tells that a call failed");
            continue;
        };
        assert_eq!(first.stdout, "", "{client}");
        let progress = world.run("plan files show progress").done().stdout;
        let expected = if client == "goose" { "does not say why" } else { "no rule to make shelves" };
        assert!(progress.contains("make shelves") && progress.contains(expected), "{client}: {progress}");
        after(&world, client, "failed");
        let third = after(&world, client, "failed").unwrap();
        assert_eq!(third.stdout.contains("failed 3 times"), client != "goose", "{client}: {}", third.stdout);
        world.run("verify").done();
    }
}

#[test]
fn a_call_is_noted_only_where_a_workbook_is_open() {
    let world = World::new();
    talk(&world, "mcp", &[&call("plan_get", &json!({}))]).done();
    let before = world.json("verify");
    assert_eq!(after(&world, "claude-code", "failed").unwrap().stdout, "");
    assert_eq!(world.json("verify"), before);
    let world = with_workbook();
    world.run("plan files off").done();
    after(&world, "claude-code", "failed");
    assert!(!world.run("plan files show progress").done().stdout.contains("make shelves"));
    // Tools of Planwright's own server, and calls that change things, are not noted.
    world.run("plan files on").done();
    for (tool, response) in [("mcp__planwright__plan_get", "refused"), ("Write", "written")] {
        let details = json!({
            "cwd": world.path(""), "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {},
            "tool_response": { "content": response, "is_error": tool != "Write" },
        });
        send(&mut command(&world, "claude-code", "post-tool-use"), &details.to_string()).done();
    }
    let notes =
        world.run("plan files show progress").done().stdout + &world.run("plan files show findings").done().stdout;
    assert!(!notes.contains("plan_get") && !notes.contains("written"), "{notes}");
}

/// The text with which the client's agent goes on, if it is not let go.
fn reminder(world: &World, client: &str) -> Option<String> {
    let ran = send(&mut command(world, client, "stop"), &input(world, client, "ends")?).done();
    if ran.stdout.is_empty() {
        return None;
    }
    let answer = ran.json();
    let text = match client {
        "vscode" => {
            assert_eq!(answer["hookSpecificOutput"]["decision"], "block", "{answer}");
            &answer["hookSpecificOutput"]["reason"]
        }
        "cursor" => &answer["followup_message"],
        _ => {
            assert_eq!(answer["decision"], "block", "{client}: {answer}");
            &answer["reason"]
        }
    };
    Some(text.as_str().unwrap().to_owned())
}

#[test]
fn the_agent_is_reminded_of_open_steps_once_for_each_state_of_the_plan() {
    for client in CLIENTS.into_iter().filter(|client| *client != "opencode") {
        let world = World::new();
        let draft = call("plan_set_content", &json!({ "plan_markdown": "# One\n\n- [ ] count\n- [ ] pack" }));
        talk(&world, "mcp", &[&draft]).done();
        assert_eq!(reminder(&world, client), None, "{client}: it waits for a person");
        let shown = world.json("plan show");
        world.run(&format!("plan approve --digest {}", shown["digest"].as_str().unwrap())).done();
        let first = reminder(&world, client);
        assert!(
            first.as_ref().is_some_and(|text| text.contains("0 of 2") && text.contains("count")),
            "{client}: {first:?}"
        );
        assert_eq!(reminder(&world, client), None, "{client}: once");
        talk(&world, "mcp", &[&call("plan_progress", &json!({ "status": "done" }))]).done();
        let second = reminder(&world, client);
        assert!(
            second.as_ref().is_some_and(|text| text.contains("1 of 2") && text.contains("pack")),
            "{client}: {second:?}"
        );
        assert_eq!(reminder(&world, client), None, "{client}: once");
        for status in ["in_progress", "done"] {
            let report = call("plan_progress", &json!({ "step": 1, "status": status }));
            talk(&world, "mcp", &[&report]).done();
            assert_eq!(reminder(&world, client), None, "{client}: {status} again is no further");
        }
        talk(&world, "mcp", &[&call("plan_progress", &json!({ "step": 2, "status": "done" }))]).done();
        assert_eq!(reminder(&world, client), None, "{client}: nothing is open");
    }
}

#[test]
fn an_agent_that_goes_on_because_of_a_hook_is_not_reminded_again() {
    let world = World::new();
    talk(&world, "mcp", &[&call("plan_set_content", &json!({ "plan_markdown": "# One\n\n- [ ] count" }))]).done();
    let shown = world.json("plan show");
    world.run(&format!("plan approve --digest {}", shown["digest"].as_str().unwrap())).done();
    for (client, from, to) in [
        ("claude-code", "\"stop_hook_active\": false", "\"stop_hook_active\": true"),
        ("cursor", "\"loop_count\": 0", "\"loop_count\": 1"),
        ("cursor", "\"completed\"", "\"aborted\""),
    ] {
        let input = input(&world, client, "ends").unwrap().replace(from, to);
        let ran = send(&mut command(&world, client, "stop"), &input).done();
        assert_eq!(ran.stdout, "", "{client}: {to}");
    }
    // What cannot be remembered is not said, and a broken store keeps no agent from ending its turn.
    std::fs::write(world.path("hooks"), "a file where the folder would be").unwrap();
    assert_eq!(reminder(&world, "claude-code"), None);
    std::fs::remove_file(world.path("hooks")).unwrap();
    world.write("planwright.toml", "[approval\n");
    assert_eq!(reminder(&world, "claude-code"), None);
    assert_eq!(after(&world, "claude-code", "failed").unwrap().stdout, "");
}

#[test]
fn the_open_phase_of_the_workbook_comes_back_with_the_plan_and_without_one() {
    let world = with_workbook();
    let plan = "# Move the shop\n\n## Phases\n\n### Look\nStatus: complete\n\n### Pack the lamps\nStatus: in_progress\n\n- [ ] find a box\n";
    talk(&world, "mcp", &[&call("write_plan", &json!({ "which": "task_plan", "content": plan }))]).done();
    let context = |client: &str| {
        let details = json!({ "cwd": world.path(""), "workspace_roots": [world.path("")], "source": "compact" });
        send(&mut command(&world, client, "session-start"), &details.to_string()).done().stdout
    };
    for client in CLIENTS.into_iter().filter(|client| *client != "goose") {
        let text = context(client);
        assert!(text.contains("Pack the lamps") && text.contains("find a box"), "{client}: {text}");
    }
    talk(&world, "mcp", &[&call("plan_set_content", &json!({ "plan_markdown": "# Canary 7f3a\n\n- [ ] one" }))]).done();
    let text = context("claude-code");
    assert!(text.contains("Canary 7f3a") && text.contains("Pack the lamps"), "{text}");
    world.run("plan files off").done();
    let text = context("claude-code");
    assert!(text.contains("Canary 7f3a") && !text.contains("Pack the lamps"), "{text}");
}
