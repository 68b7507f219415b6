//! `list_files`: what is in one folder.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use cap_std::fs::Dir;
use planwright_core::gate::ToolEffect;
use planwright_core::permission::DeniedPaths;
use planwright_core::refusal::Refusal;
use rustix::fd::{AsFd as _, OwnedFd};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileLimits;
use super::ignore_rules::{IgnoreOptions, IgnoreRules, OpenAs};
use super::io_error;
use super::open::Kind;
use super::path::FilePath;
use super::tool::{FileCall, FileCallContext};
use super::tree::open_at;
use crate::toolbox::ToolAnswer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListFiles {
    /// The folder, such as `notes/2024`; without it, the workspace itself.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    path: Option<FilePath>,
    /// Only what comes after this path, for the next page: the `after` of the page before.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    after: Option<FilePath>,
    /// Whether `.git` is listed too.
    #[serde(default)]
    hidden: bool,
    /// Whether what `.gitignore` or `.planwrightignore` names is listed too.
    #[serde(default)]
    no_ignore: bool,
}

impl FileCall for ListFiles {
    const NAME: &'static str = "list_files";
    const DESCRIPTION: &'static str = include_str!("descriptions/list_files.md");
    const EFFECT: ToolEffect = ToolEffect::ReadsOnly;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        Ok(())
    }

    fn paths(&self) -> Vec<&FilePath> {
        self.path.iter().collect()
    }

    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal> {
        let path = self.path.unwrap_or_default();
        let asked = IgnoreOptions { hidden: self.hidden, no_ignore: self.no_ignore };
        let page = match place.workspace.files()? {
            Some(files) => {
                let (folder, rules) = open_folder(&files, &path, asked, &place.denied)?;
                let folder = Dir::from(folder);
                ListPage::read(&folder, &path, self.after.as_ref(), &rules, place)?
            }
            None if path.is_whole_folder() => ListPage::default(),
            None => return Err(Refusal::not_found(format!("There is no folder `{path}`."))),
        };
        Ok(page.answer(&path).into())
    }
}

/// Opens a folder that a path names, with the rules for what is left out there.
pub(super) fn open_folder(
    files: &Dir,
    path: &FilePath,
    asked: IgnoreOptions,
    denied: &DeniedPaths,
) -> Result<(OwnedFd, IgnoreRules), Refusal> {
    let folder = files.open_dir(path.beneath()).map_err(|error| not_a_folder(path, &error))?;
    let mut rules = IgnoreRules::of_root(files.as_fd(), asked, denied.clone());
    for way in path.ancestors_and_self() {
        // A folder on the way that is gone by now has no rules.
        if let Ok(folder) = files.open_dir(way.beneath()) {
            rules = rules.within(folder.as_fd(), way.as_str());
        }
    }
    // The capability's own handle cannot be read from.
    let readable = open_at(folder.as_fd(), ".", OpenAs::Folder);
    let readable = readable.ok_or_else(|| io_error::refusal(path.as_str(), &ErrorKind::PermissionDenied.into()))?;
    Ok((readable, rules))
}

fn not_a_folder(path: &FilePath, error: &std::io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::NotADirectory => {
            Refusal::invalid(format!("`{path}` is not a folder; read_file shows what is in a file."))
        }
        _ => io_error::refusal(path.as_str(), error),
    }
}

#[derive(Debug, Default)]
struct ListPage {
    entries: BTreeMap<FilePath, Kind>,
    more: bool,
    unnamed: usize,
    ignored: usize,
}

impl ListPage {
    /// The first entries after `after`. A folder may be far larger than a page, so no more than a page is kept.
    fn read(
        folder: &Dir,
        path: &FilePath,
        after: Option<&FilePath>,
        rules: &IgnoreRules,
        place: &FileCallContext,
    ) -> Result<Self, Refusal> {
        let refusal = |error: std::io::Error| io_error::refusal(path.as_str(), &error);
        let mut page = Self::default();
        for entry in folder.entries().map_err(refusal)? {
            if place.deadline.is_over() {
                return Err(io_error::took_too_long());
            }
            let entry = entry.map_err(refusal)?;
            let named = entry.file_name().into_string().ok().and_then(|name| Some((path.join(&name).ok()?, name)));
            let Some((entry_path, name)) = named else {
                page.unnamed += 1;
                continue;
            };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if rules.leave_out(entry_path.as_str(), &name, is_folder) {
                page.ignored += 1;
                continue;
            }
            if after.is_some_and(|after| entry_path <= *after) {
                continue;
            }
            // An entry that was removed meanwhile is left out.
            if let Ok(metadata) = entry.metadata() {
                page.entries.insert(entry_path, Kind::of(&metadata));
            }
            if page.entries.len() > place.limits.listed {
                page.more = true;
                page.entries.pop_last();
            }
        }
        Ok(page)
    }

    fn answer(self, path: &FilePath) -> Value {
        let entry = |(path, kind): (&FilePath, &Kind)| match kind {
            Kind::File { bytes } => json!({"path": path.as_str(), "kind": kind.as_str(), "bytes": bytes}),
            Kind::Folder | Kind::Link | Kind::Special => json!({"path": path.as_str(), "kind": kind.as_str()}),
        };
        let entries: Vec<_> = self.entries.iter().map(entry).collect();
        let mut answer = json!({"path": path.as_str(), "entries": entries});
        if self.more {
            answer["truncated"] = true.into();
            answer["after"] = self.entries.last_key_value().map(|(path, _)| path.as_str()).into();
        }
        if self.unnamed > 0 {
            answer["unnamed"] = self.unnamed.into();
        }
        if self.ignored > 0 {
            answer["ignored"] = self.ignored.into();
        }
        answer
    }
}
