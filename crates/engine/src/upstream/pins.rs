//! What people accepted of upstream servers. The ledger has it, so that all processes on a store agree.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::Digest;
use planwright_core::upstream::{ServerName, ToolDifference, UpstreamTool, list_digest};

/// A server as the ledger knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PinnedServer {
    pub server: ServerName,
    /// Grows with every change of the row.
    pub revision: u64,
    pub accepted: Option<AcceptedTools>,
    /// The command or address that offered what was accepted. `None` if the store did not keep it then: it is
    /// accepted of none.
    pub accepted_command: Option<Digest>,
    /// What the server offered last.
    pub offered: Option<OfferedTools>,
    /// The digest that the offer is accepted by, as it is stored.
    pub offered_digest: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedTools {
    pub tools: Vec<UpstreamTool>,
    pub by: Actor,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTools {
    pub tools: Vec<UpstreamTool>,
    pub at: Timestamp,
}

impl OfferedTools {
    pub fn digest(&self) -> Digest {
        list_digest(&self.tools)
    }
}

impl PinnedServer {
    /// As a process sees it that reaches the server by this command: what was accepted of another one is not accepted of it.
    #[must_use]
    pub fn reached_by(self, command: Digest) -> Self {
        let is_accepted = self.accepted_command == Some(command);
        Self { accepted: self.accepted.filter(|_| is_accepted), ..self }
    }

    /// What a person has to accept. `None` if the server offers what was accepted.
    pub fn difference(&self) -> Option<ToolDifference> {
        let offered = &self.offered.as_ref()?.tools;
        let accepted = self.accepted.as_ref().map(|accepted| accepted.tools.as_slice()).unwrap_or_default();
        let difference = ToolDifference::between(accepted, offered);
        (self.accepted.is_none() || !difference.is_empty()).then_some(difference)
    }
}
