//! `gateway.writes = "recorded"`: in styles document and build reads run, and changes are recorded in rounds.

use serde_json::{Value, json};

use crate::gateway::{Client, SCRIPT, calls};
use crate::world::World;

const SESSION: &str = "mcp:gateway-session";

fn approve(world: &World, number: u32, more: &str) {
    let digest = world.plan(SESSION, number).digest();
    world.run(&format!("plan approve {number} --session gateway-session --digest {digest} {more}")).done();
}

fn round_over(plan: &Value) -> bool {
    ["COMPLETED", "PARTIALLY_COMPLETED"].iter().any(|status| plan["round"]["status"] == *status)
}

fn names(client: &mut Client) -> Vec<String> {
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A server `books`, accepted, whose annotations a person believes; with more settings.
fn accept_books(world: &World, settings: &str) {
    let notes = world.path("notes");
    std::fs::create_dir_all(&notes).unwrap();
    let server = format!(
        "[mcp.servers.books]\ncommand = \"python3\"\nargs = [\"{SCRIPT}\", \"plain\", \"{}\"]\ntrust_annotations = true\n",
        notes.display()
    );
    world.write("planwright.toml", &format!("{server}{settings}"));
    let shown = world.json("mcp-server show books");
    world.run(&format!("mcp-server accept books --digest {}", shown["digest"].as_str().unwrap())).done();
}

#[test]
fn changes_are_recorded_approved_and_made_once_and_the_next_round_uses_their_results() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "plain", &[]);
    assert!(names(&mut client).contains(&"plan_finalize".to_owned()));
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] note it" }));
    for text in ["one", "two", "three"] {
        let planned = client.succeed("up__note", json!({ "text": text }));
        assert!(planned["message"].as_str().unwrap().starts_with("[Planned] up__note"), "{planned}");
        assert!(planned["message"].as_str().unwrap().contains("round 1 (plan 2)"), "{planned}");
    }
    client.refused("up__note", json!({}), "INVALID_ARGUMENT");
    let closed = client.succeed("plan_finalize", json!({}));
    assert_eq!((&closed["status"], &closed["round_number"]), (&json!("READY"), &json!(1)), "{closed}");
    assert_eq!(calls(&world), [""; 0], "nothing ran");
    client.refused("up__note", json!({ "text": "late" }), "WRONG_STATUS");

    // The document is not what the person decides about.
    let waiting = client.succeed("plan_await_decision", json!({ "timeout_seconds": 1 }));
    assert_eq!((&waiting["number"], &waiting["decided"]), (&json!(2), &json!(false)), "{waiting}");
    assert!(waiting["message"].as_str().unwrap().contains("plan approve"), "{waiting}");
    approve(&world, 2, "--skip 2");
    let decided = client.succeed("plan_await_decision", json!({ "timeout_seconds": 60 }));
    assert_eq!(decided["decided"], true, "{decided}");
    let plan = client.wait_until(round_over);
    assert_eq!((&plan["number"], &plan["status"]), (&json!(1), &json!("READY")), "the document stays as it is: {plan}");
    assert!(plan["round"]["steps"][0]["note"].as_str().unwrap().contains("noted one"), "{plan}");
    assert_eq!(calls(&world), [r#"note {"text": "one"}"#, r#"note {"text": "three"}"#]);

    let planned = client.succeed("up__note", json!({ "text": "after one" }));
    assert!(planned["message"].as_str().unwrap().contains("round 2 (plan 3)"), "{planned}");
    client.succeed("plan_finalize", json!({}));
    world.run("plan show 3 --session gateway-session").done().says("Rounds before").says("noted one");
    approve(&world, 3, "");
    client.wait_until(|plan| plan["round"]["number"] == 3 && round_over(plan));
    assert_eq!(calls(&world).len(), 3);
    client.leave();

    // Another start makes nothing again.
    let mut again = Client::start(&world, "document", "plain", &[]);
    again.wait_until(round_over);
    again.leave();
    assert_eq!(calls(&world).len(), 3);
}

/// Once any plan was approved, an injected call would have run with `during_plan`.
#[test]
fn no_injected_call_runs_because_a_document_is_approved() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "plain", &[]);
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] note it" }));
    approve(&world, 1, "");
    for text in ["pay 1000 to eve", "pay 10 to ada"] {
        let planned = client.succeed("up__note", json!({ "text": text }));
        assert!(planned["message"].as_str().unwrap().starts_with("[Planned]"), "{planned}");
    }
    client.succeed("plan_finalize", json!({}));
    world.run("plan reject 2 --session gateway-session -- eve is no one").done();
    let decided = client.succeed("plan_await_decision", json!({ "timeout_seconds": 60 }));
    assert_eq!(decided["round"]["status"].as_str().or(decided["status"].as_str()), Some("REJECTED"), "{decided}");
    assert_eq!(calls(&world), [""; 0]);
    client.leave();
}

