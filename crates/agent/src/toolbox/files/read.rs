//! `read_file`: a file's text, or some of its lines.

use std::fmt::Write as _;
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
use super::text::{Encoding, TextError, TextLines, has_utf16_mark};
use super::tool::{FileCall, FileCallContext};
use crate::toolbox::ToolAnswer;

const BYTE_ORDER_MARK: char = '\u{feff}';

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
    /// Whether each line begins with its number and a tab; true unless set to false. With false, the text is exactly as
    /// it is in the file.
    #[serde(default = "yes")]
    numbers: bool,
}

fn yes() -> bool {
    true
}

impl FileCall for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = include_str!("descriptions/read_file.md");
    const EFFECT: ToolEffect = ToolEffect::ReadsOnly;

    fn check(&self, _limits: &FileLimits) -> Result<(), Refusal> {
        if self.path.is_whole_folder() { Err(io_error::is_folder(".")) } else { Ok(()) }
    }

    fn paths(&self) -> Vec<&FilePath> {
        vec![&self.path]
    }

    fn carry_out(self, place: &FileCallContext) -> Result<ToolAnswer, Refusal> {
        let missing = || Refusal::not_found(format!("There is no `{}`.", self.path));
        let (files, path) = place.readable(&self.path)?.ok_or_else(missing)?;
        let mut opened = open_named(&files, &path)?;
        if opened.bytes > place.limits.read_bytes {
            return Err(Refusal::limit(format!(
                "`{}` has {} bytes, more than the {} that can be read; grep_files finds lines in it.",
                self.path, opened.bytes, place.limits.read_bytes
            )));
        }
        let bytes = opened.bytes;
        if is_utf16(&mut opened).map_err(|error| io_error::refusal(self.path.as_str(), &error))? {
            return Ok(self.not_text(bytes, Encoding::Utf16));
        }
        let mut excerpt = Excerpt { first: self.offset.map_or(1, NonZeroUsize::get), ..Excerpt::default() };
        match self.lines(&mut excerpt, opened, place) {
            Ok(()) => Ok(excerpt.answer(&self.path, bytes)?.into()),
            Err(TextError::Binary) => Ok(self.not_text(bytes, Encoding::Binary)),
            Err(TextError::NotUtf8) => Ok(self.not_text(bytes, Encoding::NotUtf8 { line: excerpt.total + 1 })),
            Err(TextError::OutOfTime) => Err(io_error::took_too_long()),
            Err(TextError::Failed(error)) => Err(io_error::refusal(self.path.as_str(), &error)),
        }
    }
}

fn is_utf16(opened: &mut OpenFile) -> std::io::Result<bool> {
    use std::io::{Read as _, Seek as _};
    let mut mark = Vec::new();
    (&mut opened.file).take(2).read_to_end(&mut mark)?;
    opened.file.rewind()?;
    Ok(has_utf16_mark(&mark))
}

impl ReadFile {
    fn not_text(&self, bytes: u64, encoding: Encoding<'_>) -> ToolAnswer {
        let why = format!("`{}` {}", self.path, encoding.why());
        json!({"path": self.path.as_str(), "bytes": bytes, "binary": true, "why": why}).into()
    }

    fn lines(&self, excerpt: &mut Excerpt, opened: OpenFile, place: &FileCallContext) -> Result<(), TextError> {
        let room = place.limits.answer_bytes;
        let wanted = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut full = false;
        let mut shown = String::new();
        let mut lines = TextLines::new(opened.file, place.limits.read_bytes, room, &place.deadline);
        while let Some(line) = lines.next()? {
            excerpt.total += 1;
            excerpt.count_end(line.text, line.cut);
            excerpt.mark |= excerpt.total == 1 && line.text.starts_with(BYTE_ORDER_MARK);
            if excerpt.total < excerpt.first || full {
                continue;
            }
            shown.clear();
            self.show(excerpt.total, line.text, &mut shown);
            full = excerpt.taken == wanted || (excerpt.taken > 0 && excerpt.text.len() + shown.len() > room);
            if !full {
                excerpt.text.push_str(&shown);
                excerpt.taken += 1;
                excerpt.cut |= line.cut;
            }
        }
        Ok(())
    }

    fn show(&self, number: usize, line: &str, shown: &mut String) {
        if !self.numbers {
            return shown.push_str(line);
        }
        let line = if number == 1 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        // How lines end is said once, beside the text.
        let text = line.strip_suffix('\n').map_or(line, |text| text.strip_suffix('\r').unwrap_or(text));
        let _ = write!(shown, "{number:>6}\t{text}");
        if line.ends_with('\n') {
            shown.push('\n');
        }
    }
}

/// Some lines of a file.
#[derive(Debug, Default)]
struct Excerpt {
    first: usize,
    taken: usize,
    total: usize,
    text: String,
    /// A line was too long to be shown whole.
    cut: bool,
    /// The file begins with a byte order mark.
    mark: bool,
    crlf: usize,
    lf: usize,
    no_final_newline: bool,
}

impl Excerpt {
    fn count_end(&mut self, line: &str, cut: bool) {
        self.no_final_newline = !cut && !line.ends_with('\n');
        if line.ends_with("\r\n") {
            self.crlf += 1;
        } else if line.ends_with('\n') {
            self.lf += 1;
        }
    }

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
        match (self.crlf, self.lf) {
            (0, _) => {}
            (_, 0) => answer["line_ends"] = "crlf".into(),
            (_, _) => answer["line_ends"] = "mixed".into(),
        }
        if self.mark {
            answer["byte_order_mark"] = true.into();
        }
        if self.total > 0 && self.no_final_newline {
            answer["no_final_newline"] = true.into();
        }
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
