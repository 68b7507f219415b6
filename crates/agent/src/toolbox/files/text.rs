//! A file's lines, read with little memory however long they are.

use std::io::{self, BufRead, BufReader, Read, Take};

use super::deadline::Deadline;

/// A NUL this near the beginning means that a file is not text.
const BINARY_CHECK_BYTES: u64 = 8 * 1024;

#[derive(Debug)]
pub(super) struct TextLines<'a, R> {
    input: BufReader<Take<R>>,
    deadline: &'a Deadline,
    /// Of each line at most this much is kept.
    keep: usize,
    line: Vec<u8>,
    bytes_read: u64,
}

#[derive(Debug)]
pub(super) struct Line<'a> {
    /// With its line end, if it has one.
    pub(super) text: &'a str,
    /// The line is longer: its rest was not kept.
    pub(super) cut: bool,
}

#[derive(Debug)]
pub(super) enum TextError {
    Binary,
    NotUtf8,
    OutOfTime,
    Failed(io::Error),
}

impl<'a, R: Read> TextLines<'a, R> {
    /// Reads at most `bytes` from `input` and keeps at most `keep` bytes of a line.
    pub(super) fn new(input: R, bytes: u64, keep: usize, deadline: &'a Deadline) -> Self {
        let input = BufReader::with_capacity(64 * 1024, input.take(bytes));
        Self { input, deadline, keep, line: Vec::new(), bytes_read: 0 }
    }

    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, TextError> {
        self.line.clear();
        let mut cut = false;
        loop {
            if self.deadline.is_over() {
                return Err(TextError::OutOfTime);
            }
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(TextError::Failed(error)),
            };
            if chunk.is_empty() {
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let piece = &chunk[..end.map_or(chunk.len(), |at| at + 1)];
            let checked = usize::try_from(BINARY_CHECK_BYTES.saturating_sub(self.bytes_read)).unwrap_or(usize::MAX);
            if piece.iter().take(checked).any(|byte| *byte == 0) {
                return Err(TextError::Binary);
            }
            let room = self.keep.saturating_sub(self.line.len());
            cut |= piece.len() > room;
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            let consumed = piece.len();
            self.bytes_read += consumed as u64;
            self.input.consume(consumed);
            if end.is_some() {
                break;
            }
        }
        if self.line.is_empty() && !cut {
            return Ok(None);
        }
        let partial = cut || self.input.get_ref().limit() == 0;
        let text = match std::str::from_utf8(&self.line) {
            Ok(text) => text,
            // Only the cut went through a character; what is before it is whole.
            Err(error) if partial && error.error_len().is_none() => {
                std::str::from_utf8(&self.line[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return Err(TextError::NotUtf8),
        };
        Ok(Some(Line { text, cut }))
    }
}

/// What the bytes of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding<'a> {
    Utf8(&'a str),
    Utf16,
    Binary,
    /// Text in an older encoding, or damaged.
    NotUtf8 {
        line: usize,
    },
}

impl Encoding<'_> {
    pub(super) fn why(self) -> String {
        match self {
            Self::Utf8(_) => "is UTF-8 text.".to_owned(),
            Self::Utf16 => "is text in UTF-16, and file tools take UTF-8 only.".to_owned(),
            Self::Binary => "is not text: it has NUL bytes.".to_owned(),
            Self::NotUtf8 { line } => {
                format!("is not UTF-8 (line {line}); it may be text in another encoding.")
            }
        }
    }
}

pub(super) fn encoding_of(content: &[u8]) -> Encoding<'_> {
    if has_utf16_mark(content) {
        return Encoding::Utf16;
    }
    let checked = usize::try_from(BINARY_CHECK_BYTES).unwrap_or(usize::MAX).min(content.len());
    if content[..checked].contains(&0) {
        return Encoding::Binary;
    }
    match std::str::from_utf8(content) {
        Ok(text) => Encoding::Utf8(text),
        Err(error) => {
            let line = content[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
            Encoding::NotUtf8 { line }
        }
    }
}

/// The byte order mark of UTF-16, in either order.
pub(super) fn has_utf16_mark(content: &[u8]) -> bool {
    content.starts_with(&[0xff, 0xfe]) || content.starts_with(&[0xfe, 0xff])
}