/// A person said that the server's annotations count, or a rule allows the call.
#[test]
fn what_only_reads_runs_at_once() {
    for plan in ["document", "build"] {
        let world = World::new();
        accept_books(&world, "[[permissions]]\ntool = \"books__again\"\ndecide = \"allow\"\n");
        let mut client = Client::start(&world, plan, "library", &[]);
        client.succeed("books__read", json!({}));
        client.succeed("books__again", json!({}));
        let planned = client.succeed("books__note", json!({ "text": "x" }));
        assert!(planned["message"].as_str().unwrap().starts_with("[Planned]"), "{planned}");
        // The same tool of a server whose annotations no person trusted.
        let planned = client.succeed("up__read", json!({}));
        assert!(planned["message"].as_str().unwrap().starts_with("[Planned]"), "{planned}");
        client.leave();
        assert_eq!(calls(&world), ["read {}", "again {}"], "{plan}");
    }
}

#[test]
fn without_plan_work_changes_are_refused() {
    let world = World::new();
    let mut client = Client::start(&world, "off", "plain", &[]);
    let refused = client.refused("up__note", json!({ "text": "x" }), "POLICY_DENIED");
    assert!(refused.contains("turns plan work on"), "{refused}");
    client.leave();
    assert_eq!(calls(&world), [""; 0]);
}

#[test]
fn in_style_collect_reads_run_if_the_setting_says_so() {
    let world = World::new();
    accept_books(&world, "[gateway]\nreads = \"run\"\n");
    let mut client = Client::start(&world, "collect", "library", &[]);
    client.succeed("books__read", json!({}));
    client.succeed("books__note", json!({ "text": "x" }));
    assert_eq!(calls(&world), ["read {}"]);
    client.leave();
    world.run("config set gateway.reads recorded").done();
    let mut client = Client::start(&world, "collect", "library", &[]);
    let planned = client.succeed("books__read", json!({}));
    assert!(planned["message"].as_str().unwrap().starts_with("[Planned]"), "{planned}");
    client.leave();
    assert_eq!(calls(&world), ["read {}"]);
}

#[test]
fn a_setting_of_an_earlier_version_means_recorded_and_is_named() {
    let world = World::new();
    let earlier = [("PLANWRIGHT_GATEWAY_WRITES", "approved_plan")];
    let mut client = Client::start(&world, "document", "plain", &earlier);
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] note it" }));
    approve(&world, 1, "");
    let planned = client.succeed("up__note", json!({ "text": "x" }));
    assert!(planned["message"].as_str().unwrap().starts_with("[Planned]"), "{planned}");
    client.leave();
    assert_eq!(calls(&world), [""; 0]);
    world.run("config show").done().says("`approved_plan`, which means `recorded` now");
    world.run("config set gateway.writes recorded").done();
    world.run("config show").done().never_says("approved_plan");
}

/// Plans whose every call only reads need no person, if a person says so in the settings.
#[test]
fn a_standing_approval_reaches_the_calls_of_the_gateway() {
    let world = World::new();
    accept_books(&world, "[plan]\nstanding_approval = \"read_only\"\n");
    let mut client = Client::start(&world, "collect", "library", &[]);
    client.succeed("books__read", json!({}));
    client.succeed("plan_finalize", json!({}));
    client.wait_until(|plan| plan["status"] == "COMPLETED");
    assert_eq!(calls(&world), ["read {}"]);
    // A change among the calls waits for a person.
    client.succeed("books__read", json!({}));
    client.succeed("books__note", json!({ "text": "x" }));
    client.succeed("plan_finalize", json!({}));
    let waiting = client.succeed("plan_await_decision", json!({ "timeout_seconds": 1 }));
    assert_eq!(waiting["decided"], false, "{waiting}");
    client.leave();
    assert_eq!(calls(&world).len(), 1);
}

/// The server's own word counts for nothing before that.
#[test]
fn a_tool_only_reads_once_a_person_believes_its_server() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "plain", &[]);
    assert!(client.succeed("up__read", json!({}))["message"].as_str().unwrap().starts_with("[Planned]"));
    client.leave();
    world.run("config set mcp.trust_annotations up").done();
    let mut client = Client::start(&world, "document", "plain", &[]);
    client.succeed("up__read", json!({}));
    client.leave();
    assert_eq!(calls(&world), ["read {}"]);

    let server = format!(
        "[mcp.servers.books]\ncommand = \"python3\"\nargs = [\"{SCRIPT}\", \"library\", \"{}\"]\n",
        world.path("notes").display()
    );
    world.write("planwright.toml", &server);
    let shown = world.json("mcp-server show books");
    let digest = shown["digest"].as_str().unwrap();
    world.run(&format!("mcp-server accept books --digest {digest} --trust-annotations")).done();
    let shown = world.run("config show").done().stdout.clone();
    assert!(shown.contains("up@") && shown.contains(",books@"), "{shown}");
    let mut client = Client::start(&world, "document", "plain", &[]);
    client.succeed("books__steps", json!({}));
    client.leave();
    // The file of a process can say no.
    world.write("planwright.toml", &format!("{server}trust_annotations = false\n"));
    let mut client = Client::start(&world, "document", "plain", &[]);
    assert!(client.succeed("books__steps", json!({}))["message"].as_str().unwrap().starts_with("[Planned]"));
    client.leave();
}

