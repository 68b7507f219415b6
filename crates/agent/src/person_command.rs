//! A shell command that a person runs in the workspace of their session, in the sandbox of the agent's own commands.

use std::sync::Arc;

use planwright_core::permission::RUN_COMMAND;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::LedgerResult;
use serde_json::json;

use crate::agent_context::AgentContext;
use crate::toolbox::{ToolAnswer, ToolContext};

/// What a command of a person wrote, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReport {
    pub output: String,
    /// Why it counts as failed.
    pub failure: Option<String>,
    /// Whether a part of the output is left out.
    pub is_cut: bool,
}

/// Runs the line. Dropping the future ends the command.
pub(super) async fn run(
    agent: &Arc<AgentContext>,
    session: &SessionIdentity,
    line: &str,
) -> LedgerResult<CommandReport> {
    let workspace = agent.engine().sessions().get(session).await?.workspace;
    let Some(tool) = agent.toolbox.get(RUN_COMMAND) else {
        return Err(Refusal::policy_denied("Commands cannot be run here: there is no sandbox.").into());
    };
    let context = ToolContext::without_lease(session).in_workspace(&workspace);
    let arguments = json!({ "command": line }).as_object().cloned().unwrap_or_default();
    let ToolAnswer { value, failure, .. } = tool.call(context, arguments).await?;
    let output = value["output"].as_str().unwrap_or_default().to_owned();
    Ok(CommandReport { output, failure, is_cut: value["truncated"].as_bool().unwrap_or(false) })
}
