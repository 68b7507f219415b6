//! A session's folder as a copy of what several servers share.
//!
//! The copy is brought up to date before it is read, and what changed in it is shared before the outcome of the change is
//! recorded. One process at a time does either; a lock beside the files keeps the others waiting. What the folder has is a list in
//! the store, and a write succeeds only on the list that it was made from. A server that took a session over puts the name of its
//! lease into the list, so that the server before it shares nothing any more.
//!
//! - [`copy_state`]: the list that the copy was brought to, and the lock
//! - [`scan`]: what the copy has now
//! - [`update`]: the copy as the list says
//! - [`upkeep`]: what is shared, checked, and what nothing needs, removed

mod copy_state;
mod scan;
#[cfg(test)]
mod tests;
mod update;
mod upkeep;

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::ContentHash;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::shared_files::merge::{self, ChangedBy};
use planwright_engine::shared_files::{BlobStore, FolderIndex, FolderVersion, SharedFolder, pieces_of, read_piece};
use tokio::runtime::Handle;
use uuid::Uuid;

use super::FileLimits;
use super::folder::SessionFolder;
use copy_state::{CopyLock, CopyState};
use scan::{PieceSink, Scan};

/// The folders of a session that are shared. The workbook's files are written from the ledger on every server.
const SHARED: [&str; 3] = ["files", "kept", "outputs"];
/// How often a change is tried again on a list that others changed meanwhile.
const MAX_ROUNDS: u32 = 5;
/// Pieces that no list names are removed when they are this old: until then a server may be about to name them.
const UNUSED_TIME: Duration = Duration::from_secs(3600);
/// How often a process looks for them in one session.
const COLLECTION_INTERVAL: Duration = Duration::from_secs(600);
/// The output of commands and the results of calls, beside the files and their versions.
const OUTPUT_BYTES: u64 = 256 * 1024 * 1024;

/// Where the files of sessions are shared.
#[derive(Debug)]
pub struct FileSharing {
    index: Arc<dyn FolderIndex>,
    blobs: Arc<dyn BlobStore>,
    /// The state of each copy that this process knows. Another process may have brought it further.
    known: Mutex<HashMap<String, FolderVersion>>,
    /// When unused pieces of a session were removed last.
    collected: Mutex<HashMap<String, Instant>>,
}

/// What a claim led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimOutcome {
    Claimed,
    /// Others changed the folder meanwhile. The store has to confirm the lease again.
    Changed,
}

/// One session's copy, and how to reach what is shared of it. It may block.
#[derive(Debug)]
struct SharedCopy<'a> {
    sharing: &'a FileSharing,
    session: &'a SessionIdentity,
    own: Dir,
    handle: Handle,
    _lock: CopyLock,
}

impl FileSharing {
    pub fn new(index: Arc<dyn FolderIndex>, blobs: Arc<dyn BlobStore>) -> Self {
        Self { index, blobs, known: Mutex::default(), collected: Mutex::default() }
    }

