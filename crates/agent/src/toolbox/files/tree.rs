//! A search through a folder and all folders in it, on several threads, in any size of tree.
//!
//! Folders are opened one below the other by their handles and links are not followed, so nothing that is moved or
//! replaced meanwhile leads out of the workspace. Links are neither followed nor visited.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir as DirReader, FileType, Mode, OFlags, fstat, openat, statat};

use super::deadline::Deadline;
use super::ignore_rules::{IgnoreRules, OpenAs};
use super::path::FilePath;

/// Files of one folder that one thread takes at a time.
const BATCH_SIZE: usize = 256;

/// Called for the files of a tree; each thread has one of its own.
pub(super) trait TreeVisitor: Send {
    /// Whether nothing at this path and below it is wanted any more.
    fn is_past(&self, path: &str) -> bool;

    /// Called for each ordinary file.
    fn visit(&mut self, file: &TreeFile<'_>);
}

#[derive(Debug)]
pub(super) struct TreeFile<'a> {
    folder: BorrowedFd<'a>,
    pub(super) name: &'a str,
    /// From the workspace's root.
    pub(super) path: &'a str,
}

impl TreeFile<'_> {
    /// Opens the file, and nothing that has taken its place since. With its size.
    pub(super) fn open(&self) -> Option<(std::fs::File, u64)> {
        let file = open_at(self.folder, self.name, OpenAs::File)?;
        let status = fstat(&file).ok()?;
        Some((file.into(), u64::try_from(status.st_size).unwrap_or_default()))
    }

    pub(super) fn status(&self) -> Option<rustix::fs::Stat> {
        let status = statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(status.st_mode) == FileType::RegularFile).then_some(status)
    }
}

/// Opens an ordinary file or a folder, and never waits.
pub(super) fn open_at(folder: BorrowedFd<'_>, name: &str, kind: OpenAs) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    match kind {
        OpenAs::Folder => openat(folder, name, flags | OFlags::DIRECTORY, Mode::empty()).ok(),
        OpenAs::File => {
            let file = openat(folder, name, flags, Mode::empty()).ok()?;
            let status = fstat(&file).ok()?;
            (FileType::from_raw_mode(status.st_mode) == FileType::RegularFile).then_some(file)
        }
    }
}

/// One search.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    deadline: &'a Deadline,
    most_entries: usize,
    entries: AtomicUsize,
    /// The limit of entries was reached; what was found up to there is still visited.
    cut: AtomicBool,
    stopped: AtomicBool,
    skipped: AtomicUsize,
}

#[derive(Debug)]
struct TreeFolder {
    handle: OwnedFd,
    path: String,
    depth: usize,
    rules: IgnoreRules,
}

#[derive(Debug)]
enum Job {
    Folder { parent: Arc<TreeFolder>, name: String },
    Files { folder: Arc<TreeFolder>, names: Vec<String> },
}

#[derive(Debug, Default)]
struct Queue {
    /// The last one is taken first, so that few folders are open at a time.
    jobs: Vec<Job>,
    busy: usize,
}

impl<'a> Tree<'a> {
    pub(super) fn new(deadline: &'a Deadline, most_entries: usize) -> Self {
        Self {
            deadline,
            most_entries,
            entries: AtomicUsize::new(0),
            cut: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            skipped: AtomicUsize::new(0),
        }
    }

    /// Whether the deadline or the limit of entries ended the search, so that there may be more.
    pub(super) fn stopped_early(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.cut.load(Ordering::Relaxed)
    }

    /// Entries that were left out because their names are no paths or they cannot be opened.
    pub(super) fn skipped(&self) -> usize {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Ends the search on all threads.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Visits everything below `folder`, which is at `path` and has these rules, with one thread for each visitor.
    pub(super) fn search<V: TreeVisitor>(
        &self,
        folder: OwnedFd,
        path: &FilePath,
        rules: IgnoreRules,
        visitors: &mut [V],
    ) {
        let depth = path.as_str().split('/').filter(|name| !name.is_empty()).count();
        let root = Arc::new(TreeFolder { handle: folder, path: path.to_string(), depth, rules });
        let work = Work { tree: self, queue: Mutex::default(), changed: Condvar::new() };
        let Some((first, others)) = visitors.split_first_mut() else { return };
        let work = &work;
        work.folder(&root, first);
        std::thread::scope(|scope| {
            for visitor in others {
                scope.spawn(move || work.run(visitor));
            }
            work.run(first);
        });
    }

    fn is_over(&self) -> bool {
        let stopped = || self.stopped.load(Ordering::Relaxed);
        if !stopped() && self.deadline.is_over() {
            self.stop();
        }
        stopped()
    }

    fn skip(&self) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
    }
}

