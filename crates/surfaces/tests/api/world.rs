//! The REST calls without the server's middleware, and a client for them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use planwright_agent::Agent;
use planwright_engine::ledger::Ledger;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// Nothing here takes that long; it turns a hanging test into a failing one.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);
pub(crate) const SESSION: &str = "session-one";
pub(crate) const OTHER: &str = "session-two";
pub(crate) const MARKDOWN: &str = "# Move the blog\n\n- [ ] copy the files\n- [ ] change the name\n";

pub(crate) struct World {
    folder: TempDir,
    pub(crate) model: ScriptedModel,
    pub(crate) agent: Agent,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) stopping: CancellationToken,
    pub(crate) router: Router,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Received {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Received {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn with(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        self.json()
    }

    /// A refusal, with everything that every refusal has.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Value {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let problem = self.with(status);
        assert_eq!((&problem["code"], &problem["status"]), (&json!(code), &json!(status)), "{problem}");
        assert!(!problem["detail"].as_str().unwrap().is_empty() && !problem["title"].as_str().unwrap().is_empty());
        problem
    }
}

impl World {
    /// Changes the store behind the server's back; gives the number of changed rows.
    pub(crate) fn tamper(&self, sql: &str) -> usize {
        let database = rusqlite::Connection::open(self.store()).unwrap();
        database.execute(sql, []).unwrap()
    }

    /// Two sessions that have begun, and a model that answers by this script.
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::set_up(ScriptedModel::new(replies), |_| {}).await
    }

    /// A world with other settings.
    pub(crate) async fn set_up(model: ScriptedModel, change: impl FnOnce(&mut AgentSetup)) -> Self {
        let world = Self::made_of(model, change).await;
        for key in [SESSION, OTHER] {
            world.post("/api/sessions", json!({ "sessionId": key })).await.with(201);
        }
        world
    }

    pub(crate) async fn empty(model: ScriptedModel) -> Self {
        Self::made_of(model, |_| {}).await
    }

    async fn made_of(model: ScriptedModel, change: impl FnOnce(&mut AgentSetup)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = AgentSetup::new(folder.path());
        change(&mut setup);
        let ledger = setup.ledger().await;
        let agent = setup.agent(ledger.clone(), model.clone());
        let stopping = CancellationToken::new();
        let router = planwright_surfaces::http::rest(agent.clone(), ledger.clone(), stopping.clone());
        Self { folder, model, agent, ledger, stopping, router }
    }

    /// The file of the store.
    pub(crate) fn store(&self) -> std::path::PathBuf {
        AgentSetup::new(self.folder.path()).database()
    }

    /// A plan that waits for a person, in the first session; its number is 1.
    pub(crate) async fn with_plan(more: impl IntoIterator<Item = Reply>) -> (Self, Value) {
        let world = Self::new(drafting().into_iter().chain(more)).await;
        world.post("/api/plans/enable", json!({ "sessionId": SESSION })).await.with(200);
        let answer = world.say("move the blog").await.with(200);
        assert_eq!(answer["plan"]["status"], "READY", "{answer}");
        let plan = world.get(&format!("/api/plans/{}", answer["planId"].as_str().unwrap())).await.with(200);
        (world, plan)
    }

    /// A server of its own on the same store, with the same model.
    pub(crate) async fn another_process(&self, owner: &str) -> Router {
        let setup = AgentSetup::new(self.folder.path()).owned_by(owner);
        let ledger = setup.ledger().await;
        let agent = setup.agent(ledger.clone(), self.model.clone());
        planwright_surfaces::http::rest(agent, ledger, self.stopping.clone())
    }

    /// The interface of another process on the same store.
    pub(crate) fn another(&self) -> Router {
        planwright_surfaces::http::rest(self.agent.clone(), self.ledger.clone(), self.stopping.clone())
    }

    pub(crate) async fn get(&self, path: &str) -> Received {
        self.call(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Received {
        self.call(Request::delete(path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Received {
        self.call(posting(path).body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Received {
        let request = Request::patch(path).header("content-type", "application/json");
        self.call(request.body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Received {
        let request = Request::put(path).header("content-type", "application/json");
        self.call(request.body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn post_with_key(&self, path: &str, key: &str, body: Value) -> Received {
        let request = posting(path).header("idempotency-key", key);
        self.call(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Types it into the first session.
    pub(crate) async fn say(&self, text: &str) -> Received {
        self.post(&format!("/api/sessions/{SESSION}/messages"), json!({ "text": text })).await
    }

    pub(crate) async fn call(&self, request: Request<Body>) -> Received {
        came(self.send(request).await).await
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Response {
        sent(self.router.clone(), request).await
    }

    /// The plan, as soon as it is in this status. It is looked at again whenever something was written.
    pub(crate) async fn wait_for(&self, plan: &str, status: &str) -> Value {
        let mut changes = self.ledger.changes();
        let waiting = async {
            loop {
                let now = self.get(&format!("/api/plans/{plan}")).await.with(200);
                if now["status"] == status {
                    return now;
                }
                changes.recv().await.unwrap();
            }
        };
        tokio::time::timeout(TIMEOUT, waiting).await.unwrap_or_else(|_| panic!("plan {plan} is never {status}"))
    }

    /// Waits until no turn of the session is open.
    pub(crate) async fn idle(&self, session: &str) {
        let mut changes = self.ledger.changes();
        let identity = format!("web:{session}").parse().unwrap();
        let waiting = async {
            while self.agent.engine().sessions().get(&identity).await.unwrap().turn.is_some() {
                changes.recv().await.unwrap();
            }
        };
        tokio::time::timeout(TIMEOUT, waiting).await.unwrap_or_else(|_| panic!("{session} is never idle"));
    }

    pub(crate) async fn event_names(&self, session: &str) -> Vec<String> {
        let journal = self.get(&format!("/api/sessions/{session}/journal")).await.with(200);
        let entries = journal["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["type"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) async fn sent(router: Router, request: Request<Body>) -> Response {
    let answer = tokio::time::timeout(TIMEOUT, router.oneshot(request)).await;
    answer.expect("it answers").unwrap()
}

pub(crate) async fn came(response: Response) -> Received {
    let (parts, body) = response.into_parts();
    let bytes = tokio::time::timeout(TIMEOUT, axum::body::to_bytes(body, usize::MAX)).await.unwrap().unwrap();
    Received { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
}

fn posting(path: &str) -> axum::http::request::Builder {
    Request::post(path).header("content-type", "application/json")
}

/// The agent writes a document, and says so.
pub(crate) fn drafting() -> [Reply; 2] {
    [Reply::call("plan_set_content", json!({ "plan_markdown": MARKDOWN })), Reply::text("The plan is ready.")]
}

/// The agent works through the document.
pub(crate) fn carrying_out() -> [Reply; 3] {
    let done = |step: u32| Reply::call("plan_progress", json!({ "step": step, "status": "done" }));
    [done(1), done(2), Reply::text("Everything is done.")]
}
