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
    /// It goes on, but was too long to be kept.
    pub(super) cut: bool,
}

#[derive(Debug)]
pub(super) enum TextError {
    Binary,
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
            Err(_) => return Err(TextError::Binary),
        };
        Ok(Some(Line { text, cut }))
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }
}
