//! Files in the session's own folder.
//!
//! A session's files are in `{root}/{folder name}/files`, opened as a capability: what is reached through that handle
//! lies beneath it, whatever a path says and whatever is moved meanwhile. What else belongs to the session lies beside
//! `files`, where no path leads.
//!
//! - [`path`] and [`wildcard`]: what may be said in an argument
//! - [`folder`]: the session's folder, opened, made and removed
//! - [`fence`]: which lease may write there
//! - [`open`], [`walk`], [`text`]: one file, a tree of them, and their lines
//! - [`list`], [`glob`], [`grep`], [`read`], [`write`]: the tools

mod effort;
mod fence;
pub(crate) mod folder;
mod glob;
mod grep;
mod limits;
mod list;
mod open;
mod path;
mod read;
mod room;
mod text;
mod tool;
mod trouble;
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

use super::{Tool, ToolContext};
use crate::ledger::LedgerError;
use fence::Fence;
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
    /// Writers of one session wait for each other, so that what was asked last is what stays, and so that two of them
    /// do not each find room for one. Sessions may share a place; then they wait a little longer.
    turns: [Arc<Mutex<()>>; 64],
    threads: Threads,
}

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
        Self::on(root, limits, Threads::Blocking)
    }

    /// The same for simulations: everything is done on the thread that asks.
    pub fn on_one_thread(root: PathBuf, limits: FileLimits) -> Self {
        Self::on(root, limits, Threads::Current)
    }

    fn on(root: PathBuf, limits: FileLimits, threads: Threads) -> Self {
        let turns = std::array::from_fn(|_| Arc::default());
        Self { shared: Arc::new(Shared { root, limits, turns, threads }) }
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
        let context = ToolContext::without_lease(session);
        FileTool::<write::WriteFile>::new(&self.shared).carry_out(context, file).await
    }

    /// Names the lease of a process that takes a session over as the one that may write, so that the process before it
    /// writes nothing any more.
    pub(crate) async fn take_over(&self, context: ToolContext<'_>) -> Result<(), Refusal> {
        let Some(lease) = context.lease_name() else { return Ok(()) };
        let (folder, fence) = (self.shared.folder(context.session), Fence { lease });
        self.shared.blocking("Taking the session's files over", move || fence.take_over(&folder)).await
    }

    /// Removes the session's folder with everything in it, also what is not reached by the tools. Links in it are
    /// removed, never followed.
    pub async fn remove_all(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        let turn = self.shared.turn(session).await;
        let folder = self.shared.folder(session);
        let removing = move || {
            let _turn = turn;
            folder.remove()
        };
        self.shared.blocking("Removing the session's files", removing).await
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
        let Some(lease) = context.lease_name() else { return Ok(None) };
        let (folder, fence) = (self.folder(context.session), Fence { lease });
        let claiming = fence.clone();
        let is_new = self.blocking("Claiming the session's files", move || claiming.claim(&folder)).await?;
        if is_new && !context.confirm_lease().await.map_err(LedgerError::into_refusal)? {
            return Err(fence::taken_over());
        }
        Ok(Some(fence))
    }

    async fn turn(&self, session: &SessionIdentity) -> OwnedMutexGuard<()> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(session);
        let place = usize::try_from(hash % self.turns.len() as u64).unwrap_or_default();
        Arc::clone(&self.turns[place]).lock_owned().await
    }
}

fn broke_off(what: &str) -> Refusal {
    Refusal::new(RefusalCode::Internal, format!("{what} broke off."))
}
