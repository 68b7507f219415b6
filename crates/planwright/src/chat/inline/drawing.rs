//! The box with what stands around it, as rows.

use super::candidates::CandidateList;
use super::input_box::{HistorySearch, InputBox};
use crate::chat::short_answers;
use crate::chat::view::DrawnInput;
use crate::terminal::palette::{BOLD, CHANGED, COMMAND, DIM};
use crate::terminal::text::{Span, cut, fit, paint, painted, shown_line, width, wrap};

/// What stands before the text.
const MARK: &str = "› ";
/// The columns that the mark takes.
pub(super) const MARK_WIDTH: usize = 2;
/// The box is not higher than this, and not higher than a third of the window.
const MAX_BOX_ROWS: usize = 10;

impl InputBox {
    /// The rows in a window of this size. `queued` is what waits, a line each.
    pub(in crate::chat) fn draw(&self, width: usize, rows: usize, queued: &[String]) -> DrawnInput {
        let mut lines: Vec<String> = queued.iter().map(|line| paint(&fit(&format!("  {line}"), width), DIM)).collect();
        lines.extend(self.waiting_hint(queued, width));
        if let Some(notice) = self.shown_notice() {
            lines.extend(wrapped(&[Span::new(&shown_line(notice), CHANGED)], width));
        }
        lines.extend(self.legend(width));
        lines.push(paint(&"─".repeat(width), DIM));
        let (text, cursor) = self.text_rows(width, (rows / 3).clamp(1, MAX_BOX_ROWS));
        let cursor = (lines.len() + cursor.0, cursor.1.min(width));
        lines.extend(text);
        match (&self.search, &self.list) {
            (Some(search), _) => lines.push(search.line(width)),
            (None, Some(list)) => lines.extend(list.lines(width)),
            (None, None) => lines.push(cut(&self.status.painted(width), width)),
        }
        DrawnInput { lines, cursor }
    }

    fn waiting_hint(&self, queued: &[String], width: usize) -> Option<String> {
        let waits = !queued.is_empty() && self.composer.is_empty();
        waits.then(|| paint(&fit("  ↑ takes the newest back", width), DIM))
    }

    /// The letters that stand for something now. A letter and what it does stay in one row.
    fn legend(&self, room: usize) -> Vec<String> {
        let mut rows: Vec<Vec<Span>> = Vec::new();
        for (letter, label) in short_answers::legend(&self.offered) {
            let item = [Span::new(&letter, COMMAND), Span::new(&format!(" {label}"), DIM)];
            match rows.last_mut().filter(|row| width(row) + width(&item) + 3 <= room) {
                Some(row) => {
                    row.push(Span::new(" · ", DIM));
                    row.extend(item);
                }
                None => rows.push(item.to_vec()),
            }
        }
        rows.iter().map(|row| cut(&painted(row), room)).collect()
    }

    /// The text in the box, and where the cursor is in these rows.
    fn text_rows(&self, width: usize, most: usize) -> (Vec<String>, (usize, usize)) {
        let found = self.search.as_ref().and_then(|search| search.found.as_deref());
        if let Some(found) = found {
            let row = format!(
                "{}{}",
                paint(MARK, COMMAND),
                paint(&fit(&shown_line(found), width.saturating_sub(MARK_WIDTH)), BOLD)
            );
            return (vec![row], (0, MARK_WIDTH));
        }
        let mark = paint(MARK, COMMAND);
        if self.composer.is_empty() {
            let row = format!("{mark}{}", paint(&fit(self.placeholder(), width.saturating_sub(MARK_WIDTH)), DIM));
            return (vec![row], (0, MARK_WIDTH));
        }
        let layout = self.composer.layout(width.saturating_sub(MARK_WIDTH).max(1));
        // The rows around the cursor.
        let first = layout.cursor.0.saturating_sub(most - 1);
        let shown = layout.rows.iter().enumerate().skip(first).take(most);
        let mut rows: Vec<_> = shown
            .map(|(index, row)| format!("{}{}", if index == 0 { mark.as_str() } else { "  " }, row.painted()))
            .map(|row| cut(&row, width))
            .collect();
        if let (Some(row), Some(effect)) = (rows.last_mut(), self.effect()) {
            *row = cut(&format!("{row}{}", paint(&effect, DIM)), width);
        }
        (rows, (layout.cursor.0 - first, layout.cursor.1 + MARK_WIDTH))
    }

    fn placeholder(&self) -> &'static str {
        match (self.is_at_prompt, self.offered.is_empty()) {
            (false, _) => "Esc stops the agent; what you send now waits",
            (true, false) => "press a letter above, or write a message",
            (true, true) => "write a message; / for commands, @ for files",
        }
    }

    /// What the letter in the box does.
    fn effect(&self) -> Option<String> {
        let label = short_answers::label(&self.composer.text(), &self.offered)?;
        Some(match self.decides_at() {
            Some(_) => format!("  {label}"),
            None => format!("  Enter: {label}"),
        })
    }
}

impl CandidateList {
    /// `▸ /plan approve   approve a plan, all steps or some`
    fn lines(&self, width: usize) -> Vec<String> {
        let (first, shown) = self.shown();
        let longest = shown.iter().map(|candidate| candidate.text.chars().count()).max().unwrap_or(0);
        let mut lines = Vec::new();
        for (index, candidate) in shown.iter().enumerate() {
            let is_selected = first + index == self.selected;
            let (mark, style) = if is_selected { ("▸ ", COMMAND) } else { ("  ", DIM) };
            let text = format!("{:<longest$}", shown_line(&candidate.text));
            let about = fit(&candidate.about, width.saturating_sub(longest + 4));
            let spans = [Span::new(mark, style), Span::new(&text, style), Span::new(&format!("  {about}"), DIM)];
            lines.push(cut(&painted(&spans), width));
        }
        lines
    }
}

impl HistorySearch {
    fn line(&self, width: usize) -> String {
        let found =
            if self.found.is_none() && !self.query.is_empty() { "nothing sent before has " } else { "sent before: " };
        let hint = "  Ctrl+R older, Enter takes it, Esc leaves";
        let spans =
            [Span::new(&format!("  {found}"), DIM), Span::new(&shown_line(&self.query), COMMAND), Span::new(hint, DIM)];
        cut(&painted(&spans), width)
    }
}

fn wrapped(spans: &[Span], width: usize) -> Vec<String> {
    wrap(spans, width).iter().map(|line| cut(&painted(line), width)).collect()
}

#[cfg(test)]
mod tests;
