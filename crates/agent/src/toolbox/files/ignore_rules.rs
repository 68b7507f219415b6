//! What a search leaves out: what `.gitignore`, `.planwrightignore` and `.git/info/exclude` name, and `.git` itself.
//!
//! The files are read through the folder's handle and links are not followed, so no rule comes from outside.

use std::io::Read as _;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use planwright_core::permission::DeniedPaths;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use super::tree::open_at;
use super::watched::WatchRules;

/// Later ones win.
const FILES: [&str; 2] = [".gitignore", ".planwrightignore"];
/// A longer file of rules is read up to here.
const MAX_BYTES: u64 = 1024 * 1024;

/// What a caller asks for beside the usual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct IgnoreOptions {
    /// Also `.git` and what is in it.
    pub(super) hidden: bool,
    /// Also what is ignored.
    pub(super) no_ignore: bool,
}

/// The rules of one folder and of the folders above it.
#[derive(Debug, Clone, Default)]
pub(super) struct IgnoreRules {
    asked: IgnoreOptions,
    /// No asking brings these back.
    denied: DeniedPaths,
    innermost: Option<Arc<FolderRules>>,
    /// For a comparison: what is looked at although it is ignored.
    watch: Option<Arc<WatchRules>>,
    /// Whether the folder is ignored as a whole, and looked at for something in it.
    all_ignored: bool,
}

#[derive(Debug)]
struct FolderRules {
    /// How much of a path is the folder's own, with the `/` behind it.
    prefix: usize,
    rules: Gitignore,
    outer: Option<Arc<FolderRules>>,
}

impl IgnoreRules {
    /// Those of the workspace's root.
    pub(super) fn of_root(root: BorrowedFd<'_>, asked: IgnoreOptions, denied: DeniedPaths) -> Self {
        Self { asked, denied, ..Self::default() }.at_root(root)
    }

    /// Those of a comparison.
    pub(super) fn watching(root: BorrowedFd<'_>, watch: Arc<WatchRules>) -> Self {
        Self { watch: Some(watch), ..Self::default() }.at_root(root)
    }

    fn at_root(self, root: BorrowedFd<'_>) -> Self {
        if self.asked.no_ignore {
            return self;
        }
        let excluded = || -> Option<String> {
            let git = open_at(root, ".git", OpenAs::Folder)?;
            let info = open_at(git.as_fd(), "info", OpenAs::Folder)?;
            read_rules(info.as_fd(), "exclude")
        };
        let excluded = self.texts(".git", || excluded().into_iter().collect());
        self.with(0, excluded).within(root, "")
    }

    /// With the rules of the folder at `path`, which is a folder of the one that these belong to.
    pub(super) fn within(&self, folder: BorrowedFd<'_>, path: &str) -> Self {
        if self.asked.no_ignore {
            return self.clone();
        }
        let texts = self.texts(path, || FILES.iter().filter_map(|name| read_rules(folder, name)).collect());
        let all_ignored = self.watch.is_some() && !path.is_empty() && self.is_ignored(path, true);
        let inner = self.with(if path.is_empty() { 0 } else { path.len() + 1 }, texts);
        Self { all_ignored, ..inner }
    }

    fn texts(&self, folder: &str, read: impl FnOnce() -> Vec<String>) -> Vec<String> {
        match &self.watch {
            Some(watch) => watch.texts(folder, read),
            None => read(),
        }
    }

    fn with(&self, prefix: usize, texts: Vec<String>) -> Self {
        if texts.is_empty() {
            return self.clone();
        }
        let mut builder = GitignoreBuilder::new(".");
        for line in texts.iter().flat_map(|text| text.lines()) {
            // A line that is no pattern is passed by, as git does.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(rules) if !rules.is_empty() => {
                let rules = FolderRules { prefix, rules, outer: self.innermost.clone() };
                Self { innermost: Some(Arc::new(rules)), ..self.clone() }
            }
            Ok(_) | Err(_) => self.clone(),
        }
    }

    /// Whether the entry at `path` is left out; `name` is the last part of the path.
    pub(super) fn leave_out(&self, path: &str, name: &str, is_folder: bool) -> bool {
        if self.denied.contains(path) {
            return true;
        }
        if name == ".git" {
            return !self.asked.hidden;
        }
        self.is_ignored(path, is_folder) && !self.watch.as_ref().is_some_and(|watch| watch.wants(path, is_folder))
    }

    fn is_ignored(&self, path: &str, is_folder: bool) -> bool {
        if self.all_ignored {
            return true;
        }
        let mut next = self.innermost.as_deref();
        while let Some(folder) = next {
            match folder.rules.matched(&path[folder.prefix..], is_folder) {
                ignore::Match::Ignore(_) => return true,
                ignore::Match::Whitelist(_) => return false,
                ignore::Match::None => next = folder.outer.as_deref(),
            }
        }
        false
    }
}

/// How something in a folder is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenAs {
    File,
    Folder,
}

fn read_rules(folder: BorrowedFd<'_>, name: &str) -> Option<String> {
    let file: OwnedFd = open_at(folder, name, OpenAs::File)?;
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
