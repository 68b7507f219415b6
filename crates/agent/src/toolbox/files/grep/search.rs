//! A search on its way: what was found, and what it may still cost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};

use super::first_matches::{FirstMatches, Match};
use crate::toolbox::files::deadline::Deadline;
use crate::toolbox::files::path::{self, FilePath};
use crate::toolbox::files::text::{TextError, TextLines};
use crate::toolbox::files::tool::FileCallContext;
use crate::toolbox::files::tree::{Tree, TreeFile, TreeVisitor};
use crate::toolbox::files::wildcard::Wildcard;

/// A file is searched in pieces of this size. Of a longer line only this much is looked at.
const CHUNK_BYTES: usize = 64 * 1024;
/// Of a longer line only this much is shown, in characters.
const MAX_SHOWN_CHARACTERS: usize = 400;
/// Of these, how many may stand before the match.
const SHOWN_BEFORE: usize = 100;

/// What all threads of one search share.
#[derive(Debug)]
pub(super) struct Search<'a> {
    glob: Option<&'a Wildcard>,
    place: &'a FileCallContext,
    tree: &'a Tree<'a>,
    first: Mutex<FirstMatches>,
    /// Whether enough was found, so that the path behind which nothing is wanted is worth looking up.
    enough: AtomicBool,
    files: AtomicUsize,
    bytes: AtomicU64,
    binary: AtomicUsize,
    skipped: AtomicUsize,
    stopped_by: AtomicU8,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) files: usize,
    pub(super) binary: usize,
    pub(super) skipped: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoppedBy {
    Matches,
    Files,
    Bytes,
    Time,
}

impl StoppedBy {
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Matches => "There are more matches; a narrower pattern, path or glob shows others.",
            Self::Files => "There are too many files to search all of them; name a path or a glob.",
            Self::Bytes => "There is too much text to search all of it; name a path or a glob.",
            Self::Time => "The search took too long and was stopped; name a path or a glob.",
        }
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(glob: Option<&'a Wildcard>, place: &'a FileCallContext, tree: &'a Tree<'a>) -> Self {
        Self {
            glob,
            place,
            tree,
            first: Mutex::new(FirstMatches::new(place.limits.matches)),
            enough: AtomicBool::new(false),
            files: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            binary: AtomicUsize::new(0),
            skipped: AtomicUsize::new(0),
            stopped_by: AtomicU8::new(0),
        }
    }

    pub(super) fn thread(&'a self, matcher: RegexMatcher) -> SearchThread<'a> {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .line_terminator(LineTerminator::crlf())
            .heap_limit(Some(CHUNK_BYTES))
            .binary_detection(BinaryDetection::quit(0))
            .build();
        SearchThread { search: self, matcher, searcher, piece: Vec::new() }
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            files: self.files.load(Ordering::Relaxed),
            binary: self.binary.load(Ordering::Relaxed),
            skipped: self.skipped.load(Ordering::Relaxed),
        }
    }

    /// The first matches, and whether there are more.
    pub(super) fn take_matches(&self) -> (BTreeMap<FilePath, Vec<Match>>, bool) {
        let mut first = self.first();
        (first.take(), first.more)
    }

    pub(super) fn stopped_by(&self) -> Option<StoppedBy> {
        match self.stopped_by.load(Ordering::Relaxed) {
            1 => Some(StoppedBy::Files),
            2 => Some(StoppedBy::Bytes),
            _ => None,
        }
    }

    fn first(&self) -> MutexGuard<'_, FirstMatches> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, by: StoppedBy) {
        self.stopped_by.store(if by == StoppedBy::Files { 1 } else { 2 }, Ordering::Relaxed);
        self.tree.stop();
    }
}

/// One thread's part of a search.
#[derive(Debug)]
pub(super) struct SearchThread<'a> {
    search: &'a Search<'a>,
    matcher: RegexMatcher,
    searcher: Searcher,
    piece: Vec<u8>,
}