struct Work<'a> {
    tree: &'a Tree<'a>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// A thread that takes jobs is busy until this is dropped, also when a visitor panics.
struct Busy<'a>(&'a Work<'a>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.lock().busy -= 1;
        self.0.changed.notify_all();
    }
}

impl Work<'_> {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run<V: TreeVisitor>(&self, visitor: &mut V) {
        while let Some((job, _busy)) = self.next() {
            match job {
                Job::Folder { parent, name } => self.open(&parent, &name, visitor),
                Job::Files { folder, names } => self.files(&folder, &names, visitor),
            }
        }
    }

    /// Waits while there is nothing to do and another thread may still find something.
    fn next(&self) -> Option<(Job, Busy<'_>)> {
        let mut queue = self.lock();
        loop {
            if self.tree.stopped.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(job) = queue.jobs.pop() {
                queue.busy += 1;
                return Some((job, Busy(self)));
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open<V: TreeVisitor>(&self, parent: &TreeFolder, name: &str, visitor: &mut V) {
        let path = join(&parent.path, name);
        if self.tree.is_over() || visitor.is_past(&path) {
            return;
        }
        // It is gone, not ours to read, or something else by now.
        let Some(handle) = open_at(parent.handle.as_fd(), name, OpenAs::Folder) else { return self.tree.skip() };
        let rules = parent.rules.within(handle.as_fd(), &path);
        let folder = TreeFolder { handle, path, depth: parent.depth + 1, rules };
        self.folder(&Arc::new(folder), visitor);
    }

    fn folder<V: TreeVisitor>(&self, folder: &Arc<TreeFolder>, visitor: &mut V) {
        let Some((mut files, mut folders)) = self.entries(folder) else { return self.tree.skip() };
        files.sort_unstable();
        folders.sort_unstable_by(|one, other| other.cmp(one));
        let mut jobs: Vec<_> =
            folders.into_iter().map(|name| Job::Folder { parent: Arc::clone(folder), name }).collect();
        while files.len() > BATCH_SIZE {
            let names = files.split_off(files.len() - BATCH_SIZE);
            jobs.push(Job::Files { folder: Arc::clone(folder), names });
        }
        if !jobs.is_empty() {
            self.lock().jobs.append(&mut jobs);
            self.changed.notify_all();
        }
        self.files(folder, &files, visitor);
    }

    fn files<V: TreeVisitor>(&self, folder: &TreeFolder, names: &[String], visitor: &mut V) {
        let mut path = folder.path.clone();
        if !path.is_empty() {
            path.push('/');
        }
        let prefix = path.len();
        for name in names {
            if self.tree.is_over() {
                return;
            }
            path.truncate(prefix);
            path.push_str(name);
            if visitor.is_past(&path) {
                return;
            }
            visitor.visit(&TreeFile { folder: folder.handle.as_fd(), name, path: &path });
        }
    }

    /// The names of the files and of the folders in a folder.
    fn entries(&self, folder: &TreeFolder) -> Option<(Vec<String>, Vec<String>)> {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        let mut reader = DirReader::read_from(&folder.handle).ok()?;
        let mut path = folder.path.clone();
        if !path.is_empty() {
            path.push('/');
        }
        let prefix = path.len();
        while let Some(entry) = reader.read() {
            let Ok(entry) = entry else {
                self.tree.skip();
                break;
            };
            let Ok(name) = entry.file_name().to_str() else {
                self.tree.skip();
                continue;
            };
            if matches!(name, "." | "..") {
                continue;
            }
            if self.tree.entries.fetch_add(1, Ordering::Relaxed) >= self.tree.most_entries {
                self.tree.cut.store(true, Ordering::Relaxed);
                break;
            }
            if !FilePath::may_be_name(name) || folder.depth >= super::path::DEEPEST {
                self.tree.skip();
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => statat(&folder.handle, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |status| FileType::from_raw_mode(status.st_mode)),
                known => known,
            };
            let kept = match kind {
                FileType::RegularFile => &mut files,
                FileType::Directory => &mut folders,
                _ => continue,
            };
            path.truncate(prefix);
            path.push_str(name);
            if path.len() > FilePath::MAX_LENGTH {
                self.tree.skip();
            } else if !folder.rules.leave_out(&path, name, kind == FileType::Directory) {
                kept.push(name.to_owned());
            }
        }
        Some((files, folders))
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
