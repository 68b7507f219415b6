//! What a command writes, line by line, for a person who watches it.

use std::collections::VecDeque;

use planwright_core::visible::visible;

use crate::terminal::palette::DIM;
use crate::terminal::text::{fit, paint};

/// Lines that are kept for the view that shows only the newest.
const CAPACITY: usize = 8;
/// A longer line is shown in pieces.
const MAX_LINE: usize = 4 * 1024;

#[derive(Debug, Default)]
pub(crate) struct OutputLines {
    /// The line that is not complete yet.
    open: String,
    newest: VecDeque<String>,
}

impl OutputLines {
    /// Takes a piece, and gives the lines that it completes.
    pub(crate) fn push(&mut self, text: &str) -> Vec<String> {
        self.open.push_str(text);
        let mut complete = Vec::new();
        while let Some(end) = self.open.find('\n').or_else(|| (self.open.len() > MAX_LINE).then_some(MAX_LINE)) {
            let end = self.open.floor_char_boundary(end);
            let rest = self.open.split_off(end);
            let line = std::mem::replace(&mut self.open, rest.strip_prefix('\n').unwrap_or(&rest).to_owned());
            complete.push(self.keep(&line));
        }
        complete
    }

    /// The line that was never completed, if there is one.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let open = std::mem::take(&mut self.open);
        (!open.is_empty()).then(|| self.keep(&open))
    }

    /// The newest lines, each indented and not wider than `width`, and the one that is not complete.
    pub(crate) fn newest(&self, width: usize) -> Vec<String> {
        let open = (!self.open.is_empty()).then(|| harmless(&self.open));
        let lines = self.newest.iter().cloned().chain(open);
        let skipped = (self.newest.len() + usize::from(!self.open.is_empty())).saturating_sub(CAPACITY);
        lines.skip(skipped).map(|line| indented(&line, width)).collect()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn keep(&mut self, line: &str) -> String {
        let line = harmless(line);
        if self.newest.len() == CAPACITY {
            self.newest.pop_front();
        }
        self.newest.push_back(line.clone());
        line
    }
}

/// `  │ running 3 tests`
pub(crate) fn indented(line: &str, width: usize) -> String {
    paint(&fit(&format!("  │ {line}"), width), DIM)
}

/// Without colours and with every other control character visible. Of a line that was written over, the last text counts.
fn harmless(line: &str) -> String {
    let plain = anstream::adapter::strip_str(line.trim_end_matches('\r')).to_string();
    let last = plain.rsplit('\r').next().unwrap_or_default();
    visible(&last.replace('\t', "    ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() {
        let mut output = OutputLines::default();
        assert_eq!(output.push("one\ntw"), ["one"]);
        assert_eq!(output.push("o\r\n\n  10%\r  99%\r100%\nthree"), ["two", "", "100%"]);
        assert_eq!(output.finish().as_deref(), Some("three"));
        assert_eq!(output.finish(), None);
    }

    #[test]
    fn nothing_moves_the_cursor_and_no_line_is_endless() {
        let mut output = OutputLines::default();
        assert_eq!(output.push("\u{1b}[31mred\u{1b}[0m\u{7}\ta\u{202e}b\n"), ["red    a⟦U+202E⟧b"]);
        let lines = output.push(&"ä".repeat(10_000));
        assert!(lines.len() >= 4 && lines.iter().all(|line| line.len() <= MAX_LINE));
    }

    #[test]
    fn only_the_newest_lines_are_kept() {
        let mut output = OutputLines::default();
        (0..100).for_each(|n| drop(output.push(&format!("line {n}\n"))));
        output.push("open");
        let newest: Vec<_> =
            output.newest(80).iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert_eq!(newest.len(), CAPACITY);
        assert_eq!((newest[0].as_str(), newest[7].as_str()), ("  │ line 93", "  │ open"));
        assert!(
            output.newest(10).iter().all(|line| anstream::adapter::strip_str(line).to_string().chars().count() <= 10)
        );
    }
}
