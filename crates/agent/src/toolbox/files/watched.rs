//! What a comparison of a workspace looks at although it is ignored, and the rules it goes by.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use planwright_core::permission::GuardedFiles;
use rustix::fd::{AsFd as _, BorrowedFd};

use super::ignore_rules::OpenAs;
use super::tree::open_at;

/// A longer index of git's is not read.
const MAX_INDEX: u64 = 256 * 1024 * 1024;
const MAX_NAME: u64 = 4096;

/// What a caller wants to know of although it is ignored.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// The paths that the approved plan names.
    pub plan_files: Vec<String>,
    /// Files that later run or instruct.
    pub guarded: GuardedFiles,
}

/// How ignored files are told from others, from one look at a workspace to the next.
#[derive(Debug)]
pub(super) struct WatchRules {
    pub(super) watched: Watched,
    /// What git tracked at the first look.
    tracked: BTreeSet<String>,
    /// The rules of each folder as they were at the first look. A command may change them.
    texts: Mutex<HashMap<String, Vec<String>>>,
    is_first: std::sync::atomic::AtomicBool,
}

impl WatchRules {
    pub(super) fn new(watched: Watched, root: BorrowedFd<'_>) -> Arc<Self> {
        let tracked = tracked(root).unwrap_or_default();
        Arc::new(Self { watched, tracked, texts: Mutex::default(), is_first: true.into() })
    }

    /// From now on the rules are those that were read up to here.
    pub(super) fn keep(&self) {
        self.is_first.store(false, std::sync::atomic::Ordering::Relaxed);
    }

    /// The rules of a folder: those of the first look.
    pub(super) fn texts(&self, folder: &str, read: impl FnOnce() -> Vec<String>) -> Vec<String> {
        if !self.is_first.load(std::sync::atomic::Ordering::Relaxed) {
            return self.lock().get(folder).cloned().unwrap_or_default();
        }
        let texts = read();
        if !texts.is_empty() {
            self.lock().insert(folder.to_owned(), texts.clone());
        }
        texts
    }

    /// Whether an ignored entry is looked at all the same, or something in it is.
    pub(super) fn wants(&self, path: &str, is_folder: bool) -> bool {
        let is_below = |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let named = |file: &String| {
            let file = file.trim_end_matches('/');
            !file.is_empty() && (file == path || is_below(path, file) || (is_folder && is_below(file, path)))
        };
        if self.watched.guarded.contain(path) || self.watched.plan_files.iter().any(named) {
            return true;
        }
        if !is_folder {
            return self.tracked.contains(path);
        }
        let first = format!("{path}/");
        self.tracked.range(first.clone()..).next().is_some_and(|tracked| tracked.starts_with(&first))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<String>>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The paths in the index of the workspace's repository. `None` without one, or for one that cannot be read.
fn tracked(root: BorrowedFd<'_>) -> Option<BTreeSet<String>> {
    let index = match open_at(root, ".git", OpenAs::Folder) {
        Some(git) => File::from(open_at(git.as_fd(), "index", OpenAs::File)?),
        None => {
            // A worktree or a submodule names the folder, which may be outside. Only names are read from there.
            let mut text = String::new();
            let file = File::from(open_at(root, ".git", OpenAs::File)?);
            file.take(MAX_NAME).read_to_string(&mut text).ok()?;
            let folder = Path::new(text.strip_prefix("gitdir:")?.trim());
            let git = rustix::fs::openat(
                root,
                folder,
                rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC,
                rustix::fs::Mode::empty(),
            );
            File::from(open_at(git.ok()?.as_fd(), "index", OpenAs::File)?)
        }
    };
    let mut bytes = Vec::new();
    index.take(MAX_INDEX).read_to_end(&mut bytes).ok()?;
    Some(names_in(&bytes))
}

/// The names in git's index, in any of its versions, up to where it makes no sense.
fn names_in(index: &[u8]) -> BTreeSet<String> {
    const STATUS: usize = 40;
    const HASH: usize = 20;
    let mut names = BTreeSet::new();
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let (Some(b"DIRC"), Some(version @ 2..=4), Some(count)) = (index.get(..4), number(4), number(8)) else {
        return names;
    };
    let (mut at, mut name) = (12, Vec::new());
    for _ in 0..count {
        let begin = at;
        let Some(flags) = index.get(begin + STATUS + HASH) else { break };
        let is_extended = version >= 3 && flags & 0x40 != 0;
        at = begin + STATUS + HASH + if is_extended { 4 } else { 2 };
        let mut kept = 0;
        if version == 4 {
            let Some((removed, after)) = variable(index, at) else { break };
            kept = name.len().saturating_sub(removed);
            at = after;
        }
        let Some(length) = index.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) else { break };
        name.truncate(kept);
        name.extend_from_slice(&index[at..at + length]);
        names.insert(String::from_utf8_lossy(&name).into_owned());
        at += length + 1;
        if version < 4 {
            at = begin + (at - 1 - begin + 8) / 8 * 8;
        }
    }
    names
}

/// A number of variable length, as git writes it, and where it ends.
fn variable(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some((value, at + 1))
}
