//! The files of a session's workspace as a person sees them: listed, read, and as a plan of recorded calls would leave them.

use std::sync::Arc;

use planwright_core::gate::ToolEffect;
use planwright_core::permission::DeniedPaths;
use planwright_core::plan::Plan;
use planwright_core::plan::content::PlanContent;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::LedgerResult;

use super::agent_context::AgentContext;
use crate::toolbox::ToolContext;
use crate::toolbox::files::{FileContent, FolderPage, StepPreview};

/// Reads files of workspaces.
#[derive(Debug, Clone)]
pub struct WorkspaceFiles {
    agent: Arc<AgentContext>,
}

impl WorkspaceFiles {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    /// The files and folders whose path begins with `prefix` and continues in one folder. What the workspace ignores and what
    /// rules keep from `glob_files` is left out.
    pub async fn list(&self, session: &SessionIdentity, prefix: &str, most: usize) -> LedgerResult<FolderPage> {
        let workspace = self.agent.engine().sessions().get(session).await?.workspace;
        let denied = self.denied("glob_files")?;
        let context = ToolContext::without_lease(session).in_workspace(&workspace).without_paths(&denied);
        Ok(self.agent.files.entries(context, prefix, most).await?)
    }

    /// A whole file. What rules keep from `read_file` is answered like what does not exist.
    pub async fn read(&self, session: &SessionIdentity, path: &str) -> LedgerResult<FileContent> {
        let workspace = self.agent.engine().sessions().get(session).await?.workspace;
        let denied = self.denied("read_file")?;
        let context = ToolContext::without_lease(session).in_workspace(&workspace).without_paths(&denied);
        Ok(self.agent.files.content(context, path).await?)
    }

    /// What the recorded calls of a plan would do to files, against the files as they are now. A plan of another style has no
    /// recorded calls.
    pub async fn preview(&self, plan: &Plan) -> LedgerResult<Vec<StepPreview>> {
        let calls = match &plan.content {
            PlanContent::Collect(collected) => collected.steps.to_vec(),
            PlanContent::Document(_) | PlanContent::Build(_) => return Ok(Vec::new()),
        };
        let workspace = self.agent.engine().sessions().get(&plan.session).await?.workspace;
        let denied = self.denied("read_file")?;
        let context = ToolContext::without_lease(&plan.session).in_workspace(&workspace).without_paths(&denied);
        Ok(self.agent.files.preview(context, calls).await?)
    }

    fn denied(&self, tool: &str) -> LedgerResult<DeniedPaths> {
        Ok(self.agent.options.permissions.rules()?.denied_paths(tool, ToolEffect::ReadsOnly))
    }
}
