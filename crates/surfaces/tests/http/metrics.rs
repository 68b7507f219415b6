//! Every metric is seen to move, by requests over TCP to a server with a real store.

use planwright_core::actor::Actor;
use planwright_core::auto::{AutoExecutionContext, RunTarget};
use planwright_core::ids::{GoalId, RunId, TaskId};
use planwright_core::memory::{MemoryKind, NewMemory, ScopeChain};
use planwright_core::model::ModelMessage;
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::client::{next, write};
use crate::world::{TIMEOUT, World};

const SESSION: &str = "session-one";
const OTHER: &str = "session-two";
const MARKDOWN: &str = "# Move the blog\n\n- [ ] copy the files\n";

impl World {
    async fn counting(model: ScriptedModel) -> (Self, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let setup = AgentSetup::new(folder.path());
        let world = Self::with(|options| options.agent = setup.agent(options.ledger.clone(), model)).await;
        world.control.count_truly();
        (world, folder)
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.post_with_key(path, body, None).await
    }

    async fn post_with_key(&self, path: &str, body: Value, key: Option<&str>) -> Value {
        let ask = self.allowed(&format!("POST {path}")).json(&body.to_string());
        let ask = key.iter().fold(ask, |ask, key| ask.header("Idempotency-Key", key));
        let answer = self.send(ask).await;
        assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
        answer.json()
    }

    /// The value of a series, with 0 for one that is not rendered yet.
    async fn metric(&self, series: &str) -> u64 {
        let text = self.send(self.allowed("GET /metrics")).await.body;
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok());
        value.unwrap_or(0)
    }

    async fn until_metric(&self, series: &str, expected: u64) {
        let asking = async { while self.metric(series).await != expected {} };
        timeout(TIMEOUT, asking).await.unwrap_or_else(|_| panic!("{series} is never {expected}"));
    }
}

#[tokio::test]
async fn plan_mode_counts_when_it_is_turned_on_and_only_then() {
    let (world, _folder) = World::counting(ScriptedModel::new([])).await;
    let series = format!("plan_mode_enabled_count{{channel=\"web\",session=\"{SESSION}\"}}");
    world.post("/api/sessions", json!({ "sessionId": SESSION })).await;
    assert_eq!(world.metric(&series).await, 0);

    let on = |style: &str| json!({ "sessionId": SESSION, "style": style });
    world.post_with_key("/api/plans/enable", on("document"), Some("first")).await;
    assert_eq!(world.metric(&series).await, 1);
    // Nothing to do, another plan and style while it is on, and a request that is sent again.
    world.post("/api/plans/enable", on("document")).await;
    world.post("/api/plans/enable", on("build")).await;
    world.post("/api/plans/enable", on("collect")).await;
    world.post_with_key("/api/plans/enable", on("document"), Some("first")).await;
    assert_eq!(world.metric(&series).await, 1);
    assert_eq!(world.metric("plan_mode_active_sessions").await, 1);

    world.post("/api/plans/disable", json!({ "sessionId": SESSION })).await;
    assert_eq!((world.metric(&series).await, world.metric("plan_mode_active_sessions").await), (1, 0));
    world.post("/api/plans/enable", on("document")).await;
    assert_eq!((world.metric(&series).await, world.metric("plan_mode_active_sessions").await), (2, 1));
}

#[tokio::test]
async fn every_other_metric_moves() {
    let (drafting, working) = (Gate::closed(), Gate::closed());
    let model = ScriptedModel::new([
        Reply::call("plan_set_content", json!({ "plan_markdown": MARKDOWN })).behind(&drafting),
        Reply::text("The plan is ready."),
        Reply::call("plan_progress", json!({ "step": 1, "status": "done" })).behind(&working),
        Reply::text("It is done."),
    ]);
    let (world, _folder) = World::counting(model).await;
    assert_eq!((world.metric("store_up").await, world.metric("sessions").await), (1, 0));
    for key in [SESSION, OTHER] {
        world.post("/api/sessions", json!({ "sessionId": key })).await;
    }
    assert_eq!(world.metric("sessions").await, 2);
    let requests = "http_requests_total{method=\"POST\",route=\"/api/sessions\",status=\"201\"}";
    assert_eq!(world.metric(requests).await, 2);
    assert_eq!(world.metric("http_request_seconds_count{route=\"/api/sessions\"}").await, 2);

    world.post("/api/plans/enable", json!({ "sessionId": SESSION })).await;
    let path = format!("/api/sessions/{SESSION}/messages");
    let message = world.post(&path, json!({ "text": "move the blog" }));
    let (answer, ()) = tokio::join!(message, async {
        world.until_metric("open_turns", 1).await;
        drafting.open();
    });
    assert_eq!((world.metric("open_turns").await, world.metric("plans_ready").await), (0, 1));
    let turns: u64 =
        world.metric("turns_total{end=\"answered\"}").await + world.metric("turns_total{end=\"plan_ready\"}").await;
    assert_eq!(turns, 1);

    let plan = answer["planId"].as_str().unwrap();
    let digest = &answer["plan"]["digest"];
    world.post(&format!("/api/plans/{plan}/approve"), json!({ "digest": digest })).await;
    assert_eq!((world.metric("plans_ready").await, world.metric("plans_executing").await), (0, 1));
    working.open();
    world.until_metric("plans_executing", 0).await;

    assert_eq!(world.metric("routing_session_mismatch_blocked_count").await, 0);
    let elsewhere = world.allowed(&format!("GET /api/plans/{plan}?sessionId={OTHER}"));
    world.send(elsewhere).await.assert_problem(404, "NOT_FOUND");
    assert_eq!(world.metric("routing_session_mismatch_blocked_count").await, 1);

    assert_eq!(world.metric("websocket_connections").await, 0);
    let upgrade = world.allowed("GET /ws").header("Connection", "Upgrade").header("Upgrade", "websocket");
    let upgrade = upgrade.header("Sec-WebSocket-Version", "13").header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    let mut stream = world.connect().await;
    write(&mut stream, &upgrade.bytes()).await;
    assert_eq!(next(&mut stream).await.status, 101);
    world.until_metric("websocket_connections", 1).await;
    drop(stream);
    world.until_metric("websocket_connections", 0).await;

    world.control.refuse();
    assert_eq!(world.metric("store_up").await, 0);
}

