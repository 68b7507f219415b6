//! Tracks which parts of a Markdown source were rendered, so that nothing of it stays hidden.

use std::ops::Range;

/// The ranges of the source that were rendered.
#[derive(Debug, Default)]
pub(super) struct Coverage(Vec<Range<usize>>);

impl Coverage {
    pub(super) fn add(&mut self, range: Range<usize>) {
        self.0.push(range);
    }

    /// The lines with text, beyond markup, that was not rendered.
    pub(super) fn missing<'a>(&mut self, source: &'a str) -> Vec<&'a str> {
        self.0.sort_by_key(|range| range.start);
        let mut lines: Vec<&str> = Vec::new();
        let mut position = 0;
        let mut look = |range: Range<usize>| {
            let Some(between) = source.get(range.clone()) else { return };
            for (offset, _) in between.char_indices().filter(|(_, c)| is_text(*c)) {
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

/// Digits may be the marker of a list, and punctuation is markup.
fn is_text(c: char) -> bool {
    !(c.is_whitespace() || c.is_ascii_digit() || c.is_ascii_punctuation())
}

fn line_around(source: &str, at: usize) -> &str {
    let start = source[..at].rfind('\n').map_or(0, |index| index + 1);
    let end = source[at..].find('\n').map_or(source.len(), |index| at + index);
    source[start..end].trim()
}
