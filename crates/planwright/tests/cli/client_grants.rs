//! What an approved plan permits of a client's calls: counted with its execution, also for hosts, and ended with the plan.

use serde_json::{Value, json};

use crate::client_dialects::{decision, draft};
use crate::mcp::talk;
use crate::world::World;

const NEEDS: &str = "# One\n\n- [ ] one\n- [ ] two\n\n```planwright-needs\nfiles = [\"src/**\"]\nnetwork = [\"crates.io\", \"*.rs.example\"]\n```\n";

fn approve(world: &World) {
    let shown = world.json("plan show");
    world.run(&format!("plan approve --digest {}", shown["digest"].as_str().unwrap())).done();
}

fn report(world: &World, status: &str) {
    let call = json!({
        "jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": { "name": "plan_progress", "arguments": { "status": status } },
    });
    talk(world, "mcp", &[&call.to_string()]).done();
}

fn write(path: &str) -> Value {
    json!({ "file_path": path, "content": "x" })
}

fn counts(world: &World) -> Value {
    world.json("plan show")["execution"]["permissions"].clone()
}

#[test]
fn calls_that_the_hook_decided_about_are_counted_in_the_execution() {
    let world = World::new();
    draft(&world, NEEDS);
    approve(&world);
    report(&world, "in_progress");
    for (client, tool, path, expected) in [
        ("claude-code", "Write", "src/a.rs", "allow"),
        ("claude-code", "Edit", "src/b.rs", "allow"),
        ("claude-code", "Write", "README.md", "ask"),
        ("gemini", "write_file", "README.md", "block"),
        ("claude-code", "Read", "README.md", "pass"),
    ] {
        assert_eq!(decision(&world, client, tool, &write(path)).0, expected, "{client} {path}");
    }
    assert_eq!(counts(&world), json!({ "covered": 2, "asked": 1, "refused": 1 }));
    world.run("plan status").done().says("2 covered by the plan, 1 asked, 1 refused");
    world.run("verify").done();
}

#[test]
fn the_hosts_that_a_plan_names_are_read_without_a_question_and_others_are_not() {
    let world = World::new();
    let fetch = |client: &str, tool: &str, input: Value| decision(&world, client, tool, &input).0;
    let crates = json!({ "url": "https://crates.io/serde", "prompt": "look" });
    draft(&world, NEEDS);
    assert_eq!(fetch("claude-code", "WebFetch", crates.clone()), "pass", "reading passes before the approval");
    approve(&world);
    for (client, tool, input, expected) in [
        ("claude-code", "WebFetch", crates.clone(), "allow"),
        ("claude-code", "WebFetch", json!({ "url": "https://docs.rs.example" }), "allow"),
        ("claude-code", "WebFetch", json!({ "url": "https://crates.io@evil.example" }), "ask"),
        ("claude-code", "WebFetch", json!({ "url": "https://evil.example" }), "ask"),
        ("claude-code", "WebSearch", json!({ "query": "serde" }), "pass"),
        ("vscode", "fetch_webpage", json!({ "urls": ["https://crates.io", "https://evil.example"] }), "ask"),
        ("gemini", "web_fetch", json!({ "prompt": "Read https://evil.example now" }), "block"),
        ("gemini", "web_fetch", json!({ "prompt": "Read https://crates.io/a now" }), "pass"),
        ("opencode", "webfetch", json!({ "url": "https://evil.example" }), "block"),
    ] {
        assert_eq!(fetch(client, tool, input.clone()), expected, "{client} {input}");
    }
    report(&world, "done");
    report(&world, "done");
    assert_eq!(fetch("claude-code", "WebFetch", crates.clone()), "pass", "the grant ends with the plan");

    // Reading never waits for a store.
    let world = World::new();
    draft(&world, NEEDS);
    world.write("planwright.toml", "[approval\n");
    assert_eq!(decision(&world, "claude-code", "WebFetch", &crates).0, "pass");
}

#[test]
fn a_grant_ends_with_a_revision_and_with_a_pause() {
    let world = World::new();
    draft(&world, NEEDS);
    let shown = world.json("plan show");
    world.run(&format!("plan approve --step-by-step --digest {}", shown["digest"].as_str().unwrap())).done();
    let edit = || decision(&world, "claude-code", "Write", &write("src/a.rs"));
    assert_eq!(edit().0, "allow");
    report(&world, "done");
    let (word, reason) = edit();
    assert!(word == "deny" && reason.contains("paused"), "{word}: {reason}");
    world.run("plan resume");
    assert_eq!(edit().0, "allow", "a person let it go on");
    draft(&world, &NEEDS.replace("- [ ] two", "- [ ] three"));
    let (word, reason) = edit();
    assert!(word == "deny" && reason.contains("waits for a person's approval"), "{word}: {reason}");
    approve(&world);
    assert_eq!(edit().0, "allow");
    world.run("plan cancel").done();
    assert_eq!(edit().0, "deny");
}

/// A call that the plan does not cover, with the setting in the store.
fn asking() -> World {
    let world = World::new();
    draft(&world, NEEDS);
    approve(&world);
    report(&world, "in_progress");
    world.run("config set hook.ask inbox").done();
    world
}

fn push() -> Value {
    json!({ "command": "git push" })
}

fn waiting(world: &World) -> Vec<Value> {
    let items = world.json("inbox")["items"].as_array().unwrap().clone();
    items.into_iter().filter(|item| item["kind"] == "permission").collect()
}

/// The person answers about the call that waits.
fn answer(world: &World, choice: &str) {
    let items = waiting(world);
    let (id, code) = (items[0]["id"].as_str().unwrap(), items[0]["call"]["code"].as_str().unwrap());
    let (grant, words) = choice.split_once(' ').unwrap_or((choice, ""));
    world.run(&format!("inbox answer {id} {grant} --digest {code} {words}")).done();
}