    fn known(&self, folder: &SessionFolder) -> Option<FolderVersion> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(folder.name()).cloned()
    }

    fn note(&self, folder: &SessionFolder, version: &FolderVersion) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(folder.name().to_owned(), version.clone());
    }

    /// Brings the copy up to date. Most often it is already, and only the state of the list is read.
    pub(super) async fn fetch(
        self: &Arc<Self>,
        session: &SessionIdentity,
        folder: &SessionFolder,
    ) -> Result<FolderVersion, Refusal> {
        let shared = self.index.folder_version(session).await.map_err(LedgerError::into_refusal)?.unwrap_or_default();
        let is_nothing = shared.number == 0 && folder.open_whole()?.is_none();
        if is_nothing || self.known(folder).as_ref() == Some(&shared) {
            return Ok(shared);
        }
        self.with_copy(session, folder, |copy| Ok(copy.fetch()?.version)).await
    }

    /// Names the lease in the list as the one that files are written under. The copy is up to date then.
    pub(super) async fn claim(
        self: &Arc<Self>,
        session: &SessionIdentity,
        folder: &SessionFolder,
        found: FolderVersion,
        lease: String,
    ) -> Result<ClaimOutcome, Refusal> {
        self.with_copy(session, folder, move |copy| copy.claim(&found, &lease)).await
    }

    /// Shares what changed in the copy. `lease` is the one that it was changed under, if a lease protects the change.
    pub(super) async fn publish(
        self: &Arc<Self>,
        session: &SessionIdentity,
        folder: &SessionFolder,
        lease: Option<String>,
        limits: &FileLimits,
    ) -> Result<(), Refusal> {
        let most = limits.session_bytes.saturating_add(limits.kept_bytes).saturating_add(OUTPUT_BYTES);
        if folder.open_whole()?.is_none() {
            return Ok(());
        }
        self.with_copy(session, folder, move |copy| copy.publish(lease.as_deref(), most)).await
    }

    /// Removes what is shared of a session. Its list goes with the session.
    pub(super) async fn remove(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        self.blobs.remove_all(session).await.map(drop).map_err(LedgerError::into_refusal)
    }

    async fn with_copy<T: Send + 'static>(
        self: &Arc<Self>,
        session: &SessionIdentity,
        folder: &SessionFolder,
        work: impl FnOnce(&SharedCopy<'_>) -> LedgerResult<T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (sharing, session, folder) = (Arc::clone(self), session.clone(), folder.clone());
        let handle = Handle::current();
        let working = tokio::task::spawn_blocking(move || -> Result<T, Refusal> {
            let own = folder.make_whole()?;
            let lock = CopyLock::take(&own).map_err(|error| unusable(&error))?;
            let copy = SharedCopy { sharing: &sharing, session: &session, own, handle, _lock: lock };
            let done = work(&copy).map_err(LedgerError::into_refusal)?;
            let state = CopyState::load(&copy.own).map_err(|error| unusable(&error))?;
            sharing.note(&folder, &state.version);
            Ok(done)
        });
        let broke_off = |_| Err(Refusal::new(RefusalCode::Internal, "Sharing the session's files was interrupted."));
        working.await.unwrap_or_else(broke_off)
    }
}

