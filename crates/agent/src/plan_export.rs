//! Plans as files of the project, for the setting `plan.export`. The ledger is the truth: a file is written after the commit, and
//! a person's edit of it becomes a proposed version.

use async_trait::async_trait;
use planwright_core::plan::export::{self, ExportPath};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::Committed;
use planwright_engine::session_files::{PlanFileEdit, PlanFiles};

use crate::toolbox::files::{FileTools, PlanFileContent, PlanFileWrite};

/// Writes plans below a folder of their project.
#[derive(Debug)]
pub struct PlanExport {
    path: ExportPath,
    files: FileTools,
}

impl PlanExport {
    pub fn new(path: ExportPath, files: FileTools) -> Self {
        Self { path, files }
    }
}

#[async_trait]
impl PlanFiles for PlanExport {
    /// A file that cannot be written is reported in the log, and the next change of the plan writes it again.
    async fn write_changed(&self, committed: &Committed) {
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

    async fn find_edit(&self, snapshot: &Snapshot) -> Option<PlanFileEdit> {
        let (session, plan) = (snapshot.session.as_ref()?, snapshot.active()?);
        if plan.style() != PlanStyle::Document || plan.status != PlanStatus::Ready || session.workspace.is_own() {
            return None;
        }
        match self.files.plan_file(&session.workspace, self.path.folder(), &plan.id).await {
            Ok(file) => file
                .filter(|file| file.content.edited)
                .map(|file| PlanFileEdit { markdown: format!("{}\n", file.content.markdown), file: file.name }),
            Err(refusal) => {
                tracing::warn!(event = "plan_file_not_read", error = refusal.message, "the plan's file cannot be read");
                None
            }
        }
    }
}

impl PlanExport {
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
}
