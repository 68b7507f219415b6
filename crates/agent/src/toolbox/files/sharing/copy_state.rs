//! The list that a copy was brought to, kept beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};
use planwright_engine::shared_files::{FolderVersion, SharedItems};
use planwright_engine::temp_file::{TempFile, UNFINISHED, make_folder};
use serde::{Deserialize, Serialize};

const STATE: &str = "shared.json";
const LOCK: &str = "shared.lock";
/// How long another process may bring the copy up to date.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CopyState {
    pub(super) version: FolderVersion,
    pub(super) items: SharedItems,
    /// How the files of the list looked when they were compared with it.
    pub(super) seen: BTreeMap<String, SeenFile>,
    /// Files of the list whose content could not be had.
    pub(super) missing: BTreeSet<String>,
}

/// What tells that a file was changed without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeenFile {
    pub(super) bytes: u64,
    pub(super) modified: (i64, i64),
    /// No program can set this one.
    pub(super) changed: (i64, i64),
    pub(super) inode: u64,
}

impl CopyState {
    /// A state that cannot be read is none: everything is compared anew then.
    pub(super) fn load(own: &Dir) -> io::Result<Self> {
        match own.read(STATE) {
            Ok(text) => Ok(serde_json::from_slice(&text).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn save(&self, own: &Dir) -> io::Result<()> {
        let text = serde_json::to_vec(self)?;
        let unfinished = make_folder(own, UNFINISHED)?;
        TempFile::create(&unfinished, |file| file.write_all(&text))?.replace(own, STATE)
    }
}

/// Whether this folder was ever brought to a shared list.
pub(super) fn is_copy(own: &Dir) -> bool {
    own.symlink_metadata(STATE).is_ok()
}

/// The right to change the copy as a whole; released on drop.
#[derive(Debug)]
pub(super) struct CopyLock {
    _locked: File,
}

impl CopyLock {
    pub(super) fn take(own: &Dir) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).follow(FollowSymlinks::No);
        let file = own.open_with(LOCK, &options)?.into_std();
        let since = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _locked: file }),
                Err(TryLockError::WouldBlock) if since.elapsed() < LOCK_TIMEOUT => thread::sleep(RETRY_INTERVAL),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
