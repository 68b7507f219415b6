//! Tables: columns that line up where there is room for them.

use crate::terminal::palette::{DIM, PLAIN};
use crate::terminal::text::{Span, width};

type Cell = Vec<Span>;

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<Cell>>,
    row: Vec<Cell>,
}

impl Table {
    pub(super) fn add_cell(&mut self, cell: Cell) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// One line for each row and one below the first. Rows that are too wide are left to be wrapped like words.
    pub(super) fn into_lines(self, room: usize) -> Vec<Vec<Span>> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        let widths: Vec<_> =
            (0..columns).map(|column| cells(column).map(|cell| width(cell)).max().unwrap_or(0)).collect();
        let fits = widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1) <= room;
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        for row in self.rows {
            let mut line = Vec::new();
            for (column, cell) in row.into_iter().enumerate() {
                if column > 0 {
                    line.push(Span::new(" │ ", DIM));
                }
                let left = widths[column].saturating_sub(width(&cell));
                line.extend(cell);
                if fits && column + 1 < columns {
                    line.push(Span::new(&" ".repeat(left), PLAIN));
                }
            }
            lines.push(line);
        }
        if fits && !lines.is_empty() {
            let rule: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
            lines.insert(1, vec![Span::new(&rule.join("─┼─"), DIM)]);
        }
        lines
    }
}
