//! What commands change: the files of a workspace before and after, compared.
//!
//! It looks at what git would look at: not at `.git`, not at what is ignored, unless git tracks it, the approved plan names
//! it, or it later runs or instructs. What is ignored is said by the rules of before the command. Git itself is not run, because a command
//! may have written filters or hooks into the repository's configuration, and git would run them outside of the sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use planwright_core::permission::{DeniedPaths, GuardedFiles};
use planwright_core::refusal::Refusal;
use planwright_core::workspace::{ChangedPaths, ContentHash, Workspace};
use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::fs::Stat;

use super::FileTools;
use super::change::hash_of;
use super::deadline::Deadline;
use super::ignore_rules::{IgnoreOptions, IgnoreRules};
use super::list;
use super::path::FilePath;
use super::tree::{Tree, TreeFile, TreeVisitor};
use super::watched::{WatchRules, Watched};
use super::workspace::WorkspaceFolder;
use crate::toolbox::ToolContext;

/// Files that changed this shortly before are hashed, because the clock of a file system may not tell two changes apart.
const RECENT: Duration = Duration::from_secs(2);
/// A larger file is told from its size and times alone.
const HASHED: u64 = 16 * 1024 * 1024;

/// The files of a workspace at one time.
#[derive(Debug, Clone)]
pub struct WorkspaceSnapshot {
    workspace: Workspace,
    files: BTreeMap<String, FileStatus>,
    /// Whether every file was looked at.
    complete: bool,
    /// `None` while the folder does not exist.
    rules: Option<Arc<WatchRules>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStatus {
    bytes: i64,
    modified: (i64, u64),
    /// No program can set this one.
    changed: (i64, u64),
    inode: u64,
    mode: u32,
    /// Only of files that changed shortly before.
    hash: Option<ContentHash>,
}

impl FileTools {
    /// Looks at every file of the workspace that is not ignored, and at the watched ones.
    pub async fn snapshot(&self, context: ToolContext<'_>, watched: Watched) -> Result<WorkspaceSnapshot, Refusal> {
        self.look(context, move |root| WatchRules::new(watched, root)).await
    }

    /// Looks at the workspace again, by the rules that an earlier look found there.
    pub async fn snapshot_after(
        &self,
        context: ToolContext<'_>,
        before: &WorkspaceSnapshot,
    ) -> Result<WorkspaceSnapshot, Refusal> {
        let rules = before.rules.clone().filter(|_| before.workspace == *context.workspace);
        self.look(context, move |root| rules.unwrap_or_else(|| WatchRules::new(Watched::default(), root))).await
    }

    async fn look(
        &self,
        context: ToolContext<'_>,
        rules: impl FnOnce(BorrowedFd<'_>) -> Arc<WatchRules> + Send + 'static,
    ) -> Result<WorkspaceSnapshot, Refusal> {
        self.shared.fetch(context.session).await?;
        let (own, workspace) = (self.shared.folder(context.session), context.workspace.clone());
        let limits = self.shared.limits.clone();
        let (deadline, _cancel_on_drop) = Deadline::begin(limits.time);
        let (projects, threads) = (self.shared.projects.clone(), self.shared.search_threads());
        let work = move || {
            let folder = WorkspaceFolder::open(&workspace, own, &projects)?;
            let mut snapshot = WorkspaceSnapshot { workspace, files: BTreeMap::new(), complete: true, rules: None };
            let Some(files) = folder.files()? else { return Ok(snapshot) };
            let root = FilePath::default();
            let (folder, _) = list::open_folder(&files, &root, IgnoreOptions::default(), &DeniedPaths::default())?;
            let watch = rules(files.as_fd());
            let rules = IgnoreRules::watching(files.as_fd(), Arc::clone(&watch));
            let tree = Tree::new(&deadline, limits.walked_entries);
            let since = SystemTime::now().checked_sub(RECENT).unwrap_or(UNIX_EPOCH);
            let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
            let recent = (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), u64::from(since.subsec_nanos()));
            let mut looks: Vec<_> = (0..threads).map(|_| Look { recent, files: Vec::new() }).collect();
            tree.search(folder, &root, rules, &mut looks);
            watch.keep();
            snapshot.files = looks.into_iter().flat_map(|look| look.files).collect();
            snapshot.complete = !tree.stopped_early() && tree.skipped() == 0;
            snapshot.rules = Some(watch);
            Ok(snapshot)
        };
        self.shared.blocking("Looking at the workspace", work).await
    }
}

impl WorkspaceSnapshot {
    /// The files that later run or instruct.
    pub(crate) fn guarded(&self) -> GuardedFiles {
        self.rules.as_ref().map(|rules| rules.watched.guarded.clone()).unwrap_or_default()
    }

    /// What is different in `after`. Nothing can be said about another workspace.
    pub fn compare(&self, after: &Self) -> ChangedPaths {
        let mut paths = ChangedPaths {
            complete: self.complete && after.complete && self.workspace == after.workspace,
            ..ChangedPaths::default()
        };
        if self.workspace != after.workspace {
            return paths;
        }
        for (path, now) in &after.files {
            match self.files.get(path) {
                None => paths.added.push(path.clone()),
                Some(before) if before.differs(now) => paths.changed.push(path.clone()),
                Some(_) => {}
            }
        }
        paths.removed = self.files.keys().filter(|path| !after.files.contains_key(*path)).cloned().collect();
        paths
    }
}

impl FileStatus {
    fn of(status: &Stat) -> Self {
        Self {
            bytes: status.st_size,
            modified: (status.st_mtime, status.st_mtime_nsec),
            changed: (status.st_ctime, status.st_ctime_nsec),
            inode: status.st_ino,
            mode: status.st_mode,
            hash: None,
        }
    }

    fn differs(&self, now: &Self) -> bool {
        if self.bytes != now.bytes || self.mode != now.mode {
            return true;
        }
        match (self.hash, now.hash) {
            (Some(before), Some(after)) => before != after,
            (Some(_) | None, None) | (None, Some(_)) => {
                (self.modified, self.changed, self.inode) != (now.modified, now.changed, now.inode)
            }
        }
    }
}

/// One thread's part.
#[derive(Debug)]
struct Look {
    /// Files that changed after this are hashed.
    recent: (i64, u64),
    files: Vec<(String, FileStatus)>,
}

impl TreeVisitor for Look {
    fn is_past(&self, _path: &str) -> bool {
        false
    }

    fn visit(&mut self, file: &TreeFile<'_>) {
        let Some(status) = file.status() else { return };
        let mut status = FileStatus::of(&status);
        if status.changed >= self.recent
            && let Some((opened, _)) = file.open().filter(|(_, bytes)| *bytes <= HASHED)
        {
            status.hash = hash_of(opened).ok();
        }
        self.files.push((file.path.to_owned(), status));
    }
}
