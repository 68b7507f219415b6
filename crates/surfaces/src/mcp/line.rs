//! Lines from a stream that may never end one.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::recover_id::{IdScanner, RequestHint};

/// The longest message that is read. A plan has a mebibyte at most, and JSON escapes make it several times as long.
pub(super) const MAX_LINE: usize = 8 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its line end.
    Whole(Vec<u8>),
    /// Longer than [`MAX_LINE`]. It is gone, apart from what it was about.
    TooLong(RequestHint),
}

#[derive(Debug)]
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    begun: Vec<u8>,
    /// There while the line is too long to be kept.
    scanning: Option<IdScanner>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(64 * 1024, input), begun: Vec::new(), scanning: None }
    }

    /// The next line, or `None` at the end. A last line without a line end counts.
    ///
    /// It may be dropped at any time: what it has taken from the stream is kept here, and the next call continues with it.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            let is_last = available.is_empty();
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            match &mut self.scanning {
                Some(scanner) => scanner.feed(piece),
                None if self.begun.len() + piece.len() > MAX_LINE => {
                    let mut scanner = IdScanner::default();
                    scanner.feed(&std::mem::take(&mut self.begun));
                    scanner.feed(piece);
                    self.scanning = Some(scanner);
                }
                None => self.begun.extend_from_slice(piece),
            }
            let taken = piece.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_none() && !is_last {
                continue;
            }
            if let Some(scanner) = self.scanning.take() {
                return Ok(Some(Line::TooLong(scanner.hint())));
            }
            let line = std::mem::take(&mut self.begun);
            return Ok((!is_last || !line.is_empty()).then_some(Line::Whole(line)));
        }
    }
}
