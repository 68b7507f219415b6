//! A difference that is pleasant to read: first what changed in the terms of the plan, then the lines.

use anstyle::Style;
use planwright_core::plan::diff::{Change, DiffLine, ListName, Piece, PlanDiff, StepField};

use super::palette::{ADDED, BOLD, CHANGED, DIM, PLAIN, REMOVED};
use super::text::{Span, paint, painted, shown, shown_line, wrap};

pub(crate) fn render(diff: &PlanDiff, width: usize) -> String {
    if diff.is_empty() {
        return format!("{}\n", paint("Nothing changed.", DIM));
    }
    let mut text = String::new();
    for change in &diff.changes {
        let (mark, style, words) = describe(change);
        text.push_str(&marked(mark, style, &words, width));
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

fn describe(change: &Change) -> (&'static str, Style, String) {
    let added = |words: String| ("+", ADDED, words);
    let removed = |words: String| ("-", REMOVED, words);
    let changed = |words: String| ("~", CHANGED, words);
    match change {
        Change::StyleChanged { from, to } => changed(format!("style: {from} → {to}")),
        Change::TitleChanged { from, to } => changed(format!("title: {}", from_to(from, to))),
        Change::GoalChanged { from, to } => changed(format!("goal: {}", from_to(from, to))),
        Change::SummaryChanged { from, to } => changed(format!("summary: {}", from_to(from, to))),
        Change::HeadingAdded { level, text } => added(format!("heading {} {}", hashes(*level), shown_line(text))),
        Change::HeadingRemoved { level, text } => removed(format!("heading {} {}", hashes(*level), shown_line(text))),
        Change::ItemAdded { list, text } => added(format!("{}: {}", list_name(*list), shown_line(text))),
        Change::ItemRemoved { list, text } => removed(format!("{}: {}", list_name(*list), shown_line(text))),
        Change::ItemsReordered { list } => changed(format!("{} in another order", list_name(*list))),
        Change::StepRemoved { position, description } => {
            removed(format!("step {position}: {}", shown_line(description)))
        }
        Change::StepAdded { position, description } => added(format!("step {position}: {}", shown_line(description))),
        Change::StepReworded { position, from, to } => {
            changed(format!("step {position}: {} → {}", shown_line(from), shown_line(to)))
        }
        Change::StepChanged { position, field, from, to } => {
            changed(format!("step {position}, {}: {}", field_name(*field), from_to(from, to)))
        }
        Change::StepMoved { from, to, description } => {
            changed(format!("step {from} is step {to} now: {}", shown_line(description)))
        }
        Change::StepTicked { position, description } => {
            changed(format!("step {position} is ticked: {}", shown_line(description)))
        }
        Change::StepUnticked { position, description } => {
            changed(format!("step {position} is no longer ticked: {}", shown_line(description)))
        }
    }
}

fn from_to(from: &Option<String>, to: &Option<String>) -> String {
    let words = |text: &Option<String>| text.as_deref().map_or_else(|| "(none)".to_owned(), shown_line);
    format!("{} → {}", words(from), words(to))
}

fn hashes(level: u8) -> String {
    "#".repeat(usize::from(level))
}

const fn list_name(list: ListName) -> &'static str {
    match list {
        ListName::Assumptions => "assumptions",
        ListName::Risks => "risks",
        ListName::Verification => "verification",
        ListName::Files => "files",
    }
}

const fn field_name(field: StepField) -> &'static str {
    match field {
        StepField::Agent => "agent",
        StepField::Needs => "needs",
        StepField::Verification => "verification",
        StepField::Tool => "tool",
        StepField::Arguments => "arguments",
    }
}

fn marked(mark: &str, style: Style, words: &str, width: usize) -> String {
    let mut text = String::new();
    for (index, line) in wrap(&[Span::plain(words)], width.saturating_sub(2)).iter().enumerate() {
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
