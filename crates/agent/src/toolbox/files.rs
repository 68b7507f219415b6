//! Files in a workspace: the session's own folder, or a project folder that a person named.
//!
//! A session's own files are in `{root}/{folder name}/files`. Either folder is opened as a capability: what is reached through that handle
//! lies beneath it, whatever a path says and whatever is moved meanwhile. What else belongs to the session lies beside
//! `files`, where no path leads.
//!
//! - [`path`] and [`wildcard`]: what may be said in an argument
//! - [`folder`], [`project`], [`workspace`]: the session's folder, a project's, and the one that a call works in
//! - [`fence`]: which lease may write
//! - [`open`], [`walk`], [`text`]: one file, a tree of them, and their lines
//! - [`tree`], [`ignore_rules`]: a search through a tree of any size, without what the project ignores
//! - [`change`], [`kept`]: one file changed at once, and its content before and after
//! - [`changes`], [`diff`], [`snapshot`]: what was changed, shown and undone, and what commands changed
//! - [`watched`]: what is compared although it is ignored
//! - [`outputs`]: the output of commands, beside the session's files
//! - [`guide`], [`project_files`]: what a project says about how work is done in it, and about plans
//! - [`plan_files`]: plans as files of a project
//! - [`sharing`]: the session's folder as a copy of what several servers share
//! - [`received`]: files that a person sends to a session
//! - [`browse`], [`preview`]: files as a person looks at them, and as recorded calls would leave them
//! - [`list`], [`glob`], [`grep`], [`read`], [`write`], [`edit`], [`delete`], [`move_file`]: the tools
//! - `baseline`: the workspaces of sessions with commands in the background, as they were when they were last looked at
//! - `deadline`: when a call has to stop
//! - `git_folders`: where no file tool changes anything, because git obeys it
//! - `io_error`: errors of the file system as refusals
//! - `limits`: how much a file tool does and answers at most
//! - `quota`: the quota of a session's own folder
//! - `tool`: what the file tools have in common: arguments are taken apart, and the work is done where it may block

mod baseline;
mod browse;
mod change;
mod changes;
mod deadline;
mod delete;
mod diff;
mod edit;
mod fence;
mod folder;
mod git_folders;
mod glob;
mod grep;
mod guide;
mod ignore_rules;
mod io_error;
mod kept;
mod limits;
mod list;
mod move_file;
mod open;
mod outputs;
mod path;
mod plan_files;
mod preview;
mod project;
mod project_files;
mod quota;
mod read;
mod received;
mod sharing;
mod snapshot;
mod text;
mod tool;
mod tree;
mod walk;
mod watched;
mod wildcard;
mod workspace;
mod write;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError};

use async_trait::async_trait;
use cap_std::fs::Dir;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::Workspace;
use planwright_engine::ledger::LedgerError;
use planwright_engine::session_files::{ProjectAdditions, SessionFiles};
use serde_json::Value;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::{Tool, ToolContext};
use baseline::Baselines;
use fence::Fence;
use folder::SessionFolder;
use kept::KeptVersions;
use project::{ProjectFolder, ProjectRules};
use sharing::ClaimOutcome;
use tool::FileTool;

pub use baseline::Baseline;
pub use browse::{FileContent, FolderEntry, FolderPage};
pub use changes::UndoReport;
pub use diff::FileDiff;
pub use limits::FileLimits;
pub(crate) use outputs::CommandFolder;
pub(crate) use plan_files::{PlanFileContent, PlanFileWrite};
pub use preview::{PreviewedText, StepPreview};
pub use sharing::FileSharing;
pub use snapshot::WorkspaceSnapshot;
pub use watched::Watched;

/// The file tools and the folders they work in; clones share them.
#[derive(Debug, Clone)]
pub struct FileTools {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    root: PathBuf,
    limits: FileLimits,
    /// Writers of one session wait for each other, so that what was asked last is what stays, and so that two of them
    /// do not each find room for one. Sessions may share a place; then they wait a little longer.
    session_locks: WriteLocks,
    /// Sessions that work in one project wait for each other too. This lock comes after the session's.
    project_locks: WriteLocks,
    projects: ProjectRules,
    /// How many bytes are kept, for the sessions that this process keeps versions for.
    kept_bytes: std::sync::Mutex<HashMap<String, u64>>,
    threads: Threads,
    baselines: Baselines,
    /// Where servers share the files of sessions. Nothing where each has its own.
    sharing: OnceLock<Arc<FileSharing>>,
}

type WriteLocks = [Arc<Mutex<()>>; 64];

/// Where the work is done that may block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Threads {
    Blocking,
    /// On the thread that asks, so that a simulation has one order.
    Current,
}

impl FileTools {
    /// `root` is the folder of all sessions' folders; it is made when something is written.
    pub fn new(root: PathBuf, limits: FileLimits) -> Self {
        Self::on(root, limits, None, Threads::Blocking)
    }

    /// File tools of a server, which takes only project folders below these.
    pub fn with_allowed_projects(root: PathBuf, limits: FileLimits, allow: Vec<PathBuf>) -> Self {
        Self::on(root, limits, Some(allow), Threads::Blocking)
    }

