//! What people accepted of upstream servers, in the ledger, so that all processes on a store agree.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::Digest;
use planwright_core::upstream::{ServerName, ToolDifference, UpstreamTool, list_digest};

use crate::ledger::LedgerResult;

/// A server as the ledger knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PinnedServer {
    pub server: ServerName,
    /// Grows with every change of the row.
    pub revision: u64,
    pub accepted: Option<AcceptedTools>,
    /// What the server offered last.
    pub offered: Option<OfferedTools>,
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
    /// What a person has to accept. `None` if the server offers what was accepted.
    pub fn difference(&self) -> Option<ToolDifference> {
        let offered = &self.offered.as_ref()?.tools;
        let accepted = self.accepted.as_ref().map(|accepted| accepted.tools.as_slice()).unwrap_or_default();
        let difference = ToolDifference::between(accepted, offered);
        (self.accepted.is_none() || !difference.is_empty()).then_some(difference)
    }
}

#[async_trait]
pub trait ToolPins: fmt::Debug + Send + Sync {
    /// Every known server with its revision.
    async fn pin_revisions(&self) -> LedgerResult<Vec<(ServerName, u64)>>;

    async fn pinned_server(&self, server: &ServerName) -> LedgerResult<Option<PinnedServer>>;

    /// Keeps what a server offers, for a person to look at, and that it was reached by this command. The same again changes
    /// nothing.
    async fn record_offer(&self, server: &ServerName, command: Digest, offered: &OfferedTools) -> LedgerResult<()>;

    /// Keeps an offer and accepts it, if neither the name nor the command of the server was ever seen. Returns whether it was
    /// accepted; nothing is kept otherwise.
    async fn accept_first_offer(
        &self,
        server: &ServerName,
        command: Digest,
        offered: &OfferedTools,
        by: &Actor,
    ) -> LedgerResult<bool>;

    /// Accepts the last offer if it has this digest. Returns whether it has.
    async fn accept_offer(&self, server: &ServerName, digest: Digest, by: &Actor, at: Timestamp) -> LedgerResult<bool>;
}
