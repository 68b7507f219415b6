//! The specialists that steps can be given to. The planner is one of the agents and never one of them.

use serde::{Deserialize, Serialize};

use crate::refusal::{Refusal, RefusalCode};
use crate::visible::quoted;

pub const PLANNER: &str = "planner";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRegistry {
    specialists: Vec<String>,
}

impl Default for AgentRegistry {
    fn default() -> Self {
        let names = ["coder", "tester", "reviewer", "researcher", "architect", "writer"];
        Self { specialists: names.map(str::to_owned).to_vec() }
    }
}

impl AgentRegistry {
    pub fn new(specialists: impl IntoIterator<Item = String>) -> Result<Self, Refusal> {
        let mut known: Vec<String> = Vec::new();
        for name in specialists {
            if name.trim().is_empty() || name != name.trim() {
                return Err(Refusal::invalid(format!("{} is not a name for an agent", quoted(&name))));
            }
            if name == PLANNER {
                return Err(Refusal::invalid("`planner` is always there and cannot be a specialist"));
            }
            if !known.contains(&name) {
                known.push(name);
            }
        }
        if known.is_empty() {
            return Err(Refusal::invalid("at least one agent is needed"));
        }
        Ok(Self { specialists: known })
    }

    pub fn specialists(&self) -> &[String] {
        &self.specialists
    }

    /// Whether a step may name this agent.
    pub fn assignable(&self, name: &str) -> Result<(), Refusal> {
        if self.specialists.iter().any(|known| known == name) {
            return Ok(());
        }
        let reason = if name == PLANNER { "the planner cannot be given a step" } else { "there is no such agent" };
        Err(Refusal::new(
            RefusalCode::UnknownAgent,
            format!("{}: {reason}; agents are {}", quoted(name), self.specialists.join(", ")),
        ))
    }
}
