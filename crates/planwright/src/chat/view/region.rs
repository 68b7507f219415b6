//! The rows at the bottom that are drawn anew as they change, and what is written above them.
//!
//! They never have more rows than the window and no row is wider than it, so going up as many rows as were drawn never
//! reaches what is finished. Most terminals break rows anew when their window becomes narrower; then what was drawn takes more rows.

use unicode_width::UnicodeWidthStr as _;

use crate::failure::Failure;
use crate::terminal::live::{self, put, without_unwanted_colors};
use crate::terminal::screen;

/// A terminal that knows these shows everything between them at once.
const UPDATE_BEGINS: &str = "\u{1b}[?2026h";
const UPDATE_ENDS: &str = "\u{1b}[?2026l";

#[derive(Debug, Default)]
pub(super) struct Region {
    rows: Vec<String>,
    /// The row of these in which the cursor is.
    cursor: usize,
    /// Its column, where the rows hold it.
    column: usize,
    /// The window when they were drawn.
    window: (usize, usize),
    /// What goes above them, and is not written yet.
    above: String,
    /// Whether only the rows that changed are written, with a cursor among them.
    has_cursor: bool,
}

impl Region {
    pub(super) fn with_cursor() -> Self {
        Self { has_cursor: true, ..Self::default() }
    }

    pub(super) const fn has_cursor(&self) -> bool {
        self.has_cursor
    }

    /// Writes whole lines above the rows. Where the rows hold the cursor, the next drawing writes both at once.
    pub(super) fn write(&mut self, text: &str) -> Result<(), Failure> {
        if self.has_cursor {
            self.above.push_str(text);
            return Ok(());
        }
        put(&self.erased(), text)
    }

    /// Draws the rows anew. The cursor is in this row and this column of them, or behind the last one.
    pub(super) fn draw(&mut self, rows: Vec<String>, cursor: Option<(usize, usize)>) -> Result<(), Failure> {
        if !self.has_cursor {
            let erased = self.erased();
            let text = rows.join("\n");
            (self.cursor, self.rows) = (rows.len().saturating_sub(1), rows);
            return put(&erased, &text);
        }
        let rows: Vec<String> = rows.iter().map(|row| without_unwanted_colors(row)).collect();
        let window = screen::window();
        let same = self.above.is_empty() && self.window == window && self.rows.len() == rows.len();
        let (mut out, at) = if same { self.changes(&rows) } else { self.anew(&rows) };
        let (row, column) = cursor.unwrap_or((rows.len().saturating_sub(1), 0));
        let row = row.min(rows.len().saturating_sub(1));
        let is_same = out.is_empty() && (row, column) == (self.cursor, self.column);
        out.push_str(&vertical(at, row));
        out.push('\r');
        if column > 0 {
            out.push_str(&format!("\u{1b}[{column}C"));
        }
        (self.rows, self.cursor, self.column, self.window) = (rows, row, column, window);
        if is_same {
            return Ok(());
        }
        put(&format!("{UPDATE_BEGINS}{out}{UPDATE_ENDS}"), "")
    }

    /// Takes the rows away. What went above them is written.
    pub(super) fn clear(&mut self, text: &str) -> Result<(), Failure> {
        let erased = self.erased();
        let above = std::mem::take(&mut self.above);
        put(&erased, &format!("{above}{text}"))
    }

    /// Something else was written below the rows, so they stay where they are.
    pub(super) fn forget(&mut self) {
        (self.rows, self.cursor) = (Vec::new(), 0);
    }

    fn erased(&mut self) -> String {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return String::new();
        }
        let (before, now) = (self.window.0, screen::window().0);
        let above = rows.len().min(self.cursor + 1) - 1;
        let above = match self.has_cursor && now < before && breaks_rows_anew() {
            true => broken_rows(&rows[..above], self.column, now),
            false => above,
        };
        live::erase(above + 1)
    }

    fn anew(&mut self, rows: &[String]) -> (String, usize) {
        let erased = self.erased();
        let above = without_unwanted_colors(&std::mem::take(&mut self.above));
        (format!("{erased}{above}{}", rows.join("\n")), rows.len().saturating_sub(1))
    }

    /// The rows that are not as they were, and the row in which the cursor is behind them.
    fn changes(&self, rows: &[String]) -> (String, usize) {
        let (mut out, mut at) = (String::new(), self.cursor);
        for (index, row) in rows.iter().enumerate().filter(|(index, row)| self.rows[*index] != **row) {
            out.push_str(&vertical(at, index));
            out.push_str(&format!("\r{row}\u{1b}[K"));
            at = index;
        }
        (out, at)
    }
}

fn vertical(from: usize, to: usize) -> String {
    match (from, to) {
        (from, to) if from > to => format!("\u{1b}[{}A", from - to),
        (from, to) if from < to => format!("\u{1b}[{}B", to - from),
        _ => String::new(),
    }
}

/// Whether the terminal breaks rows anew when its window becomes narrower. The others cut them off.
fn breaks_rows_anew() -> bool {
    let is_set = |name| std::env::var_os(name).is_some();
    let term = std::env::var("TERM").unwrap_or_default();
    let is_screen = term.starts_with("screen") && !is_set("TMUX");
    !(is_set("XTERM_VERSION") || is_screen || term == "linux" || term.starts_with("vt"))
}

/// How many rows are above the cursor once these, and the one with the cursor in this column, are broken at `width`.
fn broken_rows(above: &[String], column: usize, width: usize) -> usize {
    let width = width.max(1);
    let taken = |row: &String| anstream::adapter::strip_str(row).to_string().width().div_ceil(width).max(1);
    above.iter().map(taken).sum::<usize>() + column / width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_a_narrower_window_breaks_are_counted() {
        let rows = [String::new(), "─".repeat(99), "\u{1b}[1mshort\u{1b}[0m".to_owned(), "漢字漢字".to_owned()];
        for (width, column, expected) in [(99, 0, 4), (60, 0, 5), (40, 50, 7), (6, 0, 1 + 17 + 1 + 2)] {
            assert_eq!(broken_rows(&rows, column, width), expected, "{width}");
        }
    }
}
