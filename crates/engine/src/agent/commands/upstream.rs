//! `/tools accept`, and what `/tools` says about MCP servers.

use planwright_core::plan::Digest;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::ServerName;
use planwright_core::visible::{quoted, visible};

use super::overview::Overview;
use crate::ledger::LedgerResult;
use crate::session::outcome::Answer;
use crate::session::task::InputContext;
use crate::upstream::{AcceptanceState, ConnectionState, ServerStatus, UpstreamTools};

/// The tools of a difference that a chat shows.
const SHOWN_TOOLS: usize = 50;
/// The digits of a digest that a person types.
const CODE_DIGITS: usize = 8;

impl Overview {
    fn upstream(&self) -> Result<&UpstreamTools, Refusal> {
        let none = || Refusal::not_found("No MCP server is configured; `planwright mcp-server add` adds one.");
        self.agent.toolbox.upstream().ok_or_else(none)
    }

    /// Shows what there is to accept. With the code that was shown, accepts it.
    pub(super) async fn accept_tools(
        &self,
        server: &ServerName,
        code: Option<&str>,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let (upstream, session) = (self.upstream()?, context.session());
        let Some(code) = code else {
            let status = upstream.look(server).await?;
            return Ok(Answer::words(session, to_accept(&status)));
        };
        let status = upstream.status_of(server).await?;
        let Some((digest, ..)) = status.state.waiting() else {
            return Err(Refusal::wrong_status(format!("The MCP server {server} has nothing to accept.")).into());
        };
        if !digest.to_string().starts_with(code) {
            let message = format!("{} is not the code of what the MCP server {server} offers now.", quoted(code));
            return Err(Refusal::stale(format!("{message} `/tools accept {server}` shows it.")).into());
        }
        let approvals = self.agent.engine().approvals();
        let status = upstream.accept(server, digest, context.by(), &approvals).await?;
        let words = format!("The tools of {server} are accepted; the agent is offered {}.", count(status.advertised));
        Ok(Answer::words(session, words))
    }

    /// A line for each MCP server.
    pub(super) async fn server_lines(&self) -> LedgerResult<Vec<String>> {
        let Some(upstream) = self.agent.toolbox.upstream() else { return Ok(Vec::new()) };
        Ok(upstream.statuses().await?.iter().map(server_line).collect())
    }
}

fn code(digest: &Digest) -> String {
    digest.to_string()[..CODE_DIGITS].to_owned()
}

fn count(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}

fn to_accept(status: &ServerStatus) -> String {
    let name = &status.server.name;
    let Some((digest, difference, _)) = status.state.waiting() else {
        return format!("The MCP server {name} offers what was accepted, {}.", count(status.accepted));
    };
    let heading = match status.state {
        AcceptanceState::Changed { .. } => "changed its tools since they were accepted",
        AcceptanceState::NotSeen | AcceptanceState::NotAccepted { .. } | AcceptanceState::Accepted => {
            "is not yet accepted"
        }
    };
    format!(
        "The MCP server {name} ({}) {heading}: {}.\n\n```diff\n{}```\n\n`/tools accept {name} {}` accepts this.",
        visible(&status.server.reached_by),
        difference.counts(),
        difference.words(SHOWN_TOOLS).replace("```", "ʼʼʼ"),
        code(&digest)
    )
}

fn server_line(status: &ServerStatus) -> String {
    let name = &status.server.name;
    let state = match &status.state {
        AcceptanceState::NotSeen => format!("not yet accepted; `/tools accept {name}` shows its tools"),
        AcceptanceState::NotAccepted { offered, .. } => {
            format!("not yet accepted, {}; `/tools accept {name}` shows them", offered.counts())
        }
        AcceptanceState::Accepted if status.advertised < status.accepted => format!(
            "{} of {} tools offered; `mcp.servers.{name}.tools` chooses others",
            status.advertised, status.accepted
        ),
        AcceptanceState::Accepted => count(status.advertised),
        AcceptanceState::Changed { difference, .. } => format!(
            "{}; it changed since ({}), and what changed is refused; `/tools accept {name}` shows it",
            count(status.advertised),
            difference.counts()
        ),
    };
    let connection = match &status.connection {
        ConnectionState::NotStarted => "not started".to_owned(),
        ConnectionState::Connected => "connected".to_owned(),
        ConnectionState::Failed { reason, .. } => format!("failed: {}", visible(reason)),
    };
    format!("- `{name}`: {state} ({connection})")
}