impl SharedCopy<'_> {
    fn load(&self) -> LedgerResult<CopyState> {
        CopyState::load(&self.own).map_err(|error| failed(&error))
    }

    /// The copy as the list of now says; what stands in the list then.
    fn fetch(&self) -> LedgerResult<CopyState> {
        let mut state = self.load()?;
        let shared = self.handle.block_on(self.sharing.index.shared_folder(self.session))?;
        let shared = shared.unwrap_or_default();
        if shared.version == state.version {
            return Ok(state);
        }
        let is_begun_again = shared.version.number == 0;
        if is_begun_again {
            // The session was deleted and begun again. What lies here belongs to the one before.
            state = CopyState::default();
        }
        let here = self.scan(&state, &mut PieceSink::Hash)?;
        let is_same = shared.version.folder == state.version.folder && shared.version.lease == state.version.lease;
        let by = if is_same && !is_begun_again { ChangedBy::SameWork } else { ChangedBy::OtherWork };
        let changes = merge::changes(&state.items, &here.items, &shared.items, by);
        if !changes.aside.is_empty() {
            tracing::warn!(
                session_identity = %self.session, event = "files_put_aside", paths = ?changes.aside,
                "another server went on with the session; what was not shared of these files is kept in `aside`"
            );
        }
        let missing = update::apply(self, &changes, &shared)?;
        state.missing.retain(|path| shared.items.contains_key(path) && !changes.made.contains(path));
        state.missing.extend(missing);
        state.version = shared.version;
        state.items = shared.items;
        state.seen = here.seen;
        state.seen.retain(|path, _| !changes.made.contains(path));
        self.save(&state)?;
        Ok(state)
    }

    fn claim(&self, found: &FolderVersion, lease: &str) -> LedgerResult<ClaimOutcome> {
        let state = self.fetch()?;
        // The lease was confirmed after this state was found. Any later one may be that of another server.
        if state.version != *found {
            return Ok(ClaimOutcome::Changed);
        }
        let scan = self.scan(&state, &mut self.uploads(&state))?;
        let stored = self.store(state, scan, lease)?;
        Ok(if stored { ClaimOutcome::Claimed } else { ClaimOutcome::Changed })
    }

    fn publish(&self, lease: Option<&str>, most: u64) -> LedgerResult<()> {
        for _ in 0..MAX_ROUNDS {
            let mut state = self.fetch()?;
            // Nothing was claimed under this lease: what is different here will be shared with what is written next.
            if lease.is_some_and(|lease| lease != state.version.lease) {
                return Ok(());
            }
            let bytes = scan::bytes(&self.own).map_err(|error| failed(&error))?;
            if bytes > most {
                return Err(Refusal::limit(format!(
                    "The session's folder has {bytes} bytes, and servers share at most {most}. What changed in it is on this \
                     server only; remove what is not needed."
                ))
                .into());
            }
            let scan = self.scan(&state, &mut self.uploads(&state))?;
            if scan.items == state.items {
                if scan.seen != state.seen {
                    state.seen = scan.seen;
                    self.save(&state)?;
                }
                return Ok(());
            }
            let lease = state.version.lease.clone();
            if self.store(state, scan, &lease)? {
                return Ok(());
            }
        }
        Err(LedgerError::Unavailable("the files of the session change all the time on other servers".to_owned()))
    }

    /// Stores the list that follows. Returns false if others changed it meanwhile, or if the session is gone.
    fn store(&self, mut state: CopyState, scan: Scan, lease: &str) -> LedgerResult<bool> {
        let before = state.version.clone();
        let folder = if before.number == 0 { Uuid::now_v7().to_string() } else { before.folder.clone() };
        let version = FolderVersion { folder, number: before.number + 1, lease: lease.to_owned() };
        let after = SharedFolder { version, items: scan.items };
        let is_stored = self.handle.block_on(self.sharing.index.store_folder(self.session, &before, &after))?;
        if is_stored {
            let named: HashSet<&ContentHash> = pieces_of(&after.items).collect();
            let drops_pieces = pieces_of(&state.items).any(|hash| !named.contains(hash));
            state.version = after.version;
            state.items = after.items;
            state.seen = scan.seen;
            self.save(&state)?;
            if drops_pieces && self.is_collection_due() {
                self.collect_garbage();
            }
        }
        Ok(is_stored)
    }

    fn is_collection_due(&self) -> bool {
        let mut collected = self.sharing.collected.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, now) = (self.session.folder_name(), Instant::now());
        let is_due = collected.get(&name).is_none_or(|at| now.duration_since(*at) >= COLLECTION_INTERVAL);
        if is_due {
            collected.insert(name, now);
        }
        is_due
    }

    fn collect_garbage(&self) {
        if let Err(error) = self.handle.block_on(self.sharing.remove_unnamed(self.session)) {
            tracing::warn!(session_identity = %self.session, event = "file_pieces_not_removed", %error);
        }
    }

    fn scan(&self, state: &CopyState, pieces: &mut PieceSink<'_>) -> LedgerResult<Scan> {
        scan::scan(&self.own, state, pieces).map_err(|error| failed(&error))
    }

    /// Keeps every piece that the list does not name yet.
    fn uploads<'a>(&'a self, state: &CopyState) -> PieceSink<'a> {
        let mut kept: HashSet<ContentHash> = pieces_of(&state.items).copied().collect();
        PieceSink::Keep(Box::new(move |hash, content| {
            if kept.insert(*hash) {
                let put = self.sharing.blobs.put(self.session, hash, content.to_vec());
                self.handle.block_on(put).map_err(|error| io::Error::other(error.to_string()))?;
            }
            Ok(())
        }))
    }

    fn piece(&self, hash: &ContentHash) -> LedgerResult<Vec<u8>> {
        self.handle.block_on(read_piece(self.sharing.blobs.as_ref(), self.session, hash))
    }

    fn save(&self, state: &CopyState) -> LedgerResult<()> {
        state.save(&self.own).map_err(|error| failed(&error))
    }
}

fn failed(error: &io::Error) -> LedgerError {
    LedgerError::Unavailable(format!("the session's files cannot be shared: {error}"))
}

fn unusable(error: &io::Error) -> Refusal {
    Refusal::new(RefusalCode::Unavailable, format!("The session's files cannot be shared: {error}."))
}
