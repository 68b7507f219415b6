//! A difference that is pleasant to read: first what changed in the terms of the plan, then the lines.

use anstyle::Style;
use planwright_core::plan::diff::{DiffLine, Mark, Piece, PlanDiff};

use super::palette::{ADDED, BOLD, CHANGED, DIM, PLAIN, REMOVED};
use super::text::{Span, paint, painted, shown, wrap};

pub(crate) fn render(diff: &PlanDiff, width: usize) -> String {
    if diff.is_empty() {
        return format!("{}\n", paint("Nothing changed.", DIM));
    }
    let mut text = String::new();
    for change in &diff.changes {
        let (mark, line) = change.describe();
        text.push_str(&marked(mark.sign(), color(mark), &line, width));
    }
    if !diff.changes.is_empty() && !diff.lines.is_empty() {
        text.push('\n');
    }
    let digits = diff.lines.iter().map(number).max().unwrap_or(0).to_string().len();
    for line in &diff.lines {
        text.push_str(&numbered(line, digits));
    }
    text
}

fn color(mark: Mark) -> Style {
    match mark {
        Mark::Added => ADDED,
        Mark::Removed => REMOVED,
        Mark::Changed => CHANGED,
    }
}

fn marked(mark: &str, style: Style, content: &str, width: usize) -> String {
    let mut text = String::new();
    for (index, line) in wrap(&[Span::plain(content)], width.saturating_sub(2)).iter().enumerate() {
        let mark = if index == 0 { mark } else { " " };
        text.push_str(&format!("{} {}\n", paint(mark, style.bold()), painted(line)));
    }
    text
}

fn number(line: &DiffLine) -> usize {
    match line {
        DiffLine::Same { to, .. } | DiffLine::Added { to, .. } => *to,
        DiffLine::Removed { from, .. } => *from,
        DiffLine::Gap { .. } => 0,
    }
}

fn numbered(line: &DiffLine, digits: usize) -> String {
    let number = number(line);
    match line {
        DiffLine::Same { text, .. } => {
            let line = [Span::new(&format!("{number:>digits$}   "), DIM), Span::plain(&shown(text))];
            format!("{}\n", painted(&line).trim_end())
        }
        DiffLine::Removed { pieces, unended, .. } => changed_line("-", REMOVED, number, digits, pieces, *unended),
        DiffLine::Added { pieces, unended, .. } => changed_line("+", ADDED, number, digits, pieces, *unended),
        DiffLine::Gap { lines: 1 } => format!("{}\n", paint(&format!("{:>digits$} … 1 line is the same", ""), DIM)),
        DiffLine::Gap { lines } => {
            format!("{}\n", paint(&format!("{:>digits$} … {lines} lines are the same", ""), DIM))
        }
    }
}

fn changed_line(mark: &str, style: Style, number: usize, digits: usize, pieces: &[Piece], unended: bool) -> String {
    let mut line = vec![Span::new(&format!("{number:>digits$} "), DIM), Span::new(&format!("{mark} "), style.bold())];
    for piece in pieces {
        let style = if piece.emphasized { style.bold().underline() } else { style };
        line.push(Span::new(&shown(&piece.text), style));
    }
    if unended {
        line.push(Span::new("  (no line end)", DIM));
    }
    format!("{}\n", painted(&line))
}

/// A heading above a difference: what is compared with what.
pub(crate) fn title(from: &str, to: &str) -> String {
    format!("{} {} {}\n\n", paint(from, BOLD), paint("→", PLAIN), paint(to, BOLD))
}
