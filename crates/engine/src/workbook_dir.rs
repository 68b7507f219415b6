//! A session's `plan` folder: where it is, and the documents as files for a person to read and to edit.
//!
//! It lies beside the folder that the file tools are opened on, so that none of their paths reaches it, and it is opened as
//! a capability itself. A lock keeps other processes away while a `WorkbookDir` is open.

mod atomic_write;
mod write_record;

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, OpenOptions};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::workbook::{Documents, TextDigest};

use crate::session_files::SessionFiles;
use crate::temp_file::{UNFINISHED, make_folder, sync};

pub(crate) use atomic_write::WriteResult;
pub(crate) use write_record::{WriteRecord, WrittenVersion};

/// Where copies of workbooks are kept for people.
#[derive(Debug, Clone, Default)]
pub(crate) enum WorkbookLocation {
    /// Beside the files of the agent that works with the engine; without an agent, nowhere.
    #[default]
    BesideFiles,
    Nowhere,
    In(WorkbookFolders),
}

/// Where the engine finds the files that belong to sessions.
#[derive(Debug, Clone)]
pub struct WorkbookFolders {
    /// The folders of all sessions; a workbook lies beside a session's files.
    pub files: Arc<dyn SessionFiles>,
    /// Where a person may have templates of their own.
    pub templates: Option<PathBuf>,
}

const PLAN: &str = "plan";
const ARCHIVE: &str = "archive";
/// How long another process may hold the lock before the files are left for later.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_RETRY: Duration = Duration::from_millis(5);

/// The session's folder, locked against other writers of its documents.
#[derive(Debug)]
pub(crate) struct WorkbookDir {
    own: Dir,
    /// The largest document that is taken in.
    max_bytes: usize,
    /// Released on drop, and when the process ends.
    _lock: File,
}

/// The file of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// No file, or one with nothing but white space.
    Missing,
    Text(String),
    /// Something that cannot be a document, and why.
    Unusable(&'static str),
}

impl OnDisk {
    pub(crate) fn digest(&self) -> Option<TextDigest> {
        match self {
            Self::Text(text) => Some(TextDigest::of(text)),
            Self::Missing | Self::Unusable(_) => None,
        }
    }
}

impl WorkbookDir {
    /// Locks a session's folder.
    pub(crate) fn lock(own: Dir, max_bytes: usize) -> Result<Self, Refusal> {
        let lock = || -> io::Result<File> {
            let file = own.open(".")?.into_std();
            let since = Instant::now();
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(file),
                    Err(TryLockError::WouldBlock) if since.elapsed() < LOCK_TIMEOUT => thread::sleep(LOCK_RETRY),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let lock = lock().map_err(|error| refusal(&error))?;
        Ok(Self { own, max_bytes, _lock: lock })
    }

    /// The file of each document.
    pub(crate) fn read_all(&self) -> Result<Documents<OnDisk>, Refusal> {
        let Some(plan) = self.plan().map_err(|error| refusal(&error))? else {
            return Ok(Documents::each(|_| OnDisk::Missing));
        };
        let mut failed = None;
        let found = Documents::each(|which| {
            self.read(&plan, which.file_name()).unwrap_or_else(|error| {
                failed.get_or_insert(refusal(&error));
                OnDisk::Missing
            })
        });
        failed.map_or(Ok(found), Err)
    }

    fn read(&self, folder: &Dir, name: &str) -> io::Result<OnDisk> {
        let metadata = match folder.symlink_metadata(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(OnDisk::Missing),
            metadata => metadata?,
        };
        if !metadata.is_file() {
            return Ok(OnDisk::Unusable("it is not an ordinary file"));
        }
        let mut options = OpenOptions::new();
        // The entry may have become a link or a pipe since the look.
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = folder.open_with(name, &options)?;
        if !file.metadata()?.is_file() {
            return Ok(OnDisk::Unusable("it is not an ordinary file"));
        }
        let mut bytes = Vec::new();
        file.take(self.max_bytes as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > self.max_bytes {
            return Ok(OnDisk::Unusable("it is too large"));
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) if text.trim().is_empty() => OnDisk::Missing,
            Ok(text) => OnDisk::Text(text),
            Err(_) => OnDisk::Unusable("it is not text in UTF-8"),
        })
    }

    /// The names that archives have.
    pub(crate) fn archive_names(&self) -> Vec<String> {
        let names = || -> io::Result<Vec<String>> {
            let Some(plan) = self.plan()? else { return Ok(Vec::new()) };
            let entries = plan.open_dir_nofollow(ARCHIVE)?.entries()?;
            Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
        };
        // Where there is no folder no name is taken; a name that is taken all the same is never written over.
        names().unwrap_or_default()
    }

    fn plan(&self) -> io::Result<Option<Dir>> {
        match self.own.open_dir_nofollow(PLAN) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn make_plan(&self) -> io::Result<Dir> {
        make_folder(&self.own, PLAN)
    }

    /// Where a file is until it is whole.
    fn unfinished(&self) -> io::Result<Dir> {
        make_folder(&self.own, UNFINISHED)
    }
}

fn refusal(error: &io::Error) -> Refusal {
    Refusal::new(RefusalCode::Unavailable, format!("The folder of the planning files cannot be used: {error}."))
}