    /// File tools for simulations: everything is done on the thread that asks.
    pub fn on_one_thread(root: PathBuf, limits: FileLimits) -> Self {
        Self::on(root, limits, None, Threads::Current)
    }

    fn on(root: PathBuf, limits: FileLimits, allow: Option<Vec<PathBuf>>, threads: Threads) -> Self {
        let locks = || std::array::from_fn(|_| Arc::default());
        let data = root.parent().unwrap_or(&root).to_owned();
        let projects = ProjectRules { allow, data };
        let kept_bytes = std::sync::Mutex::default();
        let (session_locks, project_locks) = (locks(), locks());
        Self {
            shared: Arc::new(Shared {
                root,
                limits,
                session_locks,
                project_locks,
                projects,
                kept_bytes,
                threads,
                baselines: Baselines::default(),
                sharing: OnceLock::new(),
            }),
        }
    }

    /// File tools on copies of what several servers share.
    #[must_use]
    pub fn shared_through(self, sharing: Arc<FileSharing>) -> Self {
        let _ = self.shared.sharing.set(sharing);
        self
    }

    /// Checks a folder that a person names as a project, and gives it as it is recorded: absolute, without links.
    pub fn project(&self, path: &Path) -> Result<Workspace, Refusal> {
        let project = ProjectFolder::choose(path, &self.shared.projects)?;
        // A path that is not UTF-8 was refused before.
        Ok(Workspace::Project { path: project.path.to_string_lossy().into_owned() })
    }

    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(FileTool::<list::ListFiles>::new(&self.shared)),
            Arc::new(FileTool::<glob::GlobFiles>::new(&self.shared)),
            Arc::new(FileTool::<grep::GrepFiles>::new(&self.shared)),
            Arc::new(FileTool::<read::ReadFile>::new(&self.shared)),
            Arc::new(FileTool::<write::WriteFile>::new(&self.shared)),
            Arc::new(FileTool::<edit::EditFile>::new(&self.shared)),
            Arc::new(FileTool::<delete::DeleteFile>::new(&self.shared)),
            Arc::new(FileTool::<move_file::MoveFile>::new(&self.shared)),
        ]
    }

    /// Where a person finds the session's files. The folder exists once something was written.
    pub fn folder(&self, session: &SessionIdentity) -> PathBuf {
        self.shared.folder(session).path()
    }

    /// Keeps a file that a person sent, in the session's own folder. Gives its path there.
    pub async fn receive(&self, session: &SessionIdentity, name: &str, content: Vec<u8>) -> Result<String, Refusal> {
        let write_lock = self.shared.write_locks(session, &Workspace::Own).await;
        self.shared.fetch(session).await?;
        let (folder, limits, name) = (self.shared.folder(session), self.shared.limits.clone(), name.to_owned());
        let receiving = move || {
            let _write_lock = write_lock;
            received::receive(&folder, &limits, &name, &content)
        };
        let path = self.shared.blocking("Storing the file", receiving).await?;
        self.shared.publish(session, None).await?;
        Ok(path)
    }

    /// Brings the session's folder up to date where servers share it.
    pub async fn fetch(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        self.shared.fetch(session).await
    }

    /// Shares what changed in the session's folder, where servers share it.
    pub async fn publish(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        self.shared.publish(session, None).await
    }

    /// Shares what a call changed, before its outcome is recorded.
    pub(crate) async fn publish_changes(&self, context: ToolContext<'_>) -> Result<(), Refusal> {
        self.shared.publish(context.session, context.lease_name()).await
    }

    /// Names the lease of a process that takes a session over as the one that may write, so that the process before it
    /// writes nothing any more.
    pub(crate) async fn take_over(&self, context: ToolContext<'_>) -> Result<(), Refusal> {
        let Some(lease) = context.lease_name() else { return Ok(()) };
        let (folder, fence) = (self.shared.folder(context.session), Fence { lease });
        if self.shared.sharing.get().is_some() {
            return self.shared.claim(context).await.map(drop);
        }
        // Most sessions have no files, and to see that takes less time than to hand it to another thread.
        if !Fence::is_claimed(&folder)? {
            return Ok(());
        }
        self.shared.blocking("Taking the session's files over", move || fence.claim(&folder)).await.map(drop)
    }

    /// Removes the session's folder with everything in it, also what is not reached by the tools. Links in it are
    /// removed, never followed.
    pub async fn remove_all(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        let write_lock = self.shared.write_locks(session, &Workspace::Own).await;
        let folder = self.shared.folder(session);
        let removing = move || {
            let _write_lock = write_lock;
            folder.remove()
        };
        self.shared.blocking("Removing the session's files", removing).await?;
        match self.shared.sharing.get() {
            Some(sharing) => sharing.remove(session).await,
            None => Ok(()),
        }
    }
}

#[async_trait]
impl SessionFiles for FileTools {
    fn open_folder(&self, session: &SessionIdentity) -> Result<Option<Dir>, Refusal> {
        self.shared.folder(session).open_whole()
    }

