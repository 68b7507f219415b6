//! A search on its way: what was found, and what it may still cost.

use std::ops::ControlFlow;

use regex::Regex;
use serde_json::{Value, json};

use crate::toolbox::files::open::OpenFile;
use crate::toolbox::files::path::FilePath;
use crate::toolbox::files::text::{TextError, TextLines};
use crate::toolbox::files::tool::FileCallContext;
use crate::toolbox::files::walk::Walk;
use crate::toolbox::files::wildcard::Wildcard;

/// Of a longer line only this much is looked at, in bytes.
const LOOKED_AT: usize = 64 * 1024;
/// Of a longer line only this much is shown, in characters.
const SHOWN: usize = 400;
/// Of these, how many may stand before the match.
const SHOWN_BEFORE: usize = 100;

#[derive(Debug)]
pub(super) struct Search<'a> {
    regex: Regex,
    glob: Option<Wildcard>,
    place: &'a FileCallContext,
    matches: Vec<Match>,
    answer_bytes: usize,
    files: usize,
    bytes: u64,
    binary: usize,
    skipped: usize,
    stopped_by: Option<StoppedBy>,
}

#[derive(Debug)]
struct Match {
    path: String,
    line: usize,
    text: String,
}

#[derive(Debug, Clone, Copy)]
enum StoppedBy {
    Matches,
    Files,
    Bytes,
    Time,
}

impl StoppedBy {
    fn why(self) -> &'static str {
        match self {
            Self::Matches => "There are more matches; a narrower pattern, path or glob shows others.",
            Self::Files => "There are too many files to search all of them; name a path or a glob.",
            Self::Bytes => "There is too much text to search all of it; name a path or a glob.",
            Self::Time => "The search took too long and was stopped; name a path or a glob.",
        }
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(regex: Regex, glob: Option<Wildcard>, place: &'a FileCallContext) -> Self {
        Self {
            regex,
            glob,
            place,
            matches: Vec::new(),
            answer_bytes: 0,
            files: 0,
            bytes: 0,
            binary: 0,
            skipped: 0,
            stopped_by: None,
        }
    }

    pub(super) fn wants(&self, path: &FilePath) -> bool {
        self.glob.as_ref().is_none_or(|glob| glob.matches(path))
    }

    /// Counts a file that could not be looked into.
    pub(super) fn pass_by(&mut self) {
        self.skipped += 1;
    }

    pub(super) fn end_of_walk(&mut self, walk: &Walk<'_>) {
        self.skipped += walk.skipped;
        if walk.stopped_early && self.stopped_by.is_none() {
            self.stopped_by = Some(if self.place.deadline.is_over() { StoppedBy::Time } else { StoppedBy::Files });
        }
    }

    pub(super) fn file(&mut self, path: &FilePath, opened: OpenFile) -> ControlFlow<()> {
        let limits = &self.place.limits;
        if self.files == limits.scanned_files {
            return self.stop(StoppedBy::Files);
        }
        let bytes_left = limits.scanned_bytes.saturating_sub(self.bytes);
        if bytes_left == 0 && opened.bytes > 0 {
            return self.stop(StoppedBy::Bytes);
        }
        self.files += 1;
        let (matches_before, answer_before) = (self.matches.len(), self.answer_bytes);
        let mut lines = TextLines::new(opened.file, bytes_left, LOOKED_AT, &self.place.deadline);
        let mut number = 0;
        let outcome = loop {
            match lines.next() {
                Ok(Some(line)) => {
                    number += 1;
                    let text = line.text.trim_end_matches(['\n', '\r']);
                    let Some(found) = self.regex.find(text) else { continue };
                    if self.matches.len() == limits.matches || self.answer_bytes >= limits.answer_bytes {
                        break Err(StoppedBy::Matches);
                    }
                    let text = shown(text, found.start());
                    self.answer_bytes += path.as_str().len() + text.len();
                    self.matches.push(Match { path: path.to_string(), line: number, text });
                }
                Ok(None) => break Ok(()),
                Err(TextError::Binary) => {
                    // What looked like lines was not.
                    self.matches.truncate(matches_before);
                    self.answer_bytes = answer_before;
                    self.binary += 1;
                    break Ok(());
                }
                Err(TextError::OutOfTime) => break Err(StoppedBy::Time),
                Err(TextError::Failed(_)) => {
                    self.skipped += 1;
                    break Ok(());
                }
            }
        };
        self.bytes += lines.bytes_read();
        match outcome {
            Err(stopped_by) => self.stop(stopped_by),
            Ok(()) if opened.bytes > bytes_left => self.stop(StoppedBy::Bytes),
            Ok(()) => ControlFlow::Continue(()),
        }
    }

    fn stop(&mut self, by: StoppedBy) -> ControlFlow<()> {
        self.stopped_by = Some(by);
        ControlFlow::Break(())
    }

    pub(super) fn answer(self) -> Value {
        let found = |found: Match| json!({"path": found.path, "line": found.line, "text": found.text});
        let matches: Vec<_> = self.matches.into_iter().map(found).collect();
        let mut answer = json!({"matches": matches, "files_searched": self.files});
        if self.binary > 0 {
            answer["binary_files_skipped"] = self.binary.into();
        }
        if self.skipped > 0 {
            answer["not_readable"] = self.skipped.into();
        }
        if let Some(stopped_by) = self.stopped_by {
            answer["truncated"] = true.into();
            answer["why"] = stopped_by.why().into();
        }
        answer
    }
}

/// A line as it is shown: short, and with the place where it fits.
fn shown(line: &str, found_at: usize) -> String {
    if line.chars().nth(SHOWN).is_none() {
        return line.to_owned();
    }
    let before = line[..found_at].chars().count();
    let from = if before < SHOWN { 0 } else { before - SHOWN_BEFORE };
    let mut text = String::new();
    if from > 0 {
        text.push('…');
    }
    text.extend(line.chars().skip(from).take(SHOWN));
    if line.chars().nth(from + SHOWN).is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_where_it_fits() {
        assert_eq!(shown("short", 2), "short");
        let line = format!("{}needle{}", "ä".repeat(1000), "ö".repeat(1000));
        let text = shown(&line, 2000);
        assert!(text.contains("needle") && text.starts_with('…') && text.ends_with('…'), "{text}");
        assert_eq!(text.chars().count(), SHOWN + 2);
        assert!(shown(&line, 0).starts_with('ä'));
        assert!(shown(&format!("{}needle", "x".repeat(1000)), 1000).ends_with("needle"));
    }
}
