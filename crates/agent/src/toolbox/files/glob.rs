//! `glob_files`: files whose path fits a pattern.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::FileLimits;
use super::ignore_rules::IgnoreOptions;
use super::list;
use super::path::{self, FilePath};
use super::tool::{FileCall, FileCallContext};
use super::tree::{Tree, TreeFile, TreeVisitor};
use super::wildcard::Wildcard;
use crate::toolbox::ToolAnswer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GlobFiles {
    /// `*` within a name, `**` for any folders, `{md,txt}` for one of several, `?` and `[ab]` for one ASCII character.
    /// Without a `/` it is looked for in every folder: `*.md`; with one, from the workspace's root on:
    /// `notes/**/*.md`.
    #[schemars(with = "String")]
    pattern: Wildcard,
    /// Only what comes after this path, for the next page: the `after` of the page before.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    after: Option<FilePath>,
    /// Whether files in `.git` are found too.
    #[serde(default)]
    hidden: bool,
    /// Whether files that `.gitignore` or `.planwrightignore` names are found too.
    #[serde(default)]
    no_ignore: bool,
}

impl FileCall for GlobFiles {
    const NAME: &'static str = "glob_files";
    const DESCRIPTION: &'static str = include_str!("descriptions/glob_files.md");
    const EFFECT: ToolEffect = ToolEffect::ReadsOnly;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        Ok(())
    }

    fn paths(&self) -> Vec<&FilePath> {
        Vec::new()
    }

    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal> {
        let Some(files) = place.workspace.files()? else {
            return Ok(json!({"paths": []}).into());
        };
        let root = FilePath::default();
        let asked = IgnoreOptions { hidden: self.hidden, no_ignore: self.no_ignore };
        let (folder, rules) = list::open_folder(&files, &root, asked, &place.denied)?;
        let tree = Tree::new(&place.deadline, place.limits.walked_entries);
        let page = MatchPage {
            call: &self,
            // One more than is shown, to know whether there are more.
            most: place.limits.listed + 1,
            paths: Mutex::default(),
            full: AtomicBool::new(false),
        };
        let mut threads: Vec<_> = (0..place.shared.search_threads()).map(|_| &page).collect();
        tree.search(folder, &root, rules, &mut threads);
        let found = std::mem::take(&mut *page.paths());
        let mut paths: Vec<String> = Vec::new();
        let mut room = place.limits.answer_bytes;
        let mut more = false;
        for path in &found {
            if paths.len() == place.limits.listed || path.as_str().len() > room {
                more = true;
                break;
            }
            room -= path.as_str().len();
            paths.push(path.to_string());
        }
        let mut answer = json!({"paths": paths});
        if tree.stopped_early() {
            // A page with gaps has no next one.
            answer["truncated"] = true.into();
            answer["why"] = "There are too many files to look at all of them; list_files shows one folder.".into();
        } else if more {
            answer["truncated"] = true.into();
            answer["after"] = paths.last().map(String::as_str).into();
        }
        Ok(answer.into())
    }
}

/// The first paths that fit, in the order of paths, whatever order threads find them in.
#[derive(Debug)]
struct MatchPage<'a> {
    call: &'a GlobFiles,
    most: usize,
    paths: Mutex<BTreeSet<FilePath>>,
    full: AtomicBool,
}

impl MatchPage<'_> {
    fn paths(&self) -> MutexGuard<'_, BTreeSet<FilePath>> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TreeVisitor for &MatchPage<'_> {
    fn is_past(&self, path: &str) -> bool {
        self.full.load(Ordering::Relaxed)
            && self.paths().last().is_some_and(|last| path::compare(path, last.as_str()).is_gt())
    }

    fn visit(&mut self, file: &TreeFile<'_>) {
        let seen = self.call.after.as_ref().is_some_and(|after| path::compare(file.path, after.as_str()).is_le());
        if seen || !self.call.pattern.matches(file.path) {
            return;
        }
        let Ok(path) = FilePath::parse(file.path) else { return };
        let mut paths = self.paths();
        paths.insert(path);
        if paths.len() > self.most {
            paths.pop_last();
        }
        self.full.store(paths.len() >= self.most, Ordering::Relaxed);
    }
}