#[test]
fn a_call_that_is_asked_about_in_the_inbox_passes_once_it_is_permitted() {
    for (client, tool) in [("claude-code", "Bash"), ("codex", "Bash"), ("gemini", "run_shell_command")] {
        let world = asking();
        let passes = if client == "claude-code" { "allow" } else { "pass" };
        let again = || decision(&world, client, tool, &push());
        for _ in 0..2 {
            let (word, reason) = again();
            assert!(
                ["deny", "block"].contains(&word.as_str()) && reason.contains("inbox"),
                "{client}: {word}: {reason}"
            );
        }
        let items = waiting(&world);
        assert_eq!(items.len(), 1, "{client}: it is asked about once");
        assert_eq!(items[0]["choices"], json!(["once", "plan", "no"]), "{client}");
        answer(&world, "once");
        assert_eq!(waiting(&world), Vec::<Value>::new());
        assert_eq!(again().0, passes, "{client}");
        assert_ne!(again().0, passes, "{client}: once");
        answer(&world, "plan");
        assert_eq!(
            (again().0.as_str(), again().0.as_str()),
            (passes, passes),
            "{client}: while the plan is carried out"
        );
        // Another call is another question.
        assert_ne!(decision(&world, client, tool, &json!({ "command": "git push --force" })).0, passes);
        answer(&world, "no -- never by force");
        let (_, reason) = decision(&world, client, tool, &json!({ "command": "git push --force" }));
        assert!(reason.contains("did not permit") && reason.contains("never by force"), "{client}: {reason}");
        assert_eq!(counts(&world)["asked"], 3, "{client}");
        world.run("verify").done();
    }
}

#[test]
fn what_was_asked_and_permitted_beside_a_plan_ends_with_it() {
    let world = asking();
    let again = || decision(&world, "claude-code", "Bash", &push());
    again();
    answer(&world, "plan");
    assert_eq!(again().0, "allow");
    decision(&world, "claude-code", "Bash", &json!({ "command": "make" }));
    assert_eq!(waiting(&world).len(), 1);
    draft(&world, &NEEDS.replace("- [ ] two", "- [ ] three"));
    assert_eq!(waiting(&world), Vec::<Value>::new(), "a revision ends it");
    approve(&world);
    let (word, reason) = again();
    assert!(word == "deny" && reason.contains("inbox"), "{word}: {reason}");
    world.run("plan cancel").done();
    assert_eq!(waiting(&world), Vec::<Value>::new());
    world.run("verify").done();
}

/// What a person permits is the call on the file that it led to when they were asked.
#[test]
fn a_link_that_leads_elsewhere_since_is_asked_about_again() {
    let world = asking();
    let lead = |to: &str| {
        let link = world.path("notes.md");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(to, link).unwrap();
    };
    for name in ["one.md", "two.md"] {
        world.write(name, "");
    }
    let again = || decision(&world, "claude-code", "Write", &write("notes.md"));
    lead("one.md");
    assert_eq!(again().0, "deny");
    let items = waiting(&world);
    assert!(items[0]["call"]["reason"].as_str().unwrap().ends_with("It leads to `one.md`."), "{items:?}");
    answer(&world, "plan");
    assert_eq!(again().0, "allow");
    lead("two.md");
    let (word, reason) = again();
    assert!(word == "deny" && reason.contains("inbox"), "{word}: {reason}");
    assert_eq!(waiting(&world).len(), 1);
    answer(&world, "no");
    lead("one.md");
    assert_eq!(again().0, "allow", "it leads there again");
    world.run("verify").done();
}

/// The authors of a repository wrote its entry: the entry can deny calls, and it cannot allow one.
#[test]
fn an_entry_of_the_project_lets_no_call_pass_without_a_question() {
    let world = World::new();
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "plan_set_content", "arguments": { "plan_markdown": NEEDS } },
    });
    talk(&world, "mcp --session other-plan", &[&call.to_string()]).done();
    approve(&world);
    let entry = json!({ "command": "planwright", "args": ["mcp", "--session", "other-plan"] });
    world.write(".mcp.json", &json!({ "mcpServers": { "planwright": entry } }).to_string());
    for (path, expected) in [("src/a.rs", "pass"), ("README.md", "ask")] {
        assert_eq!(decision(&world, "claude-code", "Write", &write(path)).0, expected, "{path}");
    }
}

/// What a person permits is the call in the project: they are not shown another folder.
#[test]
fn nobody_is_asked_about_a_call_that_is_made_elsewhere() {
    let world = asking();
    let (word, reason) = decision(&world, "claude-code", "Bash", &json!({ "command": "git push", "cwd": "/" }));
    assert!(word == "deny" && reason.contains("not made in the project"), "{word}: {reason}");
    assert_eq!(waiting(&world), Vec::<Value>::new());
}

/// The store has it, so an agent's variable does not bring the question back into its own program.
#[test]
fn where_a_person_is_asked_stands_in_the_store() {
    let world = asking();
    world.write("planwright.toml", "[hook]\nask = \"client\"\n");
    let (word, _) = decision(&world, "claude-code", "Bash", &push());
    assert_eq!(word, "deny");
    world.run("config unset hook.ask").done();
    assert_eq!(decision(&world, "claude-code", "Bash", &json!({ "command": "make" })).0, "ask");
    world.write("planwright.toml", "[hook]\nask = \"inbox\"\n");
    assert_eq!(decision(&world, "claude-code", "Bash", &json!({ "command": "make all" })).0, "deny", "it is stricter");
}