#[tokio::test]
async fn reads_of_memories_are_counted_by_scope_and_rows_of_others_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let setup = AgentSetup::new(folder.path());
    let mut engine = None;
    let world = World::with(|options| {
        options.agent = setup.agent(options.ledger.clone(), ScriptedModel::new([]));
        engine = Some(options.agent.engine().clone());
    })
    .await;
    let engine = engine.unwrap();
    let series = ["goal_selected", "task_selected", "cross_session_blocked"];
    let counts = async || {
        let mut counts = Vec::new();
        for name in series {
            counts.push(world.metric(&format!("memory_scope_{name}_count")).await);
        }
        counts
    };
    let text = world.send(world.allowed("GET /metrics")).await.body;
    assert!(series.iter().all(|name| text.contains(&format!("\nmemory_scope_{name}_count 0\n"))), "{text}");
    for key in [SESSION, OTHER] {
        world.post("/api/sessions", json!({ "sessionId": key })).await;
    }
    let run = |key: &str, target| {
        AutoExecutionContext::new(format!("web:{key}").parse().unwrap(), RunId::new("run").unwrap(), target)
    };
    let (goal, task) = (GoalId::new("goal").unwrap(), TaskId::new("task").unwrap());
    let goal_run = run(SESSION, RunTarget::Goal { goal, task: task.clone() });
    let task_run = run(SESSION, RunTarget::Task { task: task.clone() });
    engine.memories().search(&ScopeChain::of_session(&task_run.session), "till", 5).await.unwrap();
    assert_eq!(counts().await, [0, 0, 0]);
    engine.memories().search(&ScopeChain::of_run(&task_run), "till", 5).await.unwrap();
    assert_eq!(counts().await, [0, 1, 0]);
    engine.memories().search(&ScopeChain::of_run(&goal_run), "till", 5).await.unwrap();
    assert_eq!(counts().await, [1, 2, 0]);
    // A task of the same name in another session.
    let theirs = run(OTHER, RunTarget::Task { task });
    let new = NewMemory { kind: MemoryKind::Result, run: Some(theirs.clone()), ..NewMemory::by_person("Their till.") };
    engine.memories().save(&theirs.session, &Actor::agent("coder", "web"), new).await.unwrap();
    let found = engine.memories().search(&ScopeChain::of_run(&task_run), "till", 5).await.unwrap();
    assert_eq!((found.found.len(), found.blocked), (0, 1));
    assert_eq!(counts().await, [1, 3, 1]);
}

#[tokio::test]
async fn runs_are_counted_by_kind_and_by_how_they_end() {
    let model = ScriptedModel::answering(|request| {
        let done = matches!(request.messages.last(), Some(ModelMessage::ToolResult { .. }));
        if done { Reply::text("Done.") } else { Reply::call("task_update", json!({ "status": "done" })) }
    });
    let (world, _folder) = World::counting(model).await;
    world.post("/api/sessions", json!({ "sessionId": SESSION })).await;
    let started = |kind: &str| format!("auto_run_started_count{{runKind=\"{kind}\",channel=\"web\"}}");
    let ended = |kind: &str| format!("auto_run_completed_count{{runKind=\"{kind}\",status=\"completed\"}}");
    for (number, kind) in ["TASK_RUN", "GOAL_RUN"].into_iter().enumerate() {
        assert_eq!((world.metric(&started(kind)).await, world.metric(&ended(kind)).await), (0, 0));
        let (path, title) = [("/api/tasks", "Look around"), ("/api/goals", "No warnings")][number];
        world.post(path, json!({ "sessionId": SESSION, "title": title })).await;
        world.post("/api/runs", json!({ "sessionId": SESSION })).await;
        assert_eq!(world.metric(&started(kind)).await, 1);
        world.until_metric(&ended(kind), 1).await;
    }
    // The scopes of the runs were read.
    assert_eq!(world.metric("memory_scope_task_selected_count").await, 2);
    assert_eq!(world.metric("memory_scope_goal_selected_count").await, 1);
}
