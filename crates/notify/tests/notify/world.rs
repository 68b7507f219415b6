//! A store in which something waits, and a receiver of webhooks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use planwright_core::actor::Actor;
use planwright_core::presence::Presence;
use planwright_core::session::SessionIdentity;
use planwright_engine::agent::Agent;
use planwright_engine::clock::Clock as _;
use planwright_engine::server_ledger::ServerLedger;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_notify::options::WebhookOptions;
use planwright_notify::{Notifier, NotifyOptions, Target};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::clock::TestClock;
use planwright_test_support::talk::{Talk as _, Watcher};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

pub(crate) struct World {
    pub(crate) agent: Agent,
    pub(crate) ledger: Arc<dyn ServerLedger>,
    pub(crate) clock: TestClock,
    pub(crate) receiver: Receiver,
    _folder: TempDir,
}

/// A receiver of webhooks, which answers with the statuses that it is given, else with 200.
#[derive(Debug, Clone, Default)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    state: Arc<Mutex<ReceiverState>>,
}

#[derive(Debug, Default)]
struct ReceiverState {
    statuses: Vec<u16>,
    received: Vec<(HeaderMap, Value)>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let receiver = Self { url, state: Arc::default() };
        let routes = Router::new().route("/hook", post(receive)).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        receiver
    }

    /// The next calls are answered with these.
    pub(crate) fn answer(&self, statuses: &[u16]) {
        self.state.lock().unwrap().statuses = statuses.to_vec();
    }

    pub(crate) fn received(&self) -> Vec<(HeaderMap, Value)> {
        self.state.lock().unwrap().received.clone()
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        self.received().iter().flat_map(|(_, body)| body["events"].as_array().unwrap().clone()).collect()
    }
}

async fn receive(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> Response {
    let mut state = receiver.state.lock().unwrap();
    let status = if state.statuses.is_empty() { 200 } else { state.statuses.remove(0) };
    if status == 200 {
        state.received.push((headers, serde_json::from_str(&body).unwrap()));
    }
    let location = [("Location", "http://127.0.0.1:1/secret")];
    (StatusCode::from_u16(status).unwrap(), location).into_response()
}

impl World {
    pub(crate) async fn new(model: ScriptedModel) -> Self {
        Self::with(model, |_| {}).await
    }

    pub(crate) async fn with(model: ScriptedModel, change: impl FnOnce(&mut AgentSetup)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = TestClock::stopped();
        let mut setup = AgentSetup::new(folder.path());
        setup.clock = Some(clock.clone());
        change(&mut setup);
        let ledger = setup.ledger().await;
        let agent = setup.agent(ledger.clone(), model);
        Self { agent, ledger, clock, receiver: Receiver::start().await, _folder: folder }
    }

    pub(crate) fn options(&self, owner: &str) -> NotifyOptions {
        let webhook =
            WebhookOptions { url: self.receiver.url.clone(), secret: Some("a key".into()), allow_private: true };
        NotifyOptions {
            to: vec![Target::Webhook],
            after: Duration::from_secs(60),
            webhook: Some(webhook),
            public_url: Some("https://plans.example.org".to_owned()),
            owner: owner.to_owned(),
            ..NotifyOptions::default()
        }
    }

    pub(crate) fn notifier(&self, options: NotifyOptions) -> Notifier {
        Notifier::new(self.agent.engine().clone(), self.ledger.clone(), options, None).unwrap()
    }

    /// A session in which a plan waits.
    pub(crate) async fn waiting(&self, key: &str) -> SessionIdentity {
        let session: SessionIdentity = format!("web:{key}").parse().unwrap();
        let by = person();
        self.agent.engine().sessions().open(&session, &by).await.unwrap();
        let style = planwright_core::plan::PlanStyle::Document;
        self.agent.engine().sessions().enable_plan_mode(&session, &by, style).await.unwrap();
        let content = json!({ "plan_markdown": format!("- [ ] work of {key}"), "title": format!("Plan of {key}") });
        let agent = Actor::agent("scripted", "test");
        let content = content.as_object().unwrap().clone();
        self.agent.engine().tools().call(&session, &agent, "plan_set_content", content).await.unwrap();
        session
    }

    pub(crate) async fn say(&self, session: &SessionIdentity, text: &str) {
        self.agent.engine().sessions().open(session, &person()).await.unwrap();
        let _ = self.agent.send(session, &person(), text, &Watcher::none()).await.unwrap();
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(crate) fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }
}

pub(crate) fn person() -> Actor {
    Actor::person("ada", "web").recognised(Presence::Channel)
}

pub(crate) fn quiet_model() -> ScriptedModel {
    ScriptedModel::answering(|_| Reply::text("ok"))
}
