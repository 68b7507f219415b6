//! `grep_files`: lines that fit a regular expression.

mod first_matches;
mod search;

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use regex::RegexBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileLimits;
use super::ignore_rules::IgnoreOptions;
use super::open::{Kind, open_named};
use super::path::FilePath;
use super::tool::{FileCall, FileCallContext};
use super::tree::Tree;
use super::wildcard::Wildcard;
use super::{io_error, list};
use crate::toolbox::ToolAnswer;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use search::{Search, StoppedBy};

/// What a pattern may take once it is compiled. Together with the piece of a file that is looked at, it bounds how long
/// the worst pattern takes on the worst piece, which cannot be interrupted: about three seconds.
const COMPILED_BYTES: usize = 512 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GrepFiles {
    /// A regular expression in Rust's syntax, tried on each line: no look-around, no back-references.
    pattern: String,
    /// A file, or a folder to search with everything in it; without it, the whole workspace.
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
    /// Whether `.git` is searched too.
    #[serde(default)]
    hidden: bool,
    /// Whether files that `.gitignore` or `.planwrightignore` names are searched too.
    #[serde(default)]
    no_ignore: bool,
}

impl GrepFiles {
    fn matcher(&self) -> Result<RegexMatcher, Refusal> {
        // Its errors are better, and it is what the matcher builds on.
        let checked =
            RegexBuilder::new(&self.pattern).case_insensitive(self.case_insensitive).size_limit(COMPILED_BYTES).build();
        checked.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => Refusal::invalid(
                "The pattern is too large; repeat less, or write `[a-z]` and `[0-9]` instead of `\\w` and `\\d`.",
            ),
            other => Refusal::invalid(format!("The pattern is not a regular expression: {other}")),
        })?;
        RegexMatcherBuilder::new()
            .case_insensitive(self.case_insensitive)
            .size_limit(COMPILED_BYTES)
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .crlf(true)
            .build(&self.pattern)
            .map_err(|error| Refusal::invalid(format!("The pattern is not a regular expression for lines: {error}")))
    }
}

impl FileCall for GrepFiles {
    const NAME: &'static str = "grep_files";
    const DESCRIPTION: &'static str = include_str!("descriptions/grep_files.md");
    const EFFECT: ToolEffect = ToolEffect::ReadsOnly;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        self.matcher().map(drop)
    }

    fn paths(&self) -> Vec<&FilePath> {
        self.path.iter().collect()
    }

    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal> {
        let matcher = self.matcher()?;
        let path = self.path.unwrap_or_default();
        let Some((files, beneath)) = place.readable(&path)? else {
            if path.is_whole_folder() {
                return Ok(json!({"matches": [], "files_searched": 0}).into());
            }
            return Err(Refusal::not_found(format!("There is no `{path}`.")));
        };
        let refusal = |error: std::io::Error| io_error::refusal(path.as_str(), &error);
        let metadata = files.metadata(beneath.beneath()).map_err(refusal)?;
        let tree = Tree::new(&place.deadline, place.limits.walked_entries);
        let search = Search::new(self.glob.as_ref(), place, &tree);
        if Kind::of(&metadata) == Kind::Folder {
            let asked = IgnoreOptions { hidden: self.hidden, no_ignore: self.no_ignore };
            let (folder, rules) = list::open_folder(&files, &beneath, asked, &place.denied)?;
            let mut threads: Vec<_> =
                (0..place.shared.search_threads()).map(|_| search.thread(matcher.clone())).collect();
            tree.search(folder, &path, rules, &mut threads);
        } else {
            let opened = open_named(&files, &beneath)?;
            search.thread(matcher).search(path.as_str(), opened.file.into_std(), opened.bytes);
        }
        Ok(answer(&search, &tree, place).into())
    }
}

fn answer(search: &Search<'_>, tree: &Tree<'_>, place: &FileCallContext) -> Value {
    let counts = search.counts();
    let (found, mut more) = search.take_matches();
    let mut matches = Vec::new();
    let mut room = place.limits.answer_bytes;
    for (path, found) in found.iter().flat_map(|(path, found)| found.iter().map(move |found| (path, found))) {
        if matches.len() == place.limits.matches || room == 0 {
            more = true;
            break;
        }
        room = room.saturating_sub(path.as_str().len() + found.text.len());
        matches.push(json!({"path": path.as_str(), "line": found.line, "text": found.text}));
    }
    let mut answer = json!({"matches": matches, "files_searched": counts.files});
    if counts.binary > 0 {
        answer["binary_files_skipped"] = counts.binary.into();
    }
    let skipped = counts.skipped + tree.skipped();
    if skipped > 0 {
        answer["not_readable"] = skipped.into();
    }
    let stopped_by = if more {
        Some(StoppedBy::Matches)
    } else if place.deadline.is_over() {
        Some(StoppedBy::Time)
    } else {
        search.stopped_by().or_else(|| tree.stopped_early().then_some(StoppedBy::Files))
    };
    if let Some(stopped_by) = stopped_by {
        answer["truncated"] = true.into();
        answer["why"] = stopped_by.why().into();
    }
    answer
}
