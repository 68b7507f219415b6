//! `grep_files`: lines that fit a regular expression.

use std::ops::ControlFlow;

use cap_std::fs::Dir;
use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::FileLimits;
use super::io_error;
use super::open::{self, Kind};
use super::path::FilePath;
use super::tool::{FileCall, FileCallContext};
use super::walk::Walk;
use super::wildcard::Wildcard;
use search::Search;

mod search;

/// What a pattern may take once it is compiled. Together with the part of a line that is looked at, it bounds how long
/// the worst pattern takes on the worst line, which cannot be interrupted: about three seconds.
const COMPILED_BYTES: usize = 512 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrepFiles {
    /// A regular expression in Rust's syntax, tried on each line: no look-around, no back-references.
    pattern: String,
    /// A file, or a folder to search with everything in it; without it, all the session's files.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    path: Option<FilePath>,
    /// Only files whose path fits, as in glob_files: `*.md`.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    glob: Option<Wildcard>,
    /// Whether capitals and small letters are the same.
    #[serde(default)]
    case_insensitive: bool,
}

impl GrepFiles {
    fn regex(&self) -> Result<Regex, Refusal> {
        RegexBuilder::new(&self.pattern)
            .case_insensitive(self.case_insensitive)
            .size_limit(COMPILED_BYTES)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => Refusal::invalid(
                    "The pattern is too large; repeat less, or write `[a-z]` and `[0-9]` instead of `\\w` and `\\d`.",
                ),
                other => Refusal::invalid(format!("The pattern is not a regular expression: {other}")),
            })
    }
}

impl FileCall for GrepFiles {
    const NAME: &'static str = "grep_files";
    const DESCRIPTION: &'static str = include_str!("descriptions/grep_files.md");
    const EFFECT: ToolEffect = ToolEffect::ReadsOnly;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        self.regex().map(drop)
    }

    fn carry_out(self, place: &FileCallContext) -> Result<Value, Refusal> {
        let regex = self.regex()?;
        let path = self.path.unwrap_or_default();
        let mut search = Search::new(regex, self.glob, place);
        match place.folder.open()? {
            Some(files) => begin(&mut search, &files, &path, place)?,
            None if path.is_whole_folder() => {}
            None => return Err(Refusal::not_found(format!("There is no `{path}`."))),
        }
        Ok(search.answer())
    }
}

fn begin(search: &mut Search<'_>, files: &Dir, path: &FilePath, place: &FileCallContext) -> Result<(), Refusal> {
    let refusal = |error: std::io::Error| io_error::refusal(path.as_str(), &error);
    let metadata = files.metadata(path.beneath()).map_err(refusal)?;
    if Kind::of(&metadata) != Kind::Folder {
        let opened = open::open_named(files, path)?;
        let _ = search.file(path, opened);
        return Ok(());
    }
    let folder = files.open_dir(path.beneath()).map_err(refusal)?;
    let mut walk = Walk::new(&place.deadline, place.limits.walked_entries);
    let walked = walk.through(&folder, path, &mut |met| match met.kind {
        Kind::File { .. } if search.wants(&met.path) => match open::open_walked(met.folder, met.name) {
            Ok(opened) => search.file(&met.path, opened),
            // It is gone, not ours to read, or something else by now.
            Err(_) => {
                search.pass_by();
                ControlFlow::Continue(())
            }
        },
        Kind::File { .. } | Kind::Folder | Kind::Link | Kind::Special => ControlFlow::Continue(()),
    });
    walked.map_err(refusal)?;
    search.end_of_walk(&walk);
    Ok(())
}
