//! An upstream server that starts slowly or not at all, as a client of the real program meets it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::process::Command;

use planwright_agent::tokens::Tokens;
use planwright_core::conversation::CountTokens as _;
use serde_json::{Value, json};

use crate::gateway::{Client, SCRIPT, approve, calls};
use crate::world::{World, ran};

const FREE: [(&str, &str); 1] = [("PLANWRIGHT_GATEWAY_WRITES", "free")];

/// A pipe on which the server of the mode `gated` waits.
struct Gate(File);

impl Gate {
    fn new(world: &World) -> Self {
        std::fs::create_dir_all(world.path("notes")).unwrap();
        let path = world.path("notes/gate");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Opened for reading, too, so that it opens before the server does.
        Self(OpenOptions::new().read(true).write(true).open(path).unwrap())
    }

    fn open(&mut self) {
        self.0.write_all(b"go\n").unwrap();
    }
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {listed}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn initialize_and_the_plan_tools_do_not_wait_for_an_upstream_server_and_lists_do() {
    let world = World::new();
    let mut gate = Gate::new(&world);
    // `initialize` is answered here, though the server says nothing.
    let mut client = Client::start(&world, "document", "gated", &FREE);
    let tools = client.request("tools/list", json!({}));
    let call = client.request("tools/call", json!({ "name": "up__note", "arguments": { "text": "early" } }));
    let resources = client.request("resources/list", json!({}));
    let prompts = client.request("prompts/list", json!({}));
    let waiting = [tools, call, resources, prompts];
    let plan = client.request("tools/call", json!({ "name": "plan_get", "arguments": {} }));
    loop {
        let message = client.receive();
        assert!(waiting.iter().all(|id| message["id"] != *id), "answered without the server: {message}");
        if message["id"] == plan {
            assert_eq!(message["result"]["isError"], false, "{message}");
            break;
        }
    }
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] note it" }));
    assert_eq!(calls(&world), [""; 0]);

