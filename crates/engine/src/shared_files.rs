//! The ports by which the files of sessions are shared between servers that share no disk.
//!
//! A server works on a copy of the session's folder in its own data folder. What the folder has is a list in the store,
//! [`FolderIndex`]; the content is kept in pieces that are found by their hash, [`BlobStore`]. Each server brings its copy up
//! to date before it reads, and shares what it changed before the outcome of the change is recorded.
//!
//! - [`merge`]: what has to be done to a copy so that it is as the list says

pub mod merge;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::ContentHash;
use serde::{Deserialize, Serialize};

use crate::ledger::{LedgerError, LedgerResult};

/// The largest piece of a file.
pub const PIECE_BYTES: usize = 1024 * 1024;

/// Something in a session's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SharedItem {
    Folder,
    /// A symbolic link.
    Link {
        to: String,
    },
    File(SharedFile),
}

/// A file, and the pieces that its content is kept in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedFile {
    pub hash: ContentHash,
    pub bytes: u64,
    /// The permission bits, where the operating system has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// In order. Empty for a file that is one piece, whose hash is that of the file, and for an empty file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<ContentHash>,
}

impl SharedFile {
    /// The pieces of the content, in order.
    pub fn pieces(&self) -> &[ContentHash] {
        match (self.bytes, self.pieces.is_empty()) {
            (0, _) => &[],
            (_, true) => std::slice::from_ref(&self.hash),
            (_, false) => &self.pieces,
        }
    }
}

/// What a folder has, by path with `/` between names.
pub type SharedItems = BTreeMap<String, SharedItem>;

/// The pieces of all files.
pub fn pieces_of(items: &SharedItems) -> impl Iterator<Item = &ContentHash> {
    items.values().flat_map(|item| match item {
        SharedItem::File(file) => file.pieces(),
        SharedItem::Folder | SharedItem::Link { .. } => &[],
    })
}

/// One state of a session's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderVersion {
    /// The folder of a session that was deleted and begun again is another one.
    pub folder: String,
    /// Grows with each change; 0 while nothing is shared.
    pub number: u64,
    /// The lease under which files are written. A server that took the session over names another one.
    pub lease: String,
}

/// What the servers share of a session's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedFolder {
    pub version: FolderVersion,
    pub items: SharedItems,
}

/// The lists of what the folders of sessions have.
#[async_trait]
pub trait FolderIndex: fmt::Debug + Send + Sync + 'static {
    /// `None` while nothing of the session is shared.
    async fn folder_version(&self, session: &SessionIdentity) -> LedgerResult<Option<FolderVersion>>;

    async fn shared_folder(&self, session: &SessionIdentity) -> LedgerResult<Option<SharedFolder>>;

    /// Stores the list that follows `before`. Returns false if that is not the state of the folder any more, or if there is no
    /// such session; nothing is stored then.
    async fn store_folder(
        &self,
        session: &SessionIdentity,
        before: &FolderVersion,
        after: &SharedFolder,
    ) -> LedgerResult<bool>;
}

/// A kept piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredBlob {
    pub hash: ContentHash,
    pub bytes: u64,
    /// How long ago it was put there last, by the clock of the place that keeps it.
    pub age: Duration,
}

/// Pieces of files, each for one session and found by its hash. Pieces of different sessions are never the same one, so that
/// those of a session go with it.
#[async_trait]
pub trait BlobStore: fmt::Debug + Send + Sync + 'static {
    /// Where the pieces are, for people.
    fn place(&self) -> String;

    /// Keeps a piece. One that was kept before counts as new.
    async fn put(&self, session: &SessionIdentity, hash: &ContentHash, content: Vec<u8>) -> LedgerResult<()>;

    /// What is kept under this hash, unchecked. [`read_piece`] checks it.
    async fn get(&self, session: &SessionIdentity, hash: &ContentHash) -> LedgerResult<Option<Vec<u8>>>;

    async fn list(&self, session: &SessionIdentity) -> LedgerResult<Vec<StoredBlob>>;

    /// Removes pieces that were put there so long ago. One that is not there, or was put there again meanwhile, is left out.
    async fn remove(&self, session: &SessionIdentity, pieces: &[ContentHash], older_than: Duration)
    -> LedgerResult<()>;

    /// The sessions that have pieces.
    async fn sessions(&self) -> LedgerResult<Vec<SessionIdentity>>;

    /// Removes pieces of sessions that are gone, where they can be told. Returns how many there were.
    async fn remove_orphans(&self) -> LedgerResult<u64> {
        Ok(0)
    }

    /// Removes all pieces of a session. Returns how many there were.
    async fn remove_all(&self, session: &SessionIdentity) -> LedgerResult<u64> {
        let pieces: Vec<_> = self.list(session).await?.into_iter().map(|blob| blob.hash).collect();
        self.remove(session, &pieces, Duration::ZERO).await?;
        Ok(pieces.len() as u64)
    }
}

/// A piece, compared with its hash. One that is missing or different is damage.
pub async fn read_piece(blobs: &dyn BlobStore, session: &SessionIdentity, hash: &ContentHash) -> LedgerResult<Vec<u8>> {
    let what = || format!("the piece {hash} of the files of {session}");
    let content = blobs.get(session, hash).await?;
    let content = content.ok_or_else(|| LedgerError::damaged(what(), format!("it is not in {}", blobs.place())))?;
    if ContentHash::of(&content) != *hash {
        return Err(LedgerError::damaged(what(), format!("what is kept in {} has another hash", blobs.place())));
    }
    Ok(content)
}
