//! The output of a command as a person sees it while the command runs.
//!
//! Pieces are sent a few times a second. A command that writes faster than a person reads is shown by the end of what it
//! wrote since; the file has all of it.

use std::time::Duration;

use planwright_sandbox::{OutputChunk, RunningCommand};
use tokio::time::{Instant, sleep_until};

use crate::toolbox::ToolContext;

/// The time between two pieces.
const INTERVAL: Duration = Duration::from_millis(100);
/// The longest piece.
const MAX_BYTES: usize = 4 * 1024;

pub(super) struct ShownOutput<'a> {
    context: ToolContext<'a>,
    tool: &'static str,
    pending: PendingOutput,
}

impl<'a> ShownOutput<'a> {
    pub(super) fn new(context: ToolContext<'a>, tool: &'static str) -> Self {
        Self { context, tool, pending: PendingOutput::default() }
    }

    /// Shows everything until the command has written its last.
    pub(super) async fn follow(mut self, running: &mut RunningCommand) {
        let mut next = Instant::now();
        loop {
            let chunk = tokio::select! {
                biased;
                () = sleep_until(next), if !self.pending.is_empty() => {
                    self.send(Rest::Waits);
                    next = Instant::now() + INTERVAL;
                    continue;
                }
                chunk = running.next_output() => chunk,
            };
            match chunk {
                Some(chunk) => self.pending.push(chunk),
                None => return self.send(Rest::IsOver),
            }
        }
    }

    fn send(&mut self, rest: Rest) {
        let text = self.pending.take(rest);
        if !text.is_empty() {
            self.context.send_output(self.tool, text);
        }
    }
}

/// Whether the rest of a character may still arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Waits,
    IsOver,
}

/// What was written since the last piece.
#[derive(Debug, Default)]
struct PendingOutput {
    bytes: Vec<u8>,
    skipped: u64,
}

impl PendingOutput {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.skipped == 0
    }

    fn push(&mut self, chunk: OutputChunk) {
        if chunk.skipped > 0 {
            self.skipped += chunk.skipped + self.bytes.len() as u64;
            self.bytes.clear();
        }
        self.bytes.extend_from_slice(&chunk.bytes);
        // Twice the length, so that not every chunk moves the rest.
        if self.bytes.len() > 2 * MAX_BYTES {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let over = self.bytes.len().saturating_sub(MAX_BYTES);
        self.bytes.drain(..over);
        self.skipped += over as u64;
    }

    /// The pending text. The beginning of a character whose rest has not arrived stays.
    fn take(&mut self, rest: Rest) -> String {
        self.shorten();
        let whole = match rest {
            Rest::Waits => self.bytes.len() - cut_character(&self.bytes),
            Rest::IsOver => self.bytes.len(),
        };
        let left = self.bytes.split_off(whole);
        let bytes = std::mem::replace(&mut self.bytes, left);
        let text = String::from_utf8_lossy(&bytes);
        match std::mem::take(&mut self.skipped) {
            0 => text.into_owned(),
            skipped => format!("[{skipped} bytes are not shown]\n{}", text.trim_start_matches('\u{fffd}')),
        }
    }
}

/// The length of a character at the end that is not complete.
fn cut_character(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    let first = bytes[from..].iter().rposition(|byte| byte & 0b1100_0000 == 0b1100_0000);
    let Some(first) = first.map(|at| from + at) else { return 0 };
    match std::str::from_utf8(&bytes[first..]) {
        Err(error) if error.error_len().is_none() => bytes.len() - first,
        Ok(_) | Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use planwright_sandbox::OutputStream;

    use super::*;

    fn chunk(bytes: &[u8], skipped: u64) -> OutputChunk {
        OutputChunk { stream: OutputStream::Stdout, bytes: bytes.to_vec(), skipped }
    }

    #[test]
    fn no_character_is_divided_between_two_pieces() {
        let text = "aä漢🦀b".repeat(3);
        for length in 1..=7 {
            let mut pending = PendingOutput::default();
            let mut shown = String::new();
            for piece in text.as_bytes().chunks(length) {
                pending.push(chunk(piece, 0));
                shown.push_str(&pending.take(Rest::Waits));
            }
            shown.push_str(&pending.take(Rest::IsOver));
            assert_eq!(shown, text, "{length}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_do_not_stay() {
        let mut pending = PendingOutput::default();
        pending.push(chunk(&[0xff, 0xfe, b'a', 0xe2, 0x82], 0));
        assert_eq!(pending.take(Rest::Waits), "\u{fffd}\u{fffd}a");
        assert_eq!(pending.take(Rest::IsOver), "\u{fffd}");
        assert!(pending.is_empty());
    }

    #[test]
    fn of_much_output_the_end_is_shown() {
        let mut pending = PendingOutput::default();
        (0..100).for_each(|_| pending.push(chunk(&[b'x'; 1000], 0)));
        pending.push(chunk(b"the end", 0));
        let shown = pending.take(Rest::Waits);
        assert!(shown.starts_with("[95911 bytes are not shown]\nxxx") && shown.ends_with("xthe end"), "{shown}");
        pending.push(chunk(b"late", 7));
        assert_eq!(pending.take(Rest::Waits), "[7 bytes are not shown]\nlate");
    }
}
