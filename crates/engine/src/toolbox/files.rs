//! Files in the session's own folder.
//!
//! A session's files are in `{root}/{folder name}/files`, opened as a capability: what is reached through that handle
//! lies beneath it, whatever a path says and whatever is moved meanwhile. What else belongs to the session lies beside
//! `files`, where no path leads.
//!
//! - [`path`] and [`wildcard`]: what may be said in an argument
//! - [`folder`]: the session's folder, opened, made and removed
//! - [`open`], [`walk`], [`text`]: one file, a tree of them, and their lines
//! - [`list`], [`glob`], [`grep`], [`read`], [`write`]: the tools

mod deadline;
pub(crate) mod folder;
mod glob;
mod grep;
mod io_error;
mod limits;
mod list;
mod open;
mod path;
mod quota;
mod read;
mod text;
mod tool;
mod walk;
mod wildcard;
mod write;

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::PathBuf;
use std::sync::Arc;

use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use serde_json::Value;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::Tool;
use folder::SessionFolder;
use tool::FileTool;

pub use limits::FileLimits;

/// The five file tools and the folders they work in; clones share them.
#[derive(Debug, Clone)]
pub struct FileTools {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    root: PathBuf,
    limits: FileLimits,
    /// Writers of one session wait for each other, so that the last write wins, and so that two of them do not both use
    /// the rest of the quota. Sessions may share a lock; then they wait a little longer.
    write_locks: [Arc<Mutex<()>>; 64],
}

impl FileTools {
    /// `root` is the folder of all sessions' folders; it is made when something is written.
    pub fn new(root: PathBuf, limits: FileLimits) -> Self {
        Self { shared: Arc::new(Shared { root, limits, write_locks: std::array::from_fn(|_| Arc::default()) }) }
    }

    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(FileTool::<list::ListFiles>::new(&self.shared)),
            Arc::new(FileTool::<glob::GlobFiles>::new(&self.shared)),
            Arc::new(FileTool::<grep::GrepFiles>::new(&self.shared)),
            Arc::new(FileTool::<read::ReadFile>::new(&self.shared)),
            Arc::new(FileTool::<write::WriteFile>::new(&self.shared)),
        ]
    }

    /// Where a person finds the session's files. It is there once something was written.
    pub fn folder(&self, session: &SessionIdentity) -> PathBuf {
        self.shared.folder(session).path()
    }

    /// The session's folder with everything in it, for what lies beside its files.
    pub(crate) fn whole_folder(&self, session: &SessionIdentity) -> SessionFolder {
        self.shared.folder(session)
    }

    /// Writes a file that is not there yet; one that is there stays as it is.
    pub(crate) async fn write_new(
        &self,
        session: &SessionIdentity,
        path: &str,
        content: String,
    ) -> Result<Value, Refusal> {
        let file = write::WriteFile::only_new(path, content)?;
        FileTool::<write::WriteFile>::new(&self.shared).carry_out(session, file).await
    }

    /// Removes the session's folder with everything in it, also what is not reached by the tools. Links in it are
    /// removed, never followed.
    pub async fn remove_all(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        let write_lock = self.shared.write_lock(session).await;
        let folder = self.shared.folder(session);
        tokio::task::spawn_blocking(move || {
            let _write_lock = write_lock;
            folder.remove()
        })
        .await
        .unwrap_or_else(|_| Err(broke_off("Removing the session's files")))
    }
}

impl Shared {
    fn folder(&self, session: &SessionIdentity) -> SessionFolder {
        SessionFolder::new(self.root.clone(), session)
    }

    async fn write_lock(&self, session: &SessionIdentity) -> OwnedMutexGuard<()> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(session);
        let place = usize::try_from(hash % self.write_locks.len() as u64).unwrap_or_default();
        Arc::clone(&self.write_locks[place]).lock_owned().await
    }
}

fn broke_off(what: &str) -> Refusal {
    Refusal::new(RefusalCode::Internal, format!("{what} broke off."))
}
