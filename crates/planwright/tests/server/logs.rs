//! What the server writes about itself: for machines, about whom, and nothing that is secret.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::server_process::{Running, TIMEOUT, accept, logged, serve};
use crate::world::World;

const SEVEN: [&str; 7] =
    ["session_identity", "run_id", "goal_id", "task_id", "run_kind", "transport_chat_hash", "event"];

const KEY: &str = "sk-a-key-that-must-stay-secret";
const SAID: &str = "the password of the safe is swordfish";

/// A server that has been talked to, with everything on that can be logged.
fn lively(world: &World, filter: &str) -> String {
    let mut command = serve(world);
    command.arg("--json").env("PLANWRIGHT_LOG", filter).env("OPENAI_API_KEY", KEY);
    let server = Running::started(world, &mut command);
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    server.post("/api/plans/enable", &json!({ "sessionId": session }));
    let messages = format!("/api/sessions/{session}/messages");
    let answer = server.post(&messages, &json!({ "text": SAID })).json();
    let plan = answer["plan"]["planId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    let address = format!("/api/plans/{plan}");
    let digest = server.get(&address).json()["digest"].clone();
    let approved = server.post(&format!("{address}/approve"), &json!({ "digest": digest }));
    assert_eq!(approved.status, 200, "{approved:?}");
    completed(&server, &address);
    server.without_token("/api/sessions?token=in-the-wrong-place");
    server.post("/api/login", &json!({ "token": server.token }));
    assert_eq!(server.stop(), 0);
    session
}

/// The plan is carried out in the background. A plan that ends in another way never becomes COMPLETED.
#[track_caller]
fn completed(server: &Running, address: &str) {
    let begun = Instant::now();
    loop {
        let plan = server.get(address).json();
        match plan["status"].as_str().unwrap() {
            "APPROVED" | "EXECUTING" => assert!(begun.elapsed() < TIMEOUT, "it never ends: {plan}"),
            "COMPLETED" => return,
            other => panic!("it ended as {other}: {plan}"),
        }
    }
}

fn lines(world: &World) -> Vec<Map<String, Value>> {
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    logged(world).lines().map(read).collect()
}

#[test]
fn every_line_is_an_object_with_the_seven_fields() {
    let world = World::new();
    let session = lively(&world, "");
    let lines = lines(&world);
    for line in &lines {
        for name in ["timestamp", "level", "target", "message"].iter().chain(&SEVEN) {
            assert!(line.contains_key(*name), "{name} is not in {line:?}");
        }
        line["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(["INFO", "WARN", "ERROR"].contains(&line["level"].as_str().unwrap()), "{line:?}");
        assert!(line["target"].as_str().unwrap().starts_with("planwright"), "{line:?}");
        let identity = &line["session_identity"];
        assert!(identity.is_null() || *identity == json!(format!("web:{session}")), "{line:?}");
        // These belong to work on goals and tasks, of which there is none.
        for name in ["run_id", "run_kind", "goal_id", "task_id"] {
            assert!(line[name].is_null(), "{line:?}");
        }
        assert!(line["event"].as_str().is_some_and(|event| !event.is_empty()), "{line:?}");
        let transport = &line["transport_chat_hash"];
        assert!(transport.is_null() || transport.as_str().is_some_and(is_hash), "{line:?}");
    }
    let with = |name: &str| lines.iter().filter(|line| !line[name].is_null()).count();
    assert!(with("session_identity") > 5, "{lines:?}");
    assert!(with("transport_chat_hash") > 5, "{lines:?}");
}

#[test]
fn the_lines_of_a_run_name_it_its_task_and_its_goal() {
    let world = World::new();
    let mut command = serve(&world);
    command.arg("--json").env("PLANWRIGHT_APPROVAL_REQUIRE", "any").env("PLANWRIGHT_AUTO_TURNS", "1");
    let server = Running::started(&world, &mut command);
    let session = server.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    let mut runs = Vec::new();
    for (path, title) in [("/api/tasks", "Look around"), ("/api/goals", "No warnings")] {
        server.post(path, &json!({ "sessionId": session, "title": title }));
        let run = server.post("/api/runs", &json!({ "sessionId": session }));
        assert_eq!(run.status, 201, "{run:?}");
        let run = run.json();
        let path = format!("/api/runs/{}?sessionId={session}", run["id"].as_str().unwrap());
        let begun = Instant::now();
        while server.get(&path).json()["state"] == "running" {
            assert!(begun.elapsed() < TIMEOUT, "the run neither pauses nor ends");
        }
        runs.push(run);
    }
    assert_eq!(server.stop(), 0);
    let lines = lines(&world);
    for run in &runs {
        for event in ["run_started", "turn_begun", "turn_ended", "run_ticked"] {
            let line = lines.iter().find(|line| line["event"] == event && line["run_id"] == run["id"]);
            let line = line.unwrap_or_else(|| panic!("{event} of {run} is not in {lines:?}"));
            assert_eq!((&line["run_kind"], &line["task_id"]), (&run["runKind"], &run["taskId"]), "{line:?}");
            assert_eq!(line["goal_id"], run["goalId"], "{line:?}");
        }
    }
    let kinds: Vec<_> = runs.iter().map(|run| run["runKind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["TASK_RUN", "GOAL_RUN"]);
    assert!(runs[0]["goalId"].is_null() && runs[1]["goalId"].is_string());
}

fn is_hash(text: &str) -> bool {
    text.len() >= 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[test]
fn an_operator_reads_what_happened_and_to_whom() {
    let world = World::new();
    let session = lively(&world, "");
    let identity = format!("web:{session}");
    let lines = lines(&world);
    for event in ["session_opened", "turn_begun", "turn_ended", "plan_mode_enabled"] {
        let line = lines.iter().find(|line| line["event"] == event);
        let line = line.unwrap_or_else(|| panic!("{event} is not in {lines:?}"));
        assert_eq!(line["session_identity"], identity, "{line:?}");
    }
    for event in ["plan_approved", "execution_started", "execution_finished"] {
        let line = lines.iter().find(|line| line["event"] == event);
        let line = line.unwrap_or_else(|| panic!("{event} is not in {lines:?}"));
        assert!(line["session_identity"] == identity && line["plan_id"].is_string(), "{line:?}");
    }
    let ended = lines.iter().find(|line| line["event"] == "turn_ended").unwrap();
    assert!(ended["outcome"].is_string() && ended["turn"].is_string(), "{ended:?}");
    for event in ["server_started", "http_request", "server_stopping", "server_stopped"] {
        assert!(lines.iter().any(|line| line["event"] == event), "{event} is not in {lines:?}");
    }
}

#[test]
fn no_secret_and_no_word_that_was_said_is_in_it() {
    for filter in [
        "",
        "planwright=trace,planwright_engine=trace,planwright_store=trace,planwright_surfaces=trace,planwright_llm=trace",
    ] {
        let world = World::new();
        lively(&world, filter);
        let log = logged(&world);
        let token = std::fs::read_to_string(world.path("token")).unwrap();
        for secret in [token.trim(), KEY, "swordfish", "in-the-wrong-place"] {
            assert!(!log.contains(secret), "{secret} is in: {log}");
        }
    }
}

/// The log names the process that died in the middle of a turn and the one that takes over.
#[test]
fn a_session_that_is_taken_over_is_told() {
    let world = World::new();
    let provider = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = serve(&world);
    command.args(["--json", "--model", "openai:silent"]).env("OPENAI_API_KEY", KEY);
    command.env("OPENAI_BASE_URL", format!("http://{}/v1", provider.local_addr().unwrap()));
    let first = Running::started(&world, &mut command);
    let session = first.post("/api/sessions", &json!({})).json()["sessionId"].as_str().unwrap().to_owned();
    let messages = format!("/api/sessions/{session}/messages");
    let _sent = first.begin_to_post(&messages, &json!({ "text": SAID }));
    // The turn is under way when the model is asked, and it never answers.
    let _asked = accept(&provider);
    let first_process = first.id();
    drop(first);
    let second = Running::start(&world);
    second.post(&messages, &json!({ "text": "are you there?" }));
    assert_eq!(second.stop(), 0);
    let lines = lines(&world);
    let line = |event: &str| lines.iter().find(|line| line["event"] == event).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(line("lease_taken_over")["left_by"].as_str().unwrap().contains(&format!("/{first_process}/")), "{lines:?}");
    assert_eq!(line("turn_resumed")["session_identity"], json!(format!("web:{session}")));
    assert!(!logged(&world).contains("swordfish"));
}

#[test]
fn people_read_it_without_braces() {
    let world = World::new();
    let server = Running::started(&world, serve(&world).args(["--json", "--log-format", "pretty"]));
    assert_eq!(server.stop(), 0);
    let log = logged(&world);
    assert!(log.contains("INFO") && log.contains("server_started") && !log.contains('{'), "{log}");
    let world = World::new();
    world.write("planwright.toml", "[server]\nlog_format = \"pretty\"\n");
    assert_eq!(Running::start(&world).stop(), 0);
    assert!(!logged(&world).contains('{'));
}
