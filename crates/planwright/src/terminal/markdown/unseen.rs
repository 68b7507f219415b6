//! Keeps account of what of a text was shown.

use std::ops::Range;

/// The parts of the source that were put on the screen.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<Range<usize>>);

impl Seen {
    pub(super) fn add(&mut self, range: Range<usize>) {
        self.0.push(range);
    }

    /// The lines that hold something beyond markup that was not shown.
    pub(super) fn missing<'a>(&mut self, source: &'a str) -> Vec<&'a str> {
        self.0.sort_by_key(|range| range.start);
        let mut lines: Vec<&str> = Vec::new();
        let mut position = 0;
        let mut look = |range: Range<usize>| {
            let Some(between) = source.get(range.clone()) else { return };
            for (offset, _) in between.char_indices().filter(|(_, c)| says_something(*c)) {
                let line = line_around(source, range.start + offset);
                if lines.last().is_none_or(|last| !std::ptr::eq(*last, line)) {
                    lines.push(line);
                }
            }
        };
        for range in &self.0 {
            if range.start > position {
                look(position..range.start);
            }
            position = position.max(range.end);
        }
        look(position.min(source.len())..source.len());
        lines
    }
}

/// Digits may be the marker of a list; punctuation is what Markdown is made of.
fn says_something(c: char) -> bool {
    !(c.is_whitespace() || c.is_ascii_digit() || c.is_ascii_punctuation())
}

fn line_around(source: &str, at: usize) -> &str {
    let start = source[..at].rfind('\n').map_or(0, |index| index + 1);
    let end = source[at..].find('\n').map_or(source.len(), |index| at + index);
    source[start..end].trim()
}
