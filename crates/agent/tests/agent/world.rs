//! A conversation with a scripted model over a real store, and looks at what was stored and sent.

mod inspect;

use std::path::PathBuf;
use std::sync::Arc;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::Agent;
use planwright_agent::session::input::ChatLocation;
use planwright_agent::session::outcome::{Answer, TurnOutcome};
use planwright_agent::session::progress::Progress;
use planwright_core::actor::Actor;
use planwright_core::event::Event;
use planwright_core::model::ModelRequest;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity, TransportChat};
use planwright_engine::Engine;
use planwright_engine::ledger::{Ledger, LedgerResult};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use tempfile::TempDir;
use tokio::task::JoinHandle;

pub(crate) use inspect::{is_valid, newest_message, script, statuses, tool_names, turns};

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) model: ScriptedModel,
    pub(crate) agent: Agent,
    pub(crate) session: SessionIdentity,
    pub(crate) setup: AgentSetup,
}

impl World {
    /// A session that has begun, and a model that answers by this script.
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(ScriptedModel::new(replies), |_| {}).await
    }

    pub(crate) async fn with(model: ScriptedModel, change: impl FnOnce(&mut AgentSetup)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = AgentSetup::new(folder.path());
        change(&mut setup);
        let agent = setup.agent(setup.ledger().await, model.clone());
        let session = session("session-one");
        agent.engine().sessions().open(&session, &person()).await.unwrap();
        Self { folder, model, agent, session, setup }
    }

    /// The store, opened once more, as another process does.
    pub(crate) async fn ledger(&self) -> Arc<dyn Ledger> {
        self.setup.ledger().await
    }

    /// Another process on the same store, with another name.
    pub(crate) async fn another(&self, model: &ScriptedModel, owner: &str) -> Agent {
        self.setup.clone().owned_by(owner).agent(self.ledger().await, model.clone())
    }

    /// Starts the process anew.
    pub(crate) async fn restart(self) -> Self {
        self.restart_with(|_| {}).await
    }

    /// Starts the process anew with other settings.
    pub(crate) async fn restart_with(mut self, change: impl FnOnce(&mut AgentSetup)) -> Self {
        change(&mut self.setup);
        let agent = self.setup.agent(self.ledger().await, self.model.clone());
        Self { agent, ..self }
    }

    /// Says it, and does not wait for the answer.
    pub(crate) fn say_in_background(&self, text: &str) -> JoinHandle<LedgerResult<TurnOutcome>> {
        let (agent, session, text) = (self.agent.clone(), self.session.clone(), text.to_owned());
        tokio::spawn(async move { agent.send(&session, &person(), &text, &Watcher::none()).await })
    }

    /// Types it, and does not wait for the answer.
    pub(crate) fn send_in_background(&self, text: &str) -> JoinHandle<LedgerResult<Answer>> {
        let (agent, place, text) = (self.agent.clone(), self.place(), text.to_owned());
        tokio::spawn(async move { agent.type_text(&place, &person(), &text, &Watcher::none()).await })
    }

    pub(crate) async fn say(&self, text: &str) -> TurnOutcome {
        self.try_say(text).await.unwrap()
    }

    pub(crate) async fn try_say(&self, text: &str) -> LedgerResult<TurnOutcome> {
        self.agent.send(&self.session, &person(), text, &Watcher::none()).await
    }

    /// Whatever a person types, a message or a command.
    pub(crate) async fn send(&self, text: &str) -> Answer {
        self.agent.type_text(&self.place(), &person(), text, &Watcher::none()).await.unwrap()
    }

    /// Approves the plan as it is, and leaves it at that.
    pub(crate) async fn approve(&self, number: u32, selection: Selection) {
        let plan = self.plan(number).await;
        let approved =
            self.engine().plans().approve(&self.session, &person(), &plan.id, plan.digest(), selection, None).await;
        assert_eq!(approved.unwrap().status, PlanStatus::Approved);
    }

    /// Sends a message and returns its outcome with all progress on the way.
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

    pub(crate) fn place(&self) -> ChatLocation {
        ChatLocation::new(TransportChat("cli:tester".to_owned()), self.session.clone())
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
        self.engine().plans().find(&self.session, Some(&reference)).await.unwrap().as_ref().clone()
    }

    /// What the model was sent, message by message, in the request with this number from 1.
    pub(crate) fn sent(&self, number: usize) -> ModelRequest {
        self.model.requests()[number - 1].clone()
    }

    /// Every request so far is one that providers take: it begins with the person, nothing in it is blank, and every
    /// result follows the call it belongs to.
    pub(crate) fn has_a_valid_history(&self) {
        self.model.requests().iter().for_each(is_valid);
    }

    pub(crate) fn files(&self) -> PathBuf {
        self.folder.path().join("users").join(self.session.folder_name()).join("files")
    }

    /// The stored journal is whole and agrees with everything beside it.
    pub(crate) async fn is_sound(&self) {
        let report = self.engine().verifier().verify_all(|_| {}).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
    }
}

pub(crate) async fn events(engine: &Engine, session: &SessionIdentity) -> Vec<Event> {
    let entries = engine.ledger().journal(session, 0, 100_000).await.unwrap();
    entries
        .iter()
        .map(|entry| serde_json::from_str::<planwright_core::journal::Entry>(&entry.body).unwrap().event)
        .collect()
}

pub(crate) fn session(key: &str) -> SessionIdentity {
    SessionIdentity::new(Channel::Cli, ConversationKey::new(key).unwrap())
}

pub(crate) fn person() -> Actor {
    Actor::person("Ada", "cli")
}
