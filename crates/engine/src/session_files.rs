//! The ports to the files of sessions and to the files of plans. The agent's file tools stand behind them.

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use cap_std::fs::Dir;
use planwright_core::agents::Specialist;
use planwright_core::plan::template::PlanTemplate;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::workspace::Workspace;
use serde_json::Value;

use crate::ledger::Committed;

/// The folders that sessions work in.
#[async_trait]
pub trait SessionFiles: fmt::Debug + Send + Sync + 'static {
    /// The session's own folder with everything in it. `None` while there is none; none is made.
    fn open_folder(&self, session: &SessionIdentity) -> Result<Option<Dir>, Refusal>;

    /// The session's own folder, made where it is missing.
    fn make_folder(&self, session: &SessionIdentity) -> Result<Dir, Refusal>;

    /// Where a person finds the session's own files, as an absolute path.
    fn files_path(&self, session: &SessionIdentity) -> PathBuf;

    /// Writes a new file among the person's files; an existing one stays as it is.
    async fn write_new(&self, session: &SessionIdentity, path: &str, content: String) -> Result<Value, Refusal>;

    /// Reads the specialists and the template of a project; nothing in a session's own folder.
    async fn read_project(&self, workspace: &Workspace) -> ProjectAdditions;
}

/// What a project adds to the policy of the configuration.
#[derive(Debug, Default)]
pub struct ProjectAdditions {
    pub specialists: Vec<Specialist>,
    pub template: Option<PlanTemplate>,
}

/// Plans as files of the projects they are made in.
#[async_trait]
pub trait PlanFiles: fmt::Debug + Send + Sync + 'static {
    /// Writes the files of the plans that a commit changed. The commit stands, whatever comes of it.
    async fn write_changed(&self, committed: &Committed);

    /// A person's edit of the active plan's file.
    async fn find_edit(&self, snapshot: &Snapshot) -> Option<PlanFileEdit>;
}

#[derive(Debug)]
pub struct PlanFileEdit {
    /// The name of the file.
    pub file: String,
    pub markdown: String,
}
