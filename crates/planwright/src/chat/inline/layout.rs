//! A text in rows of a width, and where each character of it is.

use planwright_core::visible::visible;
use unicode_width::UnicodeWidthStr as _;

use crate::terminal::palette::{CODE, PLAIN};
use crate::terminal::text::{Span, painted};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) rows: Vec<TextRow>,
    /// The row and the column of the cursor.
    pub(super) cursor: (usize, usize),
    /// Where each character is: its place in the text, its row and its column.
    pub(super) places: Vec<(usize, usize, usize)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextRow {
    spans: Vec<Span>,
    width: usize,
}

impl TextRow {
    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.spans.iter().map(Span::text).collect()
    }

    pub(super) fn painted(&self) -> String {
        painted(&self.spans)
    }
}

impl Layout {
    /// Takes the next character, or the mark that stands in its place.
    pub(super) fn push(&mut self, at: usize, c: char, mark: Option<&str>, width: usize) {
        if c == '\n' {
            let (row, column) = self.end();
            self.places.push((at, row, column));
            self.rows.push(TextRow::default());
            return;
        }
        let (shown, style) = match mark {
            Some(mark) => (mark.to_owned(), CODE),
            None => (shown(c), PLAIN),
        };
        let needed = shown.width();
        if self.end().1 > 0 && self.end().1 + needed > width {
            self.rows.push(TextRow::default());
        }
        let (row, column) = self.end();
        self.places.push((at, row, column));
        if let Some(last) = self.rows.last_mut() {
            last.spans.push(Span::new(&shown, style));
            last.width += needed;
        }
    }

    /// After the last character of a text that is so long.
    pub(super) fn finish(&mut self, length: usize, cursor: usize, width: usize) {
        // The cursor behind a full row is in the next one.
        if self.end().1 >= width && cursor == length {
            self.rows.push(TextRow::default());
        }
        let (row, column) = self.end();
        self.places.push((length, row, column));
        let found = self.places.iter().find(|(at, _, _)| *at == cursor);
        self.cursor = found.map_or((row, column), |(_, row, column)| (*row, *column));
    }

    /// The place in the text that is in this row, at this column or before it.
    pub(super) fn at(&self, row: usize, column: usize) -> Option<usize> {
        let in_row = self.places.iter().filter(|(_, its, _)| *its == row);
        in_row.take_while(|(_, _, its)| *its <= column).last().map(|(at, _, _)| *at)
    }

    fn end(&self) -> (usize, usize) {
        (self.rows.len().saturating_sub(1), self.rows.last().map_or(0, |row| row.width))
    }
}

/// Text that was pasted, or comes from the history, may hold what a terminal obeys, or what cannot be seen.
fn shown(c: char) -> String {
    match c {
        '\t' => "    ".to_owned(),
        c if c.is_control() => "·".to_owned(),
        c if c.is_ascii() => c.to_string(),
        c => visible(&c.to_string()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::composer::Composer;

    fn rows(text: &str, width: usize) -> (Vec<String>, (usize, usize)) {
        let layout = Composer::new(text).layout(width);
        (layout.rows.iter().map(super::TextRow::text).collect(), layout.cursor)
    }

    #[test]
    fn rows_break_where_the_window_ends() {
        for (text, width, expected, cursor) in [
            ("", 5, vec![""], (0, 0)),
            ("abc", 5, vec!["abc"], (0, 3)),
            ("abcde", 5, vec!["abcde", ""], (1, 0)),
            ("abcdefg", 5, vec!["abcde", "fg"], (1, 2)),
            ("a\n\nb", 5, vec!["a", "", "b"], (2, 1)),
            ("漢字漢字", 5, vec!["漢字", "漢字"], (1, 4)),
            ("a\tb", 9, vec!["a    b"], (0, 6)),
            ("a\u{1b}[2Jb", 9, vec!["a·[2Jb"], (0, 6)),
        ] {
            assert_eq!(rows(text, width), (expected.into_iter().map(str::to_owned).collect(), cursor), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        let (rows, _) = rows("a\u{202e}b", 40);
        assert_eq!(rows, ["a⟦U+202E⟧b"]);
    }
}