impl TreeVisitor for SearchThread<'_> {
    fn is_past(&self, path: &str) -> bool {
        self.search.enough.load(Ordering::Relaxed)
            && self.search.first().last_wanted().is_some_and(|last| path::compare(path, last.as_str()).is_gt())
    }

    fn visit(&mut self, file: &TreeFile<'_>) {
        if self.search.glob.is_some_and(|glob| !glob.matches(file.path)) {
            return;
        }
        match file.open() {
            Some((opened, bytes)) => self.search(file.path, opened, bytes),
            // It is gone, not ours to read, or something else by now.
            None => {
                self.search.skipped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl SearchThread<'_> {
    pub(super) fn search(&mut self, path: &str, file: File, bytes: u64) {
        let search = self.search;
        let limits = &search.place.limits;
        if search.files.fetch_add(1, Ordering::Relaxed) >= limits.scanned_files {
            search.files.fetch_sub(1, Ordering::Relaxed);
            return search.stop(StoppedBy::Files);
        }
        let before = search.bytes.fetch_add(bytes, Ordering::Relaxed);
        let bytes_left = limits.scanned_bytes.saturating_sub(before);
        if bytes_left == 0 && bytes > 0 {
            search.files.fetch_sub(1, Ordering::Relaxed);
            return search.stop(StoppedBy::Bytes);
        }
        let mut found = Found { matcher: &self.matcher, matches: Vec::new(), most: limits.matches + 1, binary: false };
        let mut input = Input { file, left: bytes_left, deadline: &search.place.deadline };
        let searched = if bytes.min(bytes_left) < CHUNK_BYTES as u64 {
            self.piece.clear();
            let read = (&mut input).take(CHUNK_BYTES as u64).read_to_end(&mut self.piece);
            read.and_then(|_| self.searcher.search_slice(&self.matcher, &self.piece, &mut found))
        } else {
            self.searcher.search_reader(&self.matcher, &mut input, &mut found)
        };
        if searched.is_err() && !search.place.deadline.is_over() {
            // A line is longer than a piece.
            found.matches.clear();
            if found.read_lines(input, bytes_left).is_err() {
                search.skipped.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        if found.binary {
            // What looked like lines was not.
            search.binary.fetch_add(1, Ordering::Relaxed);
        } else if !found.matches.is_empty()
            && let Ok(path) = FilePath::parse(path)
        {
            let mut first = search.first();
            first.add(path, found.matches);
            search.enough.store(first.last_wanted().is_some(), Ordering::Relaxed);
        }
        if bytes > bytes_left {
            search.stop(StoppedBy::Bytes);
        }
    }
}

/// A file that is read until the call has to stop.
struct Input<'a> {
    file: File,
    left: u64,
    deadline: &'a Deadline,
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.deadline.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// What one file has.
struct Found<'a> {
    matcher: &'a RegexMatcher,
    matches: Vec<Match>,
    most: usize,
    binary: bool,
}

impl Found<'_> {
    fn take(&mut self, line: u64, text: &[u8]) -> bool {
        let text = String::from_utf8_lossy(text);
        let text = text.trim_end_matches(['\n', '\r']);
        let at = self.matcher.find(text.as_bytes()).ok().flatten().map_or(0, |found| found.start());
        self.matches.push(Match { line, text: shown(text, text.floor_char_boundary(at)) });
        self.matches.len() < self.most
    }

    /// Line by line with little memory, for lines of any length.
    fn read_lines(&mut self, mut input: Input<'_>, bytes: u64) -> io::Result<()> {
        input.file.rewind()?;
        let mut lines = TextLines::new(input.file, bytes, CHUNK_BYTES, input.deadline);
        let mut number = 0;
        loop {
            match lines.next() {
                Ok(Some(line)) => {
                    number += 1;
                    let text = line.text.trim_end_matches(['\n', '\r']);
                    if self.matcher.is_match(text.as_bytes()).unwrap_or(false) && !self.take(number, text.as_bytes()) {
                        return Ok(());
                    }
                }
                Ok(None) | Err(TextError::OutOfTime) => return Ok(()),
                Err(TextError::Binary | TextError::NotUtf8) => {
                    self.binary = true;
                    return Ok(());
                }
                Err(TextError::Failed(error)) => return Err(error),
            }
        }
    }
}

impl Sink for Found<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        Ok(self.take(found.line_number().unwrap_or_default(), found.bytes()))
    }

    fn binary_data(&mut self, _searcher: &Searcher, _at: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A line as it is shown: short, and with the place where it fits.
fn shown(line: &str, found_at: usize) -> String {
    if line.chars().nth(MAX_SHOWN_CHARACTERS).is_none() {
        return line.to_owned();
    }
    let before = line[..found_at].chars().count();
    let from = if before < MAX_SHOWN_CHARACTERS { 0 } else { before - SHOWN_BEFORE };
    let mut text = String::new();
    if from > 0 {
        text.push('…');
    }
    text.extend(line.chars().skip(from).take(MAX_SHOWN_CHARACTERS));
    if line.chars().nth(from + MAX_SHOWN_CHARACTERS).is_some() {
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
        assert_eq!(text.chars().count(), MAX_SHOWN_CHARACTERS + 2);
        assert!(shown(&line, 0).starts_with('ä'));
        assert!(shown(&format!("{}needle", "x".repeat(1000)), 1000).ends_with("needle"));
    }
}