    fn make_folder(&self, session: &SessionIdentity) -> Result<Dir, Refusal> {
        self.shared.folder(session).make_whole()
    }

    fn files_path(&self, session: &SessionIdentity) -> PathBuf {
        let path = self.folder(session);
        std::path::absolute(&path).unwrap_or(path)
    }

    async fn write_new(&self, session: &SessionIdentity, path: &str, content: String) -> Result<Value, Refusal> {
        let file = write::WriteFile::only_new(path, content)?;
        let context = ToolContext::without_lease(session);
        let answer = FileTool::<write::WriteFile>::new(&self.shared).carry_out(context, file).await?;
        self.shared.publish(session, None).await?;
        Ok(answer.value)
    }

    async fn read_project(&self, workspace: &Workspace) -> ProjectAdditions {
        self.project_additions(workspace).await
    }
}

impl Shared {
    fn folder(&self, session: &SessionIdentity) -> SessionFolder {
        SessionFolder::new(self.root.clone(), session)
    }

    /// Does what may block where it may.
    async fn blocking<T: Send + 'static>(
        &self,
        what: &str,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        match self.threads {
            Threads::Blocking => tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(broke_off(what))),
            Threads::Current => work(),
        }
    }

    /// Claims the folder for the lease of a call that writes.
    async fn claim(&self, context: ToolContext<'_>) -> Result<Option<Fence>, Refusal> {
        let Some(lease) = context.lease_name() else {
            self.fetch(context.session).await?;
            return Ok(None);
        };
        let (folder, fence) = (self.folder(context.session), Fence { lease });
        let (claiming, claimed) = (fence.clone(), folder.clone());
        let is_new = self.blocking("Claiming the session's files", move || claiming.claim(&claimed)).await?;
        if is_new {
            confirm(context).await?;
        }
        if let Some(sharing) = self.sharing.get() {
            self.claim_shared(sharing, context, &folder, &fence.lease).await?;
        }
        Ok(Some(fence))
    }

    /// Claims what servers share of the folder for the lease. The lease is confirmed after the state of the list was found that
    /// the claim rests on, so a process that lost it in between claims nothing.
    async fn claim_shared(
        &self,
        sharing: &Arc<FileSharing>,
        context: ToolContext<'_>,
        folder: &SessionFolder,
        lease: &str,
    ) -> Result<(), Refusal> {
        loop {
            let found = sharing.fetch(context.session, folder).await?;
            if found.lease == lease {
                return Ok(());
            }
            confirm(context).await?;
            match sharing.claim(context.session, folder, found, lease.to_owned()).await? {
                ClaimOutcome::Claimed => return Ok(()),
                ClaimOutcome::Changed => {}
            }
        }
    }

    async fn fetch(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        match self.sharing.get() {
            Some(sharing) => sharing.fetch(session, &self.folder(session)).await.map(drop),
            None => Ok(()),
        }
    }

    async fn publish(&self, session: &SessionIdentity, lease: Option<String>) -> Result<(), Refusal> {
        match self.sharing.get() {
            Some(sharing) => sharing.publish(session, &self.folder(session), lease, &self.limits).await,
            None => Ok(()),
        }
    }

    async fn write_locks(
        &self,
        session: &SessionIdentity,
        workspace: &Workspace,
    ) -> (OwnedMutexGuard<()>, Option<OwnedMutexGuard<()>>) {
        let session = lock(&self.session_locks, session).await;
        let project = match workspace {
            Workspace::Own => None,
            Workspace::Project { path } => Some(lock(&self.project_locks, path).await),
        };
        (session, project)
    }

    /// How many threads a search may use.
    fn search_threads(&self) -> usize {
        match self.threads {
            Threads::Blocking => std::thread::available_parallelism().map_or(1, usize::from).min(8),
            Threads::Current => 1,
        }
    }

    /// Counts bytes that were kept for a session, and clears its kept versions when they are too many.
    fn count_kept(&self, session: &str, kept: &KeptVersions, added: u64) {
        let mut all = self.kept_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let total = all.get(session).map(|total| total.saturating_add(added));
        let total = match total {
            Some(total) if total <= self.limits.kept_bytes => total,
            // Other processes keep versions too, so the first call of this process counts what is there.
            Some(_) | None => match kept.clear(&self.limits) {
                Ok(left) => left,
                Err(error) => {
                    tracing::warn!(session, %error, "kept versions could not be cleared");
                    return;
                }
            },
        };
        all.insert(session.to_owned(), total);
    }
}

async fn lock(locks: &WriteLocks, key: &impl Hash) -> OwnedMutexGuard<()> {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
    let place = usize::try_from(hash % locks.len() as u64).unwrap_or_default();
    Arc::clone(&locks[place]).lock_owned().await
}

async fn confirm(context: ToolContext<'_>) -> Result<(), Refusal> {
    let is_held = context.confirm_lease().await.map_err(LedgerError::into_refusal)?;
    if is_held { Ok(()) } else { Err(fence::taken_over()) }
}

fn broke_off(what: &str) -> Refusal {
    Refusal::new(RefusalCode::Internal, format!("{what} was interrupted."))
}
