//! An agent on a store in a temporary folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::toolbox::{Tool, Toolbox};
use planwright_agent::{Agent, AgentOptions};
use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_engine::clock::TimeOrderedIds;
use planwright_engine::ledger::Ledger;
use planwright_engine::model::Model;
use planwright_store::Location;

use crate::clock::TestClock;

/// What an agent is made of besides its store and its model.
#[derive(Debug, Clone)]
pub struct AgentSetup {
    /// Where the store and the files of the sessions are.
    pub folder: PathBuf,
    pub policy: Policy,
    pub options: AgentOptions,
    pub tools: Toolbox,
    /// `None` for the time of the machine.
    pub clock: Option<TestClock>,
}

impl AgentSetup {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            policy: Policy::default(),
            options: AgentOptions::new("the test"),
            tools: Toolbox::default(),
            clock: None,
        }
    }

    /// Sets the process that owns the agent's work.
    pub fn owned_by(mut self, owner: &str) -> Self {
        self.options.owner = owner.to_owned();
        self
    }

    pub fn tool(&mut self, tool: &(impl Tool + Clone)) {
        let tool: Arc<dyn Tool> = Arc::new(tool.clone());
        self.tools = std::mem::take(&mut self.tools).with_first(vec![tool]);
    }

    /// The file of the store.
    pub fn database(&self) -> PathBuf {
        self.folder.join("planwright.db")
    }

    /// The store, opened as another process opens it.
    pub async fn ledger(&self) -> Arc<dyn Ledger> {
        planwright_store::open(&Location::Sqlite(self.database())).await.unwrap()
    }

    pub fn engine(&self, ledger: Arc<dyn Ledger>) -> Engine {
        let engine = Engine::new(ledger, self.policy.clone());
        match &self.clock {
            Some(clock) => engine.with_clock(clock.clone(), TimeOrderedIds),
            None => engine,
        }
    }

    pub fn files(&self) -> FileTools {
        FileTools::new(self.folder.join("users"), FileLimits::default())
    }

    pub fn agent(&self, ledger: Arc<dyn Ledger>, model: impl Model) -> Agent {
        self.agent_of(self.engine(ledger), model)
    }

    /// An agent on an engine that exists.
    pub fn agent_of(&self, engine: Engine, model: impl Model) -> Agent {
        Agent::new(engine, Arc::new(model), self.files(), self.tools.clone(), self.options.clone())
    }
}
