//! Upstream MCP servers.

use jiff::Timestamp;
use planwright_agent::upstream::{AcceptanceState, ServerStatus};
use planwright_core::choices::tool_choices;
use planwright_engine::upstream::ConnectionState;
use serde::Serialize;
use utoipa::ToSchema;

use super::{WaitingKind, WaitingView};

#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = McpServer)]
#[serde(rename_all = "camelCase")]
pub struct McpServerView {
    pub name: String,
    /// The command or the address, without secrets.
    pub reached_by: String,
    pub state: AcceptanceView,
    pub connection: ConnectionView,
    /// Why the last connection failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<String>,
    /// How many tools the agent is offered.
    pub tools: usize,
    /// How many tools a person accepted.
    pub accepted: usize,
    /// What an acceptance has to name. Absent if there is nothing to accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub digest: Option<String>,
    /// Everything that an acceptance covers and that was not accepted before, as text: new and changed tools whole, with hidden
    /// characters written out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub difference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub since: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = McpServerState)]
#[serde(rename_all = "snake_case")]
pub enum AcceptanceView {
    /// No person has accepted its tools, and the agent does not have them.
    NotAccepted,
    Accepted,
    /// It offers something else than a person accepted. What changed is refused.
    Changed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = McpServerConnection)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionView {
    NotStarted,
    Connected,
    Failed,
}

impl From<&ServerStatus> for McpServerView {
    fn from(status: &ServerStatus) -> Self {
        let state = match status.state {
            AcceptanceState::NotSeen | AcceptanceState::NotAccepted { .. } => AcceptanceView::NotAccepted,
            AcceptanceState::Accepted => AcceptanceView::Accepted,
            AcceptanceState::Changed { .. } => AcceptanceView::Changed,
        };
        let (connection, problem) = match &status.connection {
            ConnectionState::NotStarted => (ConnectionView::NotStarted, None),
            ConnectionState::Connected => (ConnectionView::Connected, None),
            ConnectionState::Failed { reason, .. } => (ConnectionView::Failed, Some(reason.clone())),
        };
        let waiting = status.state.waiting();
        Self {
            name: status.server.name.to_string(),
            reached_by: status.server.reached_by.clone(),
            state,
            connection,
            problem,
            tools: status.advertised,
            accepted: status.accepted,
            digest: waiting.map(|(digest, ..)| digest.to_string()),
            difference: waiting.map(|(_, difference, _)| difference.describe()),
            since: waiting.map(|(.., since)| since),
        }
    }
}

/// Tools of an MCP server that a person has not accepted.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ToolChange)]
#[serde(rename_all = "camelCase")]
pub struct ToolChangeView {
    pub server: String,
    /// Everything that an acceptance covers and that was not accepted before, as text: new and changed tools whole, with hidden
    /// characters written out.
    pub difference: String,
}

impl WaitingView {
    /// `None` if the server has nothing to accept.
    pub fn of_server(status: &ServerStatus) -> Option<Self> {
        let (digest, difference, since) = status.state.waiting()?;
        let server = status.server.name.to_string();
        let id = format!("mcp-server-{server}");
        Some(Self {
            title: format!("{server}: {}", difference.counts()),
            digest: digest.to_string(),
            tool_change: Some(ToolChangeView { difference: difference.describe(), server: server.clone() }),
            ..Self::new(WaitingKind::ToolChange, id, since, tool_choices(&server))
        })
    }
}