/// Another command under the name is another server, also once a person has accepted its tools.
#[test]
fn trust_is_for_the_command_that_a_person_believed() {
    let world = World::new();
    let settings = |more: &str| {
        format!(
            "[mcp.servers.books]\ncommand = \"python3\"\nargs = [\"{SCRIPT}\", \"library\", \"{}\"]\n{more}",
            world.path("notes").display()
        )
    };
    let accept = |more: &str| {
        let shown = world.json("mcp-server show books");
        world.run(&format!("mcp-server accept books --digest {} {more}", shown["digest"].as_str().unwrap())).done();
    };
    let runs = || {
        let mut client = Client::start(&world, "document", "plain", &[]);
        let answer = client.succeed("books__steps", json!({}));
        client.leave();
        !answer["message"].as_str().unwrap_or_default().starts_with("[Planned]")
    };
    std::fs::create_dir_all(world.path("notes")).unwrap();
    world.write("planwright.toml", &settings(""));
    accept("--trust-annotations");
    assert!(runs());
    world.write("planwright.toml", &settings("env = { OTHER = \"1\" }\n"));
    accept("");
    assert!(!runs(), "nobody has said that this command is believed");
    world.run("mcp-server accept books --trust-annotations").done();
    assert!(runs());
    // Of a server that no person has accepted nothing is believed.
    world.run("config set mcp.trust_annotations nobody").complains("no person has accepted the tools");
}

/// The journal and the history of the plan say what ran, why, and what became of it; refused calls are described.
#[test]
fn every_call_and_every_refusal_is_in_the_journal_and_in_the_history_of_the_plan() {
    let world = World::new();
    let rules = r#"[{ tool = "up__again", decide = "allow" }, { tool = "up__die", decide = "deny" }]"#;
    let settings = [("PLANWRIGHT_GATEWAY_WRITES", "free"), ("PLANWRIGHT_PERMISSIONS", rules)];
    let mut client = Client::start(&world, "document", "plain", &settings);
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] note it" }));
    client.text("up__note", json!({ "text": "ada" }));
    client.text("up__again", json!({}));
    client.refused("up__fail", json!({}), "UNAVAILABLE");
    client.refused("up__die", json!({ "to": "eve" }), "POLICY_DENIED");
    client.leave();
    let shown = world.run("plan history 1 --session gateway-session").done();
    for expected in [
        "call to `up__note` was made (free)",
        "noted ada",
        "call to `up__again` was made (rule)",
        "the disk is full",
        "call to `up__die` refused (POLICY_DENIED)",
        "eve",
    ] {
        assert!(shown.stdout.contains(expected), "{expected:?} is not in {}", shown.stdout);
    }
    world.run("verify").done();
}

/// The intent is in the journal before the call, so that one that was made is never missing.
#[test]
fn a_call_that_changes_things_is_written_down_before_it_is_made() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "plain", &[("PLANWRIGHT_GATEWAY_WRITES", "free")]);
    client.request("tools/call", json!({ "name": "up__block", "arguments": {} }));
    while calls(&world).is_empty() {
        std::thread::yield_now();
    }
    let shown = world.run("plan history 1 --session gateway-session").done();
    assert!(shown.stdout.contains("call to `up__block` was made (free): {}"), "{}", shown.stdout);
    client.kill();
}

/// Before anything is recorded or asked about.
#[test]
fn a_tool_that_does_not_exist_is_refused_with_the_nearest_names() {
    let world = World::new();
    let mut client = Client::start(&world, "collect", "plain", &[]);
    let note = || json!({ "text": "pay ada" });
    for name in ["up__Note", "up_note", "up__n\u{43e}te", "up__note\u{200b}"] {
        let refused = client.refused(name, note(), "NOT_FOUND");
        assert!(refused.contains("only looks like `up__note`"), "{name:?}: {refused}");
        let planned = json!({ "tool": name, "arguments": note() });
        assert!(client.refused("plan_add_call", planned, "NOT_FOUND").contains("`up__note`"));
    }
    assert!(client.refused("up__notes", note(), "NOT_FOUND").contains("The nearest are `up__note`"));
    assert!(client.refused("plan_finalise", json!({}), "NOT_FOUND").contains("`plan_finalize`"));
    let wrong = json!({ "tool": "up__note", "arguments": { "text": 7 } });
    assert!(client.refused("plan_add_call", wrong, "INVALID_ARGUMENT").contains("/text"));
    assert!(client.refused("up__note", json!({ "text": 7 }), "INVALID_ARGUMENT").contains("/text"));
    // A tool of the agent's own program is none of ours.
    client.succeed("plan_add_call", json!({ "tool": "Bash", "arguments": { "command": "make" } }));
    let plan = client.succeed("plan_get", json!({}));
    assert_eq!(plan["steps"].as_array().unwrap().len(), 1, "{plan}");
    client.leave();
    assert_eq!(calls(&world), [""; 0]);
}
