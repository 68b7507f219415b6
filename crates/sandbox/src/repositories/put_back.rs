//! After a command: what it added to folders of git's is removed, and what a person should know is told.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{FolderKind, GitFolder, Identity, Repositories, TODO, identity, lines, names, read};

/// The settings of a repository are shown up to here, in bytes.
const MAX_SHOWN: usize = 4 * 1024;
/// More repositories are counted and not shown.
const MAX_MADE: usize = 20;

/// What a command did to the repositories of its workspace. Paths are relative to the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryReport {
    /// What was removed or put back, because git would obey it.
    pub refused: Vec<String>,
    /// What git obeys and is another file than before. A command cannot write it, so another program did.
    pub replaced: Vec<String>,
    pub made: Vec<MadeRepository>,
    /// Repositories that the command made besides.
    pub more_made: usize,
    /// Whether the workspace has so many files that not all of it was searched.
    pub incomplete: bool,
}

/// A repository that a command made. Git obeys its settings as soon as it is used in there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeRepository {
    pub path: String,
    /// The beginning of its settings, or of the file that says where the repository is.
    pub config: String,
    /// Its hooks, without the examples that git comes with.
    pub hooks: Vec<String>,
}

impl RepositoryReport {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Repositories {
    /// Called when everything that the command started has ended.
    pub(crate) fn put_back(self) -> RepositoryReport {
        let after = Self::find(&self.workspace, self.home.as_deref(), self.skipped.clone());
        let mut report = Report { before: &self, report: RepositoryReport::default() };
        report.links();
        for path in &self.absent {
            report.refuse(path);
        }
        for folder in after.folders.iter().filter(|(_, folder)| folder.path.exists()) {
            report.folder(folder, &after.folders);
        }
        for (path, before) in &self.read_only {
            if identity(path).is_some_and(|now| now != *before) {
                report.report.replaced.push(self.shown(path));
            }
        }
        report.made(&after);
        let mut report = report.report;
        report.incomplete = !self.is_complete() || !after.is_complete();
        report.refused.sort_unstable();
        report
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).to_string_lossy().into_owned()
    }
}

struct Report<'a> {
    before: &'a Repositories,
    report: RepositoryReport,
}

impl Report<'_> {
    /// Removes what is at the path now. The folder around it is the one that it seems to be.
    fn refuse(&mut self, path: &Path) {
        if fs::symlink_metadata(path).is_err() {
            return;
        }
        let is_real = path.parent().is_some_and(|parent| parent.canonicalize().is_ok_and(|real| real == parent));
        let refused = if is_real { remove(path) } else { Err(io::ErrorKind::InvalidInput.into()) };
        let shown = self.before.shown(path);
        self.report.refused.push(match refused {
            Ok(()) => shown,
            Err(error) => format!("{shown} (it could not be removed: {error})"),
        });
    }

    fn links(&mut self) {
        for (path, text) in &self.before.links {
            let is_same = fs::read_link(path).is_ok_and(|now| now == *text);
            if !is_same && path.parent().is_some_and(Path::exists) {
                self.refuse(path);
                let shown = self.before.shown(path);
                if !self.report.refused.iter().any(|refused| refused.starts_with(&shown)) {
                    self.report.refused.push(shown);
                }
                let _ = symlink(text, path);
            }
        }
    }

    fn folder(&mut self, (identity, now): (&Identity, &GitFolder), all: &HashMap<Identity, GitFolder>) {
        let known = self.before.folders.get(identity);
        let in_known = now.parent.is_some_and(|parent| self.before.folders.contains_key(&parent));
        match (known, now.kind) {
            (Some(known), _) => {
                self.names(now, &known.guarded);
                self.steps(now, &known.todo);
            }
            (None, FolderKind::Info | FolderKind::Worktrees | FolderKind::Modules) if in_known => {
                self.names(now, &BTreeSet::new());
            }
            (None, FolderKind::Repository) if in_known && is_of_worktrees(now, all) => {
                if !is_plain_worktree(now) {
                    self.refuse(&now.path);
                }
            }
            // It belongs to a repository that the command made, which is told as a whole.
            (None, _) => {}
        }
    }

    fn names(&mut self, now: &GitFolder, before: &BTreeSet<OsString>) {
        let path = now.path.clone();
        for name in now.guarded.difference(before) {
            self.refuse(&path.join(name));
        }
    }

    /// Takes the steps that run a program out of a rebase that waits.
    fn steps(&mut self, now: &GitFolder, before: &BTreeSet<String>) {
        let planted: HashSet<_> =
            now.todo.difference(before).filter(|step| names::is_run(step)).map(String::as_str).collect();
        if planted.is_empty() {
            return;
        }
        for path in TODO.map(|name| now.path.join(name)) {
            let Some(text) = read(&path) else { continue };
            let kept: Vec<_> = lines(&text).into_iter().filter(|line| !planted.contains(line.as_str())).collect();
            let shown = self.before.shown(&path);
            // A file of its own, so that nothing is written through a link.
            let written = fs::remove_file(&path).and_then(|()| fs::write(&path, format!("{}\n", kept.join("\n"))));
            self.report.refused.push(match written {
                Ok(()) => format!("{shown}: its steps that run a program"),
                Err(error) => format!("{shown}: its steps that run a program (it could not be written: {error})"),
            });
        }
    }

    fn made(&mut self, after: &Repositories) {
        let before = &self.before.entries;
        let moved: HashSet<_> = before.values().collect();
        for (path, now) in &after.entries {
            // A repository that was moved as a whole took its settings along. A file leads elsewhere from another place.
            let is_known = before.get(path) == Some(now) || (path.is_dir() && moved.contains(now));
            if is_known || !path.exists() {
                continue;
            }
            if self.report.made.len() == MAX_MADE {
                self.report.more_made += 1;
                continue;
            }
            let path_of_config = if path.is_dir() { path.join("config") } else { path.clone() };
            let mut config = read(&path_of_config).unwrap_or_default();
            config.truncate(config.floor_char_boundary(MAX_SHOWN));
            let hooks = fs::read_dir(path.join("hooks")).into_iter().flatten().flatten();
            let names = hooks.map(|hook| hook.file_name().to_string_lossy().into_owned());
            let mut hooks: Vec<_> = names.filter(|name| !name.ends_with(".sample")).take(MAX_MADE).collect();
            hooks.sort_unstable();
            self.report.made.push(MadeRepository { path: self.before.shown(path), config, hooks });
        }
    }
}

fn is_of_worktrees(folder: &GitFolder, all: &HashMap<Identity, GitFolder>) -> bool {
    let parent = folder.parent.and_then(|parent| all.get(&parent));
    parent.is_some_and(|parent| parent.kind == FolderKind::Worktrees)
}

/// Whether it is what `git worktree add` makes: its settings are those of the repository around it.
fn is_plain_worktree(folder: &GitFolder) -> bool {
    let expected = |name: &OsString| matches!(name.to_str(), Some("commondir" | "gitdir" | "locked"));
    let common: PathBuf = folder.path.join("commondir");
    folder.guarded.iter().all(expected) && read(&common).is_some_and(|text| text.trim() == "../..")
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
