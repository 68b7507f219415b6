//! An agent for a program that embeds it: a store, a model and a folder are enough.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use planwright_core::policy::Policy;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::Ledger;
use planwright_engine::model::Model;

use crate::agent::{Agent, AgentOptions};
use crate::toolbox::files::{FileLimits, FileTools};
use crate::toolbox::{Tool, Toolbox};

/// Builds an [`Agent`]. What is not set is as in a program without settings: the default policy, the file tools and no other tools.
pub struct AgentBuilder {
    ledger: Arc<dyn Ledger>,
    model: Arc<dyn Model>,
    folder: PathBuf,
    policy: Policy,
    tools: Vec<Arc<dyn Tool>>,
    options: AgentOptions,
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl AgentBuilder {
    /// The files of the sessions are below `folder`, in `users/`.
    pub fn new(ledger: Arc<dyn Ledger>, model: Arc<dyn Model>, folder: impl Into<PathBuf>) -> Self {
        Self {
            ledger,
            model,
            folder: folder.into(),
            policy: Policy::default(),
            tools: Vec::new(),
            options: AgentOptions::of_this_process(),
        }
    }

    /// Sets the limits, the specialists, and how a person has to be recognised. By default every person of the program approves.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Adds a tool of the program.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Sets the leases, the permission rules and the models of specialists.
    #[must_use]
    pub fn options(self, options: AgentOptions) -> Self {
        Self { options, ..self }
    }

    /// The agent. A program that is to continue the work of one that ended also calls [`Agent::take_over`].
    #[must_use]
    pub fn build(self) -> Agent {
        let files = FileTools::new(self.folder.join("users"), FileLimits::default());
        let engine = Engine::new(self.ledger, self.policy);
        Agent::new(engine, self.model, files, Toolbox::new(self.tools), self.options)
    }
}
