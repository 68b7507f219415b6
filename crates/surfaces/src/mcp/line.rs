//! Lines from a stream that may never end one.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The longest message that is read. A plan has a mebibyte at most, and JSON escapes make it several times as long.
pub(super) const LONGEST_LINE: usize = 8 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its line end.
    Whole(Vec<u8>),
    /// Longer than [`LONGEST_LINE`]. What was kept of it is gone, and the rest will be skipped.
    TooLong,
}

#[derive(Debug)]
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    begun: Vec<u8>,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(64 * 1024, input), begun: Vec::new(), skipping: false }
    }

    /// The next line, or `None` at the end. A last line without a line end counts.
    ///
    /// It may be dropped at any time: what it has taken from the stream is kept here, and the next call goes on with it.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                self.skipping = false;
                let rest = std::mem::take(&mut self.begun);
                return Ok((!rest.is_empty()).then_some(Line::Whole(rest)));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            let too_long = !self.skipping && self.begun.len() + piece.len() > LONGEST_LINE;
            if !self.skipping && !too_long {
                self.begun.extend_from_slice(piece);
            }
            let taken = piece.len() + usize::from(end.is_some());
            self.input.consume(taken);
            let skipped = self.skipping;
            self.skipping = end.is_none() && (skipped || too_long);
            if too_long {
                self.begun = Vec::new();
                return Ok(Some(Line::TooLong));
            }
            if end.is_some() && !skipped {
                return Ok(Some(Line::Whole(std::mem::take(&mut self.begun))));
            }
        }
    }
}
