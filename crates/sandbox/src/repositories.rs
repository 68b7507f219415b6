//! The git repositories of a workspace. What git runs or obeys later, outside of the sandbox, is kept from commands.
//!
//! - What exists of it is read-only for a command: [`Repositories::read_only`] names it for the view.
//! - What a command adds to a folder of git's, and git itself does not write there, is removed after the command, by
//!   [`Repositories::put_back`] in `put_back`. It also tells which repositories the command made.
//! - `config` reads git's settings, `names` says what git itself writes into its folders.
//!
//! Git is not run: a repository's settings say what it runs.

mod config;
mod names;
mod put_back;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use config::Settings;
pub use put_back::{MadeRepository, RepositoryReport};

/// A search that meets more entries ends.
const MAX_ENTRIES: usize = 1_000_000;
/// Files of git that are longer are not read.
const MAX_FILE: u64 = 1024 * 1024;
const GIT: &str = ".git";
const TODO: [&str; 2] = ["rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup"];

/// What is at a path, whatever its name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Identity {
    device: u64,
    inode: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderKind {
    /// A repository, or the part of one that belongs to a worktree.
    Repository,
    Info,
    /// Each folder in it belongs to a worktree.
    Worktrees,
    /// Holds the repositories of submodules, and folders with more of them.
    Modules,
}

/// A folder of git's.
#[derive(Debug)]
struct GitFolder {
    path: PathBuf,
    kind: FolderKind,
    parent: Option<Identity>,
    /// The names in it that git does not write in ordinary work.
    guarded: BTreeSet<OsString>,
    /// The lines of a rebase that waits.
    todo: BTreeSet<String>,
}

/// The repositories of a workspace at one time.
#[derive(Debug)]
pub(crate) struct Repositories {
    workspace: PathBuf,
    home: Option<PathBuf>,
    /// Where no command writes, so that nothing is looked for there.
    skipped: Vec<PathBuf>,
    /// The entries named `.git`, and repositories without a workspace of their own.
    entries: BTreeMap<PathBuf, Identity>,
    folders: HashMap<Identity, GitFolder>,
    /// What git obeys, with what is there.
    read_only: BTreeMap<PathBuf, Identity>,
    /// What git would obey if it existed.
    absent: BTreeSet<PathBuf>,
    /// Links that git follows to what it obeys.
    links: BTreeMap<PathBuf, PathBuf>,
    entries_left: usize,
}

impl Repositories {
    /// `workspace` is a path without links.
    pub(crate) fn find(workspace: &Path, home: Option<&Path>, skipped: Vec<PathBuf>) -> Self {
        let mut found = Self {
            workspace: workspace.to_owned(),
            home: home.map(Path::to_owned),
            skipped,
            entries: BTreeMap::new(),
            folders: HashMap::new(),
            read_only: BTreeMap::new(),
            absent: BTreeSet::new(),
            links: BTreeMap::new(),
            entries_left: MAX_ENTRIES,
        };
        found.search();
        found
    }

    /// Folders of git's in which a command writes. They cannot be moved away, because they are mount points.
    pub(crate) fn writable(&self) -> impl Iterator<Item = &Path> {
        self.folders.values().map(|folder| folder.path.as_path())
    }

    pub(crate) fn read_only(&self) -> impl Iterator<Item = &Path> {
        self.read_only.keys().map(PathBuf::as_path)
    }

    fn search(&mut self) {
        let mut waiting = vec![self.workspace.clone()];
        while let Some(folder) = waiting.pop() {
            let Some(entries) = self.list(&folder) else { continue };
            let kind = |name: &str| entries.iter().find(|(other, _)| other == name).map(|(_, kind)| *kind);
            let is_folder = |name: &str| kind(name).is_some_and(|kind| kind.is_dir());
            if kind(GIT).is_none() && kind("HEAD").is_some() && is_folder("objects") && is_folder("refs") {
                self.add_entry(&folder);
                self.add_repository(&folder, &folder, None);
                continue;
            }
            for (name, kind) in entries {
                let path = folder.join(&name);
                if name == GIT {
                    self.add_git(&folder, &path, kind);
                } else if kind.is_dir() && !self.skipped.contains(&path) {
                    waiting.push(path);
                }
            }
        }
    }

