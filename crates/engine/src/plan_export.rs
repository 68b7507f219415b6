//! Plans as files of the project, for the setting `plan.export`. The ledger is the truth: a file is written after the commit, and
//! a person's edit of it becomes a proposed version.

use std::sync::Arc;

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::{Command, DraftCommand};
use planwright_core::plan::export::{self, ExportPath};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::snapshot::Snapshot;

use crate::ledger::{Committed, LedgerError, LedgerResult};
use crate::submitter::Submitter;
use crate::toolbox::files::{FileTools, PlanFileContent, PlanFileWrite};

/// The surface of an edit on disk.
const DISK: &str = "disk";

#[derive(Debug, Clone)]
pub(crate) struct PlanExport {
    path: Arc<ExportPath>,
    files: FileTools,
}

impl PlanExport {
    pub(crate) fn new(path: ExportPath, files: FileTools) -> Self {
        Self { path: Arc::new(path), files }
    }

    /// Writes the files of the plans that a commit changed. A file that cannot be written is reported in the log; the commit
    /// stands, and the next change of the plan writes the file again.
    pub(crate) async fn write_changed(&self, committed: &Committed) {
        let mut plans: Vec<&Plan> = Vec::new();
        for plan in committed.events.iter().filter_map(|event| committed.snapshot.plan(event.plan()?)) {
            if !plans.iter().any(|known| known.id == plan.id) {
                plans.push(plan);
            }
        }
        for plan in plans {
            self.write(&committed.snapshot, plan, committed.seq).await;
        }
    }

    async fn write(&self, snapshot: &Snapshot, plan: &Plan, seq: u64) {
        let Some(session) = &snapshot.session else { return };
        // A plan that a person was never shown has no file.
        if plan.version == 0 || plan.status == PlanStatus::Collecting {
            return;
        }
        let content = PlanFileContent {
            plan: plan.id.clone(),
            folder: self.path.folder().to_owned(),
            stem: self.path.file_stem(plan),
            seq,
            markdown: plan.markdown(),
            text: export::render(plan, seq),
        };
        match self.files.write_plan_file(&session.workspace, content).await {
            Ok(None | Some(PlanFileWrite::Written | PlanFileWrite::Newer)) => {}
            Ok(Some(PlanFileWrite::KeptEdit(file))) => tracing::warn!(
                event = "plan_file_edit_kept",
                session_identity = %session.identity,
                plan = plan.number,
                file,
                "the plan's file was edited when it could not become a new version; the edit is kept in another file"
            ),
            Err(refusal) => tracing::warn!(
                event = "plan_file_not_written",
                session_identity = %session.identity,
                plan = plan.number,
                error = refusal.message,
                "the plan's file cannot be written"
            ),
        }
    }

    /// Takes an edit of the active document's file in as a proposed version. Returns whether there was one.
    pub(crate) async fn take_edit(&self, submitter: &Submitter, snapshot: &Snapshot) -> LedgerResult<bool> {
        let (Some(session), Some(plan)) = (&snapshot.session, snapshot.active()) else { return Ok(false) };
        if plan.style() != PlanStyle::Document || plan.status != PlanStatus::Ready || session.workspace.is_own() {
            return Ok(false);
        }
        let file = match self.files.plan_file(&session.workspace, self.path.folder(), &plan.id).await {
            Ok(file) => file,
            Err(refusal) => {
                tracing::warn!(event = "plan_file_not_read", error = refusal.message, "the plan's file cannot be read");
                None
            }
        };
        let Some(file) = file.filter(|file| file.content.edited) else { return Ok(false) };
        let markdown = format!("{}\n", file.content.markdown);
        let command = Command::Draft(DraftCommand::SetContent { markdown, title: None });
        match submitter.submit(&snapshot.identity, &edited(), command).await {
            Ok(committed) => Ok(!committed.events.is_empty()),
            // Such as a text that is too long. The file stays as the person left it.
            Err(LedgerError::Refused(refusal)) => {
                tracing::warn!(
                    event = "plan_file_edit_refused",
                    file = file.name,
                    error = refusal.message,
                    "the edit of the plan's file cannot become a version"
                );
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Who wrote into the file is not known: an agent with a shell can do it, too.
fn edited() -> Actor {
    Actor::new(ActorKind::System, "an edit of the plan's file", DISK)
}
