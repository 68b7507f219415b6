//! A conversation with a scripted model over a real store, and looks at what was stored and sent.

use std::path::PathBuf;
use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::event::Event;
use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::plan::Plan;
use planwright_core::policy::Policy;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity, TransportChat};
use planwright_engine::Engine;
use planwright_engine::agent::{Agent, AgentOptions, Answer, Place, Progress, TurnOutcome, Watcher};
use planwright_engine::ledger::Ledger;
use planwright_engine::toolbox::files::{FileLimits, FileTools};
use planwright_engine::toolbox::{Tool, Toolbox};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_store::SqliteLedger;
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) model: ScriptedModel,
    pub(crate) agent: Agent,
    pub(crate) session: SessionIdentity,
    pub(crate) policy: Policy,
    pub(crate) options: AgentOptions,
    pub(crate) tools: Toolbox,
}

impl World {
    /// A session that has begun, and a model that answers by this script.
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(ScriptedModel::new(replies), |_| {}).await
    }

    pub(crate) async fn with(model: ScriptedModel, change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup {
            policy: Policy::default(),
            options: AgentOptions::new("the test"),
            tools: Toolbox::default(),
            session: session("session-one"),
        };
        change(&mut setup);
        let folder = tempfile::tempdir().unwrap();
        let Setup { policy, options, tools, session } = setup;
        let agent = start(&folder, &model, &policy, &options, &tools).await;
        agent.engine().open(&session, &person()).await.unwrap();
        Self { folder, model, agent, session, policy, options, tools }
    }

    /// Another process on the same store, with another name.
    pub(crate) async fn another(&self, model: &ScriptedModel, owner: &str) -> Agent {
        let options = AgentOptions { owner: owner.to_owned(), ..self.options.clone() };
        start(&self.folder, model, &self.policy, &options, &self.tools).await
    }

    pub(crate) async fn say(&self, text: &str) -> TurnOutcome {
        self.agent.send(&self.session, &person(), text, &Watcher::nobody()).await.unwrap()
    }

    /// Whatever a person types, a message or a command.
    pub(crate) async fn hear(&self, text: &str) -> Answer {
        self.agent.hear(&self.place(), &person(), text, &Watcher::nobody()).await.unwrap()
    }

    /// The same with everything that was told on the way.
    pub(crate) async fn watch(&self, text: &str) -> (TurnOutcome, Vec<Progress>) {
        let (watcher, mut told) = Watcher::new();
        let outcome = self.agent.send(&self.session, &person(), text, &watcher).await.unwrap();
        drop(watcher);
        let mut progress = Vec::new();
        while let Ok(one) = told.try_recv() {
            progress.push(one);
        }
        (outcome, progress)
    }

    pub(crate) fn place(&self) -> Place {
        Place { transport: TransportChat("cli:tester".to_owned()), session: self.session.clone() }
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.agent.engine()
    }

    /// Everything that happened in the session.
    pub(crate) async fn events(&self) -> Vec<Event> {
        events(self.engine(), &self.session).await
    }

    pub(crate) async fn event_names(&self) -> Vec<&'static str> {
        self.events().await.iter().map(Event::name).collect()
    }

    pub(crate) async fn plan(&self, number: u32) -> Plan {
        let reference = number.to_string().parse().unwrap();
        self.engine().find_plan(&self.session, Some(&reference)).await.unwrap().as_ref().clone()
    }

    /// What the model was sent, message by message, in the request with this number from 1.
    pub(crate) fn sent(&self, number: usize) -> ModelRequest {
        self.model.requests()[number - 1].clone()
    }

    pub(crate) fn files(&self) -> PathBuf {
        self.folder.path().join("users").join(self.session.folder_name()).join("files")
    }

    /// The stored journal is whole and agrees with everything beside it.
    pub(crate) async fn is_sound(&self) {
        let report = self.engine().verify(|_| {}).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
    }
}

pub(crate) struct Setup {
    pub(crate) policy: Policy,
    pub(crate) options: AgentOptions,
    pub(crate) tools: Toolbox,
    pub(crate) session: SessionIdentity,
}

impl Setup {
    pub(crate) fn tool(&mut self, tool: impl Tool) {
        let more: Vec<Arc<dyn Tool>> = self.tools.iter().cloned().chain([Arc::new(tool) as Arc<dyn Tool>]).collect();
        self.tools = Toolbox::new(more);
    }
}

async fn start(
    folder: &TempDir,
    model: &ScriptedModel,
    policy: &Policy,
    options: &AgentOptions,
    tools: &Toolbox,
) -> Agent {
    let ledger: Arc<dyn Ledger> = Arc::new(SqliteLedger::open(&folder.path().join("test.db")).await.unwrap());
    let engine = Engine::new(ledger, policy.clone());
    let files = FileTools::new(folder.path().join("users"), FileLimits::default());
    Agent::new(engine, Arc::new(model.clone()), files, tools.clone(), options.clone())
}

pub(crate) async fn events(engine: &Engine, session: &SessionIdentity) -> Vec<Event> {
    let entries = engine.ledger().journal(session, 0, 100_000).await.unwrap();
    entries
        .iter()
        .map(|entry| {
            serde_json::from_str::<planwright_core::journal::Entry>(&entry.body).unwrap().event
        })
        .collect()
}

pub(crate) fn session(key: &str) -> SessionIdentity {
    SessionIdentity::new(Channel::Cli, ConversationKey::new(key).unwrap())
}

pub(crate) fn person() -> Actor {
    Actor::person("Ada", "cli")
}

/// The messages in short: `user: …`, `model: … [tool]`, `result tool: …`.
pub(crate) fn script(request: &ModelRequest) -> Vec<String> {
    let told = |message: &ModelMessage| match message {
        ModelMessage::User { text } => format!("user: {text}"),
        ModelMessage::Assistant { text, calls } => {
            let names: Vec<_> = calls.iter().map(|sent| sent.call.name.as_str()).collect();
            if names.is_empty() { format!("model: {text}") } else { format!("model: {text} [{}]", names.join(", ")) }
        }
        ModelMessage::ToolResult { name, text, failed, .. } => {
            format!("{} {name}: {text}", if *failed { "failed" } else { "result" })
        }
    };
    request.messages.iter().map(told).collect()
}

pub(crate) fn tool_names(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}
