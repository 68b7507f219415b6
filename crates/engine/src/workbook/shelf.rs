//! A session's `plan` folder: the documents as files, for a person to read and to edit.
//!
//! It lies beside the folder that the file tools are opened on, so that no path of theirs leads here, and it is opened
//! as a capability itself: nothing here leads out. Whoever has the shelf has it alone, over all processes.

mod putting;
mod written;

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read as _};
use std::thread;
use std::time::{Duration, Instant};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, OpenOptions};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::workbook::{Documents, TextDigest};

use crate::toolbox::files::folder::{SessionFolder, UNFINISHED, make_folder, sync};

pub(super) use putting::Put;
pub(super) use written::{Written, WrittenDocument};

const PLAN: &str = "plan";
const ARCHIVE: &str = "archive";
/// How long somebody else may have the shelf before the files are left for later.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

/// The session's folder while nobody else may write its documents.
#[derive(Debug)]
pub(super) struct Shelf {
    own: Dir,
    /// The largest document that is taken in.
    most_bytes: usize,
    /// Given back when the shelf is dropped, and when the process ends.
    _alone: File,
}

/// What stands in the place of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OnDisk {
    /// Nothing, or nothing but white space.
    Nothing,
    Text(String),
    /// Something that cannot be a document, and why.
    Unusable(&'static str),
}

impl OnDisk {
    pub(super) fn digest(&self) -> Option<TextDigest> {
        match self {
            Self::Text(text) => Some(TextDigest::of(text)),
            Self::Nothing | Self::Unusable(_) => None,
        }
    }
}

impl Shelf {
    /// The shelf as it is, or `None` where the session has no folder. Nothing is made.
    pub(super) fn open(folder: &SessionFolder, most_bytes: usize) -> Result<Option<Self>, Refusal> {
        folder.open_whole()?.map(|own| Self::alone(own, most_bytes)).transpose()
    }

    pub(super) fn make(folder: &SessionFolder, most_bytes: usize) -> Result<Self, Refusal> {
        Self::alone(folder.make_whole()?, most_bytes)
    }

    fn alone(own: Dir, most_bytes: usize) -> Result<Self, Refusal> {
        let lock = || -> io::Result<File> {
            let file = own.open(".")?.into_std();
            let since = Instant::now();
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(file),
                    Err(TryLockError::WouldBlock) if since.elapsed() < PATIENCE => thread::sleep(PAUSE),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let alone = lock().map_err(|error| refusal(&error))?;
        Ok(Self { own, most_bytes, _alone: alone })
    }

    /// What stands in the place of each document.
    pub(super) fn look(&self) -> Result<Documents<OnDisk>, Refusal> {
        let Some(plan) = self.plan().map_err(|error| refusal(&error))? else {
            return Ok(Documents::each(|_| OnDisk::Nothing));
        };
        let mut failed = None;
        let found = Documents::each(|which| {
            self.read(&plan, which.file_name()).unwrap_or_else(|error| {
                failed.get_or_insert(refusal(&error));
                OnDisk::Nothing
            })
        });
        failed.map_or(Ok(found), Err)
    }

    fn read(&self, folder: &Dir, name: &str) -> io::Result<OnDisk> {
        let metadata = match folder.symlink_metadata(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(OnDisk::Nothing),
            metadata => metadata?,
        };
        if !metadata.is_file() {
            return Ok(OnDisk::Unusable("it is not an ordinary file"));
        }
        let mut options = OpenOptions::new();
        // What was looked at may be a link or a pipe by now.
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = folder.open_with(name, &options)?;
        if !file.metadata()?.is_file() {
            return Ok(OnDisk::Unusable("it is not an ordinary file"));
        }
        let mut bytes = Vec::new();
        file.take(self.most_bytes as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > self.most_bytes {
            return Ok(OnDisk::Unusable("it is too large"));
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) if text.trim().is_empty() => OnDisk::Nothing,
            Ok(text) => OnDisk::Text(text),
            Err(_) => OnDisk::Unusable("it is not text in UTF-8"),
        })
    }

    /// The names that archives have.
    pub(super) fn archive_names(&self) -> Vec<String> {
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