    gate.open();
    let mut answers: Vec<(u64, Value)> = Vec::new();
    while answers.len() < waiting.len() {
        let message = client.receive();
        answers.extend(waiting.iter().filter(|id| message["id"] == **id).map(|id| (*id, message.clone())));
    }
    let of = |id: u64| answers.iter().find(|(of, _)| *of == id).map(|(_, answer)| answer).unwrap();
    assert!(names(of(tools)).contains(&"up__note"), "{}", of(tools));
    assert_eq!(of(call)["result"]["isError"], false, "{}", of(call));
    assert_eq!(calls(&world), [r#"note {"text": "early"}"#]);
    assert!(of(resources).to_string().contains("planwright://plan/active"), "{}", of(resources));
    assert!(of(prompts).to_string().contains("plan-status"), "{}", of(prompts));
    client.leave();
}

/// Recorded calls keep their order, also when their server is not there yet.
#[test]
fn calls_of_style_collect_wait_in_their_order() {
    let world = World::new();
    let mut gate = Gate::new(&world);
    let mut client = Client::start(&world, "collect", "gated", &FREE);
    for text in ["one", "two"] {
        client.request("tools/call", json!({ "name": "up__note", "arguments": { "text": text } }));
    }
    let add = json!({ "tool": "up__note", "arguments": { "text": "three" } });
    let last = client.request("tools/call", json!({ "name": "plan_add_call", "arguments": add }));
    gate.open();
    client.answer(last);
    let plan = client.succeed("plan_get", json!({}));
    let texts: Vec<_> =
        plan["steps"].as_array().unwrap().iter().map(|step| step["arguments"]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one", "two", "three"], "{plan}");
    client.leave();
}

#[test]
fn a_list_waits_for_a_slow_server_for_a_bounded_time_and_is_told_when_it_answers() {
    let world = World::new();
    let mut gate = Gate::new(&world);
    let mut client = Client::start(&world, "document", "gated", &[("PLANWRIGHT_GATEWAY_START_SECONDS", "1")]);
    let listed = client.ask("tools/list", json!({}));
    assert!(names(&listed).contains(&"plan_get") && !names(&listed).contains(&"up__note"), "{listed}");
    let refused = client.refused("up__note", json!({ "text": "x" }), "UNAVAILABLE");
    assert!(refused.contains("has not listed its tools yet"), "{refused}");
    gate.open();
    while client.receive()["method"] != "notifications/tools/list_changed" {}
    let listed = client.ask("tools/list", json!({}));
    assert!(names(&listed).contains(&"up__note"), "{listed}");
    client.leave();
}

#[test]
fn a_dead_server_is_named_in_its_calls_and_the_plan_tools_work() {
    let world = World::new();
    let mut client = Client::start(&world, "collect", "broken", &FREE);
    let listed = client.ask("tools/list", json!({}));
    assert!(names(&listed).contains(&"plan_finalize") && !names(&listed).contains(&"up__note"), "{listed}");
    for (tool, arguments) in [("up__note", json!({ "text": "x" })), ("plan_add_call", json!({ "tool": "up__note" }))] {
        let refused = client.refused(tool, arguments, "UNAVAILABLE");
        assert!(refused.contains("the licence has expired"), "{refused}");
    }
    client.succeed("plan_get", json!({}));
    client.leave();
}

#[test]
fn a_client_that_leaves_does_not_wait_for_the_server() {
    let world = World::new();
    let _gate = Gate::new(&world);
    let mut client = Client::start(&world, "document", "gated", &FREE);
    client.request("tools/list", json!({}));
    client.leave();
}

/// The tools that the client lists of the server `up`, and whether a person still has to accept them.
fn listed_of_upstream(world: &World) -> usize {
    listed_with_command(world, "plain")
}

fn listed_with_command(world: &World, mode: &str) -> usize {
    let mut client = Client::start(world, "document", mode, &FREE);
    let listed = client.ask("tools/list", json!({}));
    let count = names(&listed).iter().filter(|name| name.starts_with("up__")).count();
    if count == 0 {
        let called = client.ask("tools/call", json!({ "name": "up__note", "arguments": { "text": "early" } }));
        assert!(called.to_string().contains("No person has accepted the tools"), "{called}");
    }
    client.leave();
    count
}

#[test]
fn the_first_offer_of_a_server_that_the_store_never_saw_is_accepted() {
    let world = World::new();
    assert_eq!(listed_of_upstream(&world), 19);
    // The second client finds what the first one had accepted.
    assert_eq!(listed_of_upstream(&world), 19);
}

#[test]
fn a_server_whose_name_or_command_waits_for_a_person_is_not_accepted_by_naming_it() {
    // `add` without a terminal leaves the server waiting.
    for (name, mode) in [("up", "plain"), ("up", "wordy"), ("other", "plain")] {
        let world = World::new();
        std::fs::create_dir_all(world.path("notes")).unwrap();
        let mut add = world.command();
        // The same program as the client's: another file is another command.
        add.env("PATH", std::env::var_os("PATH").unwrap());
        add.args(["mcp-server", "add", name, "--", "python3", SCRIPT, mode]).arg(world.path("notes"));
        assert_eq!(ran(&mut add).code, 2);
        assert_eq!(listed_of_upstream(&world), 0, "{name} {mode}");
        // Removed from the configuration, it is still known.
        world.run(&format!("mcp-server remove {name}")).done();
        assert_eq!(listed_of_upstream(&world), 0, "{name} {mode}");
        assert_eq!(calls(&world), [""; 0]);
    }
}

/// Its tools look the same, and it is another program.
#[test]
fn an_accepted_name_with_another_command_waits_for_a_person() {
    let world = World::new();
    assert_eq!(listed_of_upstream(&world), 19);
    world.run("config set mcp.trust_annotations up").done();
    for _ in 0..2 {
        assert_eq!(listed_with_command(&world, "replaced"), 0);
        assert_eq!(listed_of_upstream(&world), 19, "the accepted command is as it was");
    }
    assert_eq!(calls(&world), [""; 0]);

    let mut add = world.command();
    add.args(["mcp-server", "add", "up", "--json", "--", "python3", SCRIPT, "replaced"]).arg(world.path("notes"));
    let digest = ran(&mut add).error_json()["digest"].as_str().unwrap().to_owned();
    world.run(&format!("mcp-server accept up --digest {digest}")).done();
    assert_eq!(listed_with_command(&world, "replaced"), 19);
    assert_eq!(listed_of_upstream(&world), 0, "the command before waits now");
}

#[test]
fn an_approved_round_does_not_reach_another_command_under_the_accepted_name() {
    let world = World::new();
    let mut client = Client::start(&world, "collect", "plain", &[]);
    client.call("up__note", json!({ "text": "pay" }));
    client.succeed("plan_finalize", json!({}));
    client.leave();
    approve(&world, "");
    let mut client = Client::start(&world, "collect", "replaced", &[]);
    client.ask("tools/list", json!({}));
    assert_eq!(client.succeed("plan_get", json!({}))["status"], "APPROVED");
    client.leave();
    assert_eq!(calls(&world), [""; 0]);
    let mut client = Client::start(&world, "collect", "plain", &[]);
    client.wait_until(|plan| plan["status"] == "COMPLETED");
    client.leave();
    assert_eq!(calls(&world), [r#"note {"text": "pay"}"#]);
}

/// The list of the gateway in style document: the plan tools with a round beside the plan, and no tool of the server.
#[test]
fn the_list_of_the_gateway_stays_below_its_tokens() {
    const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let world = World::new();
    let listed = crate::mcp::talk(&world, "mcp --upstream gone=false", &[LIST]).done().stdout;
    let answers: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let listed = answers.iter().find(|answer| answer["id"] == 1).unwrap();
    assert!(["plan_finalize", "result_read"].iter().all(|tool| names(listed).contains(tool)), "{listed}");
    let shown = |tool: &Value| json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] });
    let counter = Tokens::default();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let tokens: u32 = tools.iter().map(|tool| counter.count(&shown(tool).to_string())).sum();
    println!("gateway: {tokens} tokens in {} tools", tools.len());
    assert!(tokens <= 1_210, "{tokens} tokens: {listed}");
    let row = format!("| 1,476 | {},{:03} |", tokens / 1_000, tokens % 1_000);
    assert!(include_str!("../../../../docs/mcp.md").contains(&row), "{row} in docs/mcp.md");
}
