//! `/tools accept`, and what `/tools` says about MCP servers.

use planwright_core::plan::Digest;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::{ServerName, page_digest};
use planwright_core::visible::{quoted, visible};
use planwright_engine::ledger::LedgerResult;
use planwright_engine::upstream::ConnectionState;

use super::overview::Overview;
use crate::session::outcome::Answer;
use crate::session::work::InputContext;
use crate::upstream::{AcceptanceState, ServerStatus, UpstreamTools};

/// The characters of a page. Telegram sends one in four messages at most.
const PAGE_CHARACTERS: usize = 12_000;
/// The digits of a digest that a person types.
const CODE_DIGITS: usize = 8;

impl Overview {
    fn upstream(&self) -> Result<&UpstreamTools, Refusal> {
        let none = || Refusal::not_found("No MCP server is configured; `planwright mcp-server add` adds one.");
        self.agent.toolbox.upstream().ok_or_else(none)
    }

    /// Shows what there is to accept, page by page. The code of a page shows the next one, and the code of the last page
    /// accepts: it is the beginning of the offer's digest.
    pub(super) async fn accept_tools(
        &self,
        server: &ServerName,
        code: Option<&str>,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let (upstream, session) = (self.upstream()?, context.session());
        let Some(code) = code else {
            let status = upstream.look(server).await?;
            return Ok(Answer::text(session, to_accept(&status, 0)));
        };
        let status = upstream.status_of(server).await?;
        let Some((digest, difference, _)) = status.state.waiting() else {
            return Err(Refusal::wrong_status(format!("The MCP server {server} has nothing to accept.")).into());
        };
        let last = difference.pages(PAGE_CHARACTERS).len() - 1;
        let is_code_of = |page: &usize| page_digest(digest, *page).to_string().starts_with(code);
        if let Some(shown) = (0..last).find(is_code_of) {
            return Ok(Answer::text(session, to_accept(&status, shown + 1)));
        }
        if !digest.to_string().starts_with(code) {
            let message = format!("{} is not the code of what the MCP server {server} offers now.", quoted(code));
            return Err(Refusal::stale(format!("{message} `/tools accept {server}` shows it.")).into());
        }
        let approvals = self.agent.engine().approvals();
        let status = upstream.accept(server, digest, context.by(), &approvals).await?;
        let message = format!("The tools of {server} are accepted; the agent is offered {}.", count(status.advertised));
        Ok(Answer::text(session, message))
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

/// A page of what there is to accept, with the command that goes on.
fn to_accept(status: &ServerStatus, page: usize) -> String {
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
    let pages = difference.pages(PAGE_CHARACTERS);
    let text = pages.get(page).map(String::as_str).unwrap_or_default();
    let (of_all, next) = match (page + 1, pages.len()) {
        (_, 1) => (String::new(), format!("`/tools accept {name} {}` accepts this.", code(&digest))),
        (number, all) if number < all => {
            let next = code(&page_digest(digest, page));
            (format!(" (part {number} of {all})"), format!("`/tools accept {name} {next}` shows the next part."))
        }
        (number, all) => {
            let accept = format!("`/tools accept {name} {}` accepts all {all} parts.", code(&digest));
            (format!(" (part {number} of {all})"), accept)
        }
    };
    let fence = fence(text);
    format!(
        "The MCP server {name} ({}) {heading}: {}{of_all}.\n\n{fence}diff\n{text}{}{fence}\n\n{next}",
        visible(&status.server.reached_by),
        difference.counts(),
        if text.ends_with('\n') { "" } else { "\n" },
    )
}

/// A fence of a code block that no line of the text ends.
fn fence(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
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
