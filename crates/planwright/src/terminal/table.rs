//! Columns that line up. The last one takes the room that is left.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::palette::DIM;
use super::text::{fit, pad, paint};

#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

const BETWEEN: &str = "  ";

/// One column may be cut to make the row fit: the one named by `flexible`.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[Cell; N]], flexible: usize, width: usize) -> String {
    let mut widths = headings.map(|heading| heading.width());
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(cell.text.width());
        }
    }
    let total = widths.iter().sum::<usize>() + BETWEEN.len() * (N - 1);
    widths[flexible] = widths[flexible].saturating_sub(total.saturating_sub(width)).max(12);
    let mut text = line(&headings.map(|heading| Cell::new(heading, DIM)), widths);
    for row in rows {
        text.push_str(&line(row, widths));
    }
    text
}

fn line<const N: usize>(cells: &[Cell; N], widths: [usize; N]) -> String {
    let mut line = String::new();
    for (column, cell) in cells.iter().enumerate() {
        let text = fit(&cell.text, widths[column]);
        // Padding stays outside the style, and nothing trails at the end of the line.
        let room = if column + 1 == N { text.width() } else { widths[column] };
        let padding = pad("", room.saturating_sub(text.width()));
        line.push_str(&paint(&text, cell.style));
        line.push_str(&padding);
        if column + 1 < N {
            line.push_str(BETWEEN);
        }
    }
    line.push('\n');
    line
}
