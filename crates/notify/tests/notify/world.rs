//! A store in which something waits, and a receiver of webhooks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use planwright_agent::Agent;
use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::presence::Presence;
use planwright_core::session::SessionIdentity;
use planwright_engine::clock::Clock as _;
use planwright_engine::ledger::Ledger;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_notify::options::WebhookOptions;
use planwright_notify::{Notifier, NotifyOptions, NotifyTarget};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::clock::TestClock;
use planwright_test_support::stores::Store;
use planwright_test_support::talk::{Talk as _, Watcher};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

pub(crate) struct World {
    pub(crate) agent: Agent,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) clock: TestClock,
    pub(crate) receiver: Receiver,
    _folder: TempDir,
}

/// A receiver of webhooks, which answers with the statuses that it is given, else with 200. It never answers a call that is to
/// get the status [`HANGS`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    state: Arc<Mutex<ReceiverState>>,
}

#[derive(Debug, Default)]
struct ReceiverState {
    statuses: Vec<u16>,
    received: Vec<(HeaderMap, String)>,
    calls: usize,
    location: String,
}

pub(crate) const HANGS: u16 = 0;

/// Nothing here takes that long; it turns a hanging test into a failing one.
pub(crate) const LONG: Duration = Duration::from_secs(60);

impl Receiver {
    pub(crate) async fn start() -> Self {
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

    /// Redirects lead there.
    pub(crate) fn redirect_to(&self, url: &str) {
        self.state.lock().unwrap().location = url.to_owned();
    }

    /// All calls, also those that were not answered with success.
    pub(crate) fn calls(&self) -> usize {
        self.state.lock().unwrap().calls
    }

    /// The calls that were answered with success, each with its body as it came.
    pub(crate) fn bodies(&self) -> Vec<(HeaderMap, String)> {
        self.state.lock().unwrap().received.clone()
    }

    pub(crate) fn received(&self) -> Vec<(HeaderMap, Value)> {
        let received = self.bodies().into_iter();
        received.map(|(headers, body)| (headers, serde_json::from_str(&body).unwrap())).collect()
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        self.received().iter().flat_map(|(_, body)| body["events"].as_array().unwrap().clone()).collect()
    }
}

async fn receive(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> Response {
    let (status, location) = {
        let mut state = receiver.state.lock().unwrap();
        state.calls += 1;
        let status = if state.statuses.is_empty() { 200 } else { state.statuses.remove(0) };
        if status == 200 {
            state.received.push((headers, body));
        }
        (status, [("Location", state.location.clone())])
    };
    match status {
        HANGS => std::future::pending().await,
        status => (StatusCode::from_u16(status).unwrap(), location).into_response(),
    }
}

impl World {
    pub(crate) async fn new(model: ScriptedModel) -> Self {
        Self::with(model, |_| {}).await
    }

    pub(crate) async fn with(model: ScriptedModel, change: impl FnOnce(&mut AgentSetup)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = AgentSetup::new(folder.path()).ledger().await;
        Self::over(folder, ledger, model, change).await
    }

    /// On this store.
    pub(crate) async fn on(store: &Store) -> Self {
        Self::over(tempfile::tempdir().unwrap(), store.ledger().await, quiet_model(), |_| {}).await
    }

    async fn over(
        folder: TempDir,
        ledger: Arc<dyn Ledger>,
        model: ScriptedModel,
        change: impl FnOnce(&mut AgentSetup),
    ) -> Self {
        let clock = TestClock::stopped();
        let mut setup = AgentSetup::new(folder.path());
        setup.clock = Some(clock.clone());
        change(&mut setup);
        let agent = setup.agent(ledger.clone(), model);
        Self { agent, ledger, clock, receiver: Receiver::start().await, _folder: folder }
    }

    pub(crate) fn webhook(&self, url: &str) -> WebhookOptions {
        WebhookOptions {
            url: url.to_owned(),
            secret: Some("a key".into()),
            allow_private: true,
            answer_time: Duration::from_secs(10),
        }
    }

    pub(crate) fn options(&self, owner: &str) -> NotifyOptions {
        let webhook = self.webhook(&self.receiver.url);
        NotifyOptions {
            to: vec![NotifyTarget::Webhook],
            after: Duration::from_secs(60),
            webhook: Some(webhook),
            public_url: Some("https://plans.example.org".to_owned()),
            owner: owner.to_owned(),
            ..NotifyOptions::default()
        }
    }

    pub(crate) fn notifier(&self, options: NotifyOptions) -> Notifier {
        self.notifier_on(self.ledger.clone(), options)
    }

    /// A notifier with another way to the store.
    pub(crate) fn notifier_on(&self, ledger: Arc<dyn Ledger>, options: NotifyOptions) -> Notifier {
        Notifier::new(self.agent.engine().clone(), ledger, options, None).unwrap()
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
        PlanTools::new(self.agent.engine()).call(&session, &agent, "plan_set_content", content).await.unwrap();
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
    Actor::person("ada", "web").recognised(Presence::channel())
}

pub(crate) fn quiet_model() -> ScriptedModel {
    ScriptedModel::answering(|_| Reply::text("ok"))
}
