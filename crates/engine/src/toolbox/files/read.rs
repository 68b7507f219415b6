//! `read_file`: a file's text, or some of its lines.

use std::num::NonZeroUsize;

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::FileLimits;
use super::io_error;
use super::open::{OpenFile, open_named};
use super::path::FilePath;
use super::text::{TextError, TextLines};
use super::tool::{FileCall, FileCallContext};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFile {
    /// The file, such as `notes/today.md`.
    #[schemars(with = "String")]
    path: FilePath,
    /// The line to begin with, from 1.
    #[serde(default)]
    offset: Option<NonZeroUsize>,
    /// How many lines are wanted; without it, as many as fit.
    #[serde(default)]
    limit: Option<NonZeroUsize>,
}

impl FileCall for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = include_str!("descriptions/read_file.md");
    const EFFECT: ToolEffect = ToolEffect::ReadsOnly;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        if self.path.is_whole_folder() { Err(io_error::is_folder(".")) } else { Ok(()) }
    }

    fn carry_out(self, place: &FileCallContext) -> Result<Value, Refusal> {
        let missing = || Refusal::not_found(format!("There is no `{}`.", self.path));
        let files = place.folder.open()?.ok_or_else(missing)?;
        let opened = open_named(&files, &self.path)?;
        if opened.bytes > place.limits.scanned_bytes {
            return Err(Refusal::limit(format!(
                "`{}` has {} bytes, more than the {} that can be read; grep_files finds lines in it.",
                self.path, opened.bytes, place.limits.scanned_bytes
            )));
        }
        let bytes = opened.bytes;
        match self.lines(opened, place) {
            Ok(excerpt) => excerpt.answer(&self.path, bytes),
            Err(TextError::Binary) => Ok(json!({"path": self.path.as_str(), "bytes": bytes, "binary": true})),
            Err(TextError::OutOfTime) => Err(io_error::took_too_long()),
            Err(TextError::Failed(error)) => Err(io_error::refusal(self.path.as_str(), &error)),
        }
    }
}

impl ReadFile {
    fn lines(&self, opened: OpenFile, place: &FileCallContext) -> Result<Excerpt, TextError> {
        let room = place.limits.answer_bytes;
        let first = self.offset.map_or(1, NonZeroUsize::get);
        let wanted = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut excerpt = Excerpt { first, taken: 0, total: 0, text: String::new(), cut: false };
        let mut full = false;
        let mut lines = TextLines::new(opened.file, place.limits.scanned_bytes, room, &place.deadline);
        while let Some(line) = lines.next()? {
            excerpt.total += 1;
            if excerpt.total < first || full {
                continue;
            }
            full = excerpt.taken == wanted || (excerpt.taken > 0 && excerpt.text.len() + line.text.len() > room);
            if !full {
                excerpt.text.push_str(line.text);
                excerpt.taken += 1;
                excerpt.cut |= line.cut;
            }
        }
        Ok(excerpt)
    }
}

/// Some lines of a file, exactly as they are in it.
#[derive(Debug)]
struct Excerpt {
    first: usize,
    taken: usize,
    total: usize,
    text: String,
    /// A line was too long to be shown whole.
    cut: bool,
}

impl Excerpt {
    fn answer(self, path: &FilePath, bytes: u64) -> Result<Value, Refusal> {
        if self.first > 1 && self.taken == 0 {
            return Err(Refusal::invalid(format!("`{path}` has only {} lines.", self.total)));
        }
        let mut answer = json!({
            "path": path.as_str(),
            "content": self.text,
            "first_line": self.first,
            "lines": self.total,
            "bytes": bytes,
        });
        let next = self.first + self.taken;
        if next <= self.total {
            answer["truncated"] = true.into();
            answer["next_offset"] = next.into();
        }
        if self.cut {
            answer["cut"] = "A line is too long to be shown whole; grep_files finds what is in it.".into();
        }
        Ok(answer)
    }
}