    /// `None` for a folder that cannot be read.
    fn list(&mut self, folder: &Path) -> Option<Vec<(OsString, FileType)>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).ok()?.flatten() {
            self.entries_left = self.entries_left.checked_sub(1)?;
            if let Ok(kind) = entry.file_type() {
                entries.push((entry.file_name(), kind));
            }
        }
        Some(entries)
    }

    fn is_complete(&self) -> bool {
        self.entries_left > 0
    }

    fn add_entry(&mut self, path: &Path) {
        if let Some(identity) = identity(path) {
            self.entries.insert(path.to_owned(), identity);
        }
    }

    /// An entry named `.git` in the folder `root`: a folder, a file that names one, or a link to either.
    fn add_git(&mut self, root: &Path, path: &Path, kind: FileType) {
        self.add_entry(path);
        let mut target = path.to_owned();
        if kind.is_symlink() {
            self.add_link(path);
            let Some(real) = self.inside(path) else { return };
            target = real;
        }
        if target.is_file() {
            self.add_read_only(&target);
            let named = read(&target).and_then(|text| Some(text.strip_prefix("gitdir:")?.trim().to_owned()));
            let Some(real) = named.and_then(|named| self.inside(&root.join(named))) else { return };
            target = real;
        }
        if target.is_dir() {
            self.add_repository(&target, root, None);
        }
    }

    /// The path without links, if it exists below the workspace.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok().filter(|path| path.starts_with(&self.workspace))
    }

    fn add_link(&mut self, path: &Path) {
        if let Ok(text) = fs::read_link(path) {
            self.links.insert(path.to_owned(), text);
        }
    }

    /// What git obeys at this path, which may be a link or not exist.
    fn add_read_only(&mut self, path: &Path) {
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            self.add_link(path);
        }
        match self.inside(path) {
            // A workspace as a whole stays writable, whatever a setting says.
            Some(real) if real != self.workspace => {
                if let Some(identity) = identity(&real) {
                    self.read_only.insert(real, identity);
                }
            }
            Some(_) => {}
            None if fs::symlink_metadata(path).is_err() => drop(self.absent.insert(path.to_owned())),
            None => {}
        }
    }

    /// `root` is the folder that the repository's files are in.
    fn add_repository(&mut self, path: &Path, root: &Path, parent: Option<Identity>) {
        self.add_folder(path, FolderKind::Repository, parent);
        let common = read(&path.join("commondir")).and_then(|text| self.inside(&path.join(text.trim())));
        let common = common.unwrap_or_else(|| path.to_owned());
        let own = [common.join("config"), path.join("config.worktree")];
        let of_person = [".gitconfig", ".config/git/config"].map(|name| Some(self.home.as_ref()?.join(name)));
        let mut hooks = BTreeSet::new();
        for file in own.into_iter().chain(of_person.into_iter().flatten()) {
            self.add_settings(&file, &mut hooks, 0);
        }
        for hooks in hooks {
            let path = clean(&root.join(hooks));
            if path.starts_with(&self.workspace) && !root.starts_with(&path) {
                self.add_read_only(&path);
            }
        }
    }

    /// Files that settings include are settings too.
    fn add_settings(&mut self, file: &Path, hooks: &mut BTreeSet<String>, depth: usize) {
        let Some(settings) = read(file).map(|text| Settings::parse(&text)) else { return };
        hooks.extend(settings.hooks);
        let (Some(folder), true) = (file.parent(), depth < 8) else { return };
        for included in settings.included {
            let path = clean(&folder.join(included));
            if path.starts_with(&self.workspace) {
                self.add_read_only(&path);
                self.add_settings(&path, hooks, depth + 1);
            }
        }
    }

    fn add_folder(&mut self, path: &Path, kind: FolderKind, parent: Option<Identity>) {
        let Some(identity) = identity(path).filter(|identity| !self.folders.contains_key(identity)) else { return };
        if kind == FolderKind::Repository && path.join("objects").is_dir() {
            // A missing folder could be made while the command runs.
            let _ = fs::create_dir(path.join("hooks"));
        }
        let Some(entries) = self.list(path) else { return };
        let mut folder =
            GitFolder { path: path.to_owned(), kind, parent, guarded: BTreeSet::new(), todo: BTreeSet::new() };
        if kind == FolderKind::Repository {
            folder.todo = TODO.iter().filter_map(|name| read(&path.join(name))).flat_map(|text| lines(&text)).collect();
        }
        let mut inner = Vec::new();
        for (name, file_type) in entries {
            match (folder_in(kind, &name).filter(|_| file_type.is_dir()), kind) {
                (Some(inner_kind), _) => inner.push((path.join(&name), inner_kind)),
                (None, FolderKind::Repository | FolderKind::Info) if names::is_gits_own(&name) => {}
                (None, _) => {
                    self.add_read_only(&path.join(&name));
                    folder.guarded.insert(name);
                }
            }
        }
        self.folders.insert(identity, folder);
        for (path, kind) in inner {
            match kind {
                // A folder that only holds others has no HEAD.
                FolderKind::Modules if path.join("HEAD").exists() => {
                    self.add_entry(&path);
                    self.add_repository(&path, &path, Some(identity));
                }
                kind => self.add_folder(&path, kind, Some(identity)),
            }
        }
    }
}

/// What a folder of this name is in a folder of git's of this kind.
fn folder_in(kind: FolderKind, name: &OsStr) -> Option<FolderKind> {
    match (kind, name.to_str()) {
        (FolderKind::Repository, Some("info")) => Some(FolderKind::Info),
        (FolderKind::Repository, Some("worktrees")) => Some(FolderKind::Worktrees),
        (FolderKind::Repository, Some("modules")) => Some(FolderKind::Modules),
        (FolderKind::Repository | FolderKind::Info, _) => None,
        (FolderKind::Worktrees, _) => Some(FolderKind::Repository),
        (FolderKind::Modules, _) => Some(FolderKind::Modules),
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let found = fs::symlink_metadata(path).ok()?;
    Some(Identity { device: found.dev(), inode: found.ino() })
}

fn read(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > MAX_FILE {
        return None;
    }
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The path without `.` and `..`, for one that may not exist.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}
