//! Upstream servers as they are stored: the tools as JSON text.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::upstream::{ServerName, UpstreamTool};
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::upstream::{AcceptedTools, OfferedTools, PinnedServer};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The columns of a row, in their order in the queries.
pub(crate) const COLUMNS: &str = "revision, offered_tools, offered_at, accepted_tools, accepted_by, accepted_at";

#[derive(Debug)]
pub(crate) struct PinRow {
    pub(crate) revision: i64,
    pub(crate) offered_tools: Option<String>,
    pub(crate) offered_at: Option<i64>,
    pub(crate) accepted_tools: Option<String>,
    pub(crate) accepted_by: Option<String>,
    pub(crate) accepted_at: Option<i64>,
}

impl PinRow {
    pub(crate) fn server(self, server: &ServerName) -> LedgerResult<PinnedServer> {
        let what = || format!("the MCP server {server}");
        let offered = match (self.offered_tools, self.offered_at) {
            (Some(tools), Some(at)) => {
                Some(OfferedTools { tools: parse::<Vec<UpstreamTool>>(what, &tools)?, at: time(what, at)? })
            }
            (_, _) => None,
        };
        let accepted = match (self.accepted_tools, self.accepted_by, self.accepted_at) {
            (Some(tools), Some(by), Some(at)) => Some(AcceptedTools {
                tools: parse::<Vec<UpstreamTool>>(what, &tools)?,
                by: parse::<Actor>(what, &by)?,
                at: time(what, at)?,
            }),
            (_, _, _) => None,
        };
        let revision = u64::try_from(self.revision).map_err(|error| LedgerError::damaged(what(), error))?;
        Ok(PinnedServer { server: server.clone(), revision, accepted, offered })
    }
}

/// The revision of a server. A row whose name is none is damaged and is reported by its own query.
pub(crate) fn revision(name: &str, revision: i64) -> Option<(ServerName, u64)> {
    Some((name.parse().ok()?, u64::try_from(revision).ok()?))
}

pub(crate) fn text<T: Serialize>(value: &T) -> LedgerResult<String> {
    serde_json::to_string(value).map_err(|error| LedgerError::Internal(format!("tools cannot be written: {error}")))
}

fn parse<T: DeserializeOwned>(what: impl FnOnce() -> String, text: &str) -> LedgerResult<T> {
    serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(), error))
}

fn time(what: impl FnOnce() -> String, microseconds: i64) -> LedgerResult<Timestamp> {
    Timestamp::from_microsecond(microseconds).map_err(|error| LedgerError::damaged(what(), error))
}
