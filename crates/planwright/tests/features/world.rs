//! What a scenario works with: a fresh store, the real engine on it, and what was answered last.

use std::collections::BTreeMap;

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::event::Event;
use planwright_core::journal::Entry;
use planwright_core::plan::{Digest, Plan, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::StoredSession;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::conversation::Talk;
use crate::life_cycle::Tried;
use crate::process::UnderWay;
use crate::routing::Clients;
use crate::stores::Store;
use crate::telegram::Bot;

#[derive(Debug, Clone, Copy)]
pub(crate) enum StoreKind {
    Sqlite,
    Postgres,
}

tokio::task_local! {
    static KIND: StoreKind;
}

/// Runs a scenario on one of the stores.
pub(crate) async fn on_store<T>(kind: StoreKind, scenario: impl Future<Output = T>) -> T {
    KIND.scope(kind, scenario).await
}

#[derive(cucumber::World)]
#[world(init = Self::new)]
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) engine: Engine,
    /// What the configuration says, from the next start on.
    pub(crate) policy: Policy,
    session: Option<SessionIdentity>,
    /// The result of the last tool call or decision.
    pub(crate) answer: Result<Value, Refusal>,
    /// How many entries each session's journal had before the last call.
    before: BTreeMap<SessionIdentity, u64>,
    pub(crate) seen: Option<Digest>,
    pub(crate) talk: Talk,
    pub(crate) under_way: UnderWay,
    pub(crate) clients: Clients,
    /// A session as it was.
    pub(crate) kept: Option<Box<StoredSession>>,
    pub(crate) browser: Option<Browser>,
    pub(crate) bot: Bot,
    /// What became of each action that the life cycle was asked about.
    pub(crate) tried: Vec<Tried>,
    /// A project folder of the person.
    pub(crate) project: Option<tempfile::TempDir>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "World {{ session: {:?}, answer: {:?} }}", self.session, self.answer)
    }
}

impl World {
    async fn new() -> Self {
        let store = match KIND.get() {
            StoreKind::Sqlite => Store::sqlite(),
            StoreKind::Postgres => Store::postgres().await,
        };
        let engine = store.engine().await;
        Self {
            store,
            engine,
            policy: Policy::default(),
            session: None,
            answer: Ok(Value::Null),
            before: BTreeMap::new(),
            seen: None,
            talk: Talk::new(),
            under_way: UnderWay::new(),
            clients: Clients::default(),
            kept: None,
            browser: None,
            bot: Bot::default(),
            tried: Vec::new(),
            project: None,
        }
    }

    /// Everything in memory is gone afterwards.
    pub(crate) async fn restart(&mut self) {
        self.engine = Engine::new(self.store.ledger().await, self.policy.clone());
        self.talk.forget_agent();
    }

    pub(crate) fn session(&self) -> SessionIdentity {
        self.session.clone().expect("a session was opened")
    }

    pub(crate) async fn open(&mut self, session: &str) {
        let session: SessionIdentity = session.parse().expect("a session");
        self.engine.sessions().open(&session, &person()).await.expect("opened");
        self.session = Some(session);
    }

    pub(crate) fn look_at(&mut self, session: &str) {
        self.session = Some(session.parse().expect("a session"));
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) {
        self.note_journal().await;
        let arguments = arguments.as_object().cloned().expect("arguments are an object");
        self.answer = PlanTools::new(&self.engine).call(&self.session(), &agent(), tool, arguments).await;
    }

    pub(crate) async fn write_plan(&mut self, markdown: &str) {
        self.call("plan_set_content", json!({ "plan_markdown": unescaped(markdown) })).await;
        self.answer.as_ref().expect("the plan is taken");
    }

    pub(crate) async fn note_journal(&mut self) {
        let length = self.journal_length().await;
        self.before.insert(self.session(), length);
    }

    pub(crate) async fn journal_length(&self) -> u64 {
        self.engine.ledger().session(&self.session()).await.expect("readable").map_or(0, |stored| stored.head.seq)
    }

    pub(crate) async fn was_written(&self) -> bool {
        self.before.get(&self.session()) != Some(&self.journal_length().await)
    }

    /// What was written since the journal was looked at last.
    pub(crate) async fn written(&self) -> Vec<Event> {
        let after = self.before.get(&self.session()).copied().unwrap_or_default();
        let entries = self.engine.ledger().journal(&self.session(), after, 10_000).await.expect("readable");
        let read = |body: &str| serde_json::from_str::<Entry>(body).expect("an entry").event;
        entries.iter().map(|entry| read(&entry.body)).collect()
    }

    pub(crate) async fn all_events(&self) -> Vec<Event> {
        let entries = self.engine.ledger().journal(&self.session(), 0, 10_000).await.expect("readable");
        let read = |body: &str| serde_json::from_str::<Entry>(body).expect("an entry").event;
        entries.iter().map(|entry| read(&entry.body)).collect()
    }

    /// Waits until everything that could run by now has run, and what it wrote is written: a session of its own is written
    /// to twice, behind whatever was submitted before.
    pub(crate) async fn settle(&self) {
        let session: SessionIdentity = "cli:settled01".parse().expect("a session");
        self.engine.sessions().open(&session, &person()).await.expect("opened");
        for style in [PlanStyle::Document, PlanStyle::Collect] {
            self.engine.sessions().enable_plan_mode(&session, &person(), style).await.expect("turned on");
        }
    }

    pub(crate) async fn plan(&self, number: u32) -> Plan {
        let reference = number.to_string().parse().expect("a reference");
        let plan = self.engine.plans().find(&self.session(), Some(&reference)).await.expect("the plan is there");
        plan.as_ref().clone()
    }

    pub(crate) async fn turn_on(&mut self, style: PlanStyle) {
        self.engine.sessions().enable_plan_mode(&self.session(), &person(), style).await.expect("turned on");
    }

    pub(crate) fn ok(&self) -> &Value {
        self.answer.as_ref().expect("not refused")
    }

    pub(crate) fn refusal(&self) -> &Refusal {
        self.answer.as_ref().expect_err("refused")
    }
}

pub(crate) fn person() -> Actor {
    Actor::person("ann", "cli")
}

pub(crate) fn agent() -> Actor {
    Actor::agent("some agent", "mcp")
}

/// Features write line ends and tabs as `\n`, `\r` and `\t`.
pub(crate) fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
}
