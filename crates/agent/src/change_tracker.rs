//! What a tool call does to files, also if the call has no answer.

use std::time::Duration;

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::RefusalCode;
use planwright_core::workspace::{CallChanges, ChangedPaths};
use planwright_engine::ledger::{LedgerError, LedgerResult};
use serde_json::json;
use tokio::time::timeout;

use crate::agent_context::AgentContext;
use crate::toolbox::files::{Baseline, FileTools, Watched};
use crate::toolbox::{Tool, ToolAnswer, ToolContext};

/// The paths of each kind that the journal names at most.
const NAMED_PATHS: usize = 1_000;
/// A call that was given up has this long to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Begun before a call and finished after it.
#[derive(Debug)]
pub(super) struct ChangeTracker<'a> {
    files: &'a FileTools,
    tool: &'a dyn Tool,
    context: ToolContext<'a>,
    /// What the workspace is compared with, for tools that do not say themselves what they change.
    before: Option<Baseline>,
}

impl<'a> ChangeTracker<'a> {
    /// `plan_files` is what the approved plan names that the call is made for.
    pub(super) async fn begin(
        agent: &'a AgentContext,
        tool: &'a dyn Tool,
        context: ToolContext<'a>,
        plan_files: Vec<String>,
    ) -> Self {
        let files = &agent.files;
        // What a background command changed since the last look is found with this call.
        let known = if tool.has_background(context.session) { files.take_baseline(context.session) } else { None };
        let before = match known {
            Some(known) => Some(known),
            None if tool.changes_untracked() => {
                let watched = Watched { plan_files, guarded: agent.guarded_files() };
                files.snapshot(context, watched).await.ok().map(Baseline::new)
            }
            None => None,
        };
        Self { files, tool, context, before }
    }

    /// `answer` is `None` for a call that failed, was given up or was stopped. It may have changed files nevertheless.
    /// An answer also tells which of them later run or instruct.
    ///
    /// Where servers share files, what the call changed is shared when this returns.
    pub(super) async fn finish(self, mut answer: Option<&mut ToolAnswer>) -> LedgerResult<CallChanges> {
        let changes = match &answer {
            Some(answer) => answer.changes.clone(),
            None => done_before(self.tool, self.context).await.map_or_else(Vec::new, |answer| answer.changes),
        };
        let uncovered = match &self.before {
            Some(before) => self.compare(before).await,
            None => {
                self.files.cover_changes(self.context.session, &changes);
                None
            }
        };
        let uncovered = uncovered.map(|paths| paths.without(&changes).at_most(NAMED_PATHS));
        if let (Some(answer), Some(before), Some(paths)) = (&mut answer, &self.before, &uncovered) {
            let guarded = paths.guarded(&before.snapshot().guarded());
            if !guarded.is_empty() && answer.value.is_object() {
                answer.value["changed_guarded_files"] = json!(guarded);
            }
        }
        self.share(answer).await?;
        Ok(CallChanges { changes, uncovered: uncovered.filter(|paths| !paths.is_empty()) })
    }

    /// A change that cannot be shared is like an outcome that cannot be recorded. A folder that is too large stays here, and the
    /// answer says so.
    async fn share(&self, answer: Option<&mut ToolAnswer>) -> LedgerResult<()> {
        if self.tool.effect() == ToolEffect::ReadsOnly && !self.tool.has_background(self.context.session) {
            return Ok(());
        }
        match self.files.publish_changes(self.context).await {
            Ok(()) => Ok(()),
            Err(refusal) if refusal.code == RefusalCode::LimitExceeded => {
                tracing::warn!(session_identity = %self.context.session, event = "files_not_shared", %refusal);
                if let Some(answer) = answer.filter(|answer| answer.value.is_object()) {
                    answer.value["not_shared"] = json!(refusal.message);
                }
                Ok(())
            }
            Err(refusal) => Err(LedgerError::Unavailable(refusal.message)),
        }
    }

    async fn compare(&self, before: &Baseline) -> Option<ChangedPaths> {
        match self.files.snapshot_after(self.context, before.snapshot()).await {
            Ok(after) => {
                let changed = before.compare(&after);
                if self.tool.has_background(self.context.session) {
                    self.files.keep_baseline(self.context.session, Baseline::new(after));
                }
                Some(changed)
            }
            Err(refusal) => {
                tracing::warn!(event = "workspace_not_compared", %refusal, "what a command changed is not known");
                None
            }
        }
    }
}

/// The answer of a call that was carried out although its answer was lost.
pub(super) async fn done_before(tool: &dyn Tool, context: ToolContext<'_>) -> Option<ToolAnswer> {
    if tool.effect() == ToolEffect::ReadsOnly {
        return None;
    }
    timeout(STOP_TIMEOUT, tool.done_before(context)).await.ok()?.ok().flatten()
}
