//! What happens while the agent works, each in a line or two.

use std::time::Duration;

use anstyle::Style;
use planwright_agent::session::progress::Progress;
use planwright_core::plan::execution::StepStatus;
use planwright_core::turn::ToolStatus;
use planwright_engine::clock::lasted;

use crate::terminal::palette::{self, BOLD, DIM, ERROR, GOOD, WARNING};
// What the engine says about a call is visible already, and would be written out a second time.
pub(crate) use crate::terminal::text::one_line;
use crate::terminal::text::{Span, count, fit, painted, shown_line, wrap};

/// Why something failed is told at some length, but not without end.
pub(crate) const MAX_LINES: usize = 3;

/// What stays on the screen of it; nothing for what only lasts a moment.
pub(crate) fn line(progress: &Progress, started: &str, width: usize) -> Option<String> {
    match progress {
        Progress::Resumed(_) => Some(note("↻", "Continuing a turn that was interrupted.", width)),
        Progress::WaitingForOthers => Some(note("…", "Another process works on this session; waiting for it.", width)),
        Progress::Again { why, wait } => {
            let text = format!("{} Trying again in {}.", sentence(why), lasted(*wait));
            Some(note("↻", &text, width))
        }
        Progress::Compacted { messages } => {
            let text = format!("{} summarised to make room.", count(*messages, "earlier message"));
            Some(note("↻", &text, width))
        }
        Progress::ToolEnded { name, status, detail, took } => Some(tool(name, started, *status, detail, *took, width)),
        Progress::StepEnded { position, total, about, status, note, took } => {
            Some(step(*position, *total, about, *status, note.as_deref(), *took, width))
        }
        Progress::StepStarted { .. }
        | Progress::Accepted(_)
        | Progress::Finished(_)
        | Progress::ModelCalled
        | Progress::Text(_)
        | Progress::Replied { .. }
        | Progress::ToolStarted { .. }
        | Progress::ToolOutput { .. }
        | Progress::Said(_)
        | Progress::Compacting => None,
    }
}

/// `✔ read_file notes.md  0.1s`
fn tool(name: &str, about: &str, status: ToolStatus, detail: &str, took: Duration, width: usize) -> String {
    let (mark, style, what) = match status {
        ToolStatus::Done | ToolStatus::Settled => ("✔", GOOD, String::new()),
        ToolStatus::Planned => ("▪", WARNING, "planned, not run".to_owned()),
        ToolStatus::Refused => ("✘", ERROR, format!("refused: {detail}")),
        ToolStatus::Failed => ("✘", ERROR, format!("failed: {detail}")),
        ToolStatus::TimedOut => ("✘", ERROR, format!("timed out: {detail}")),
        ToolStatus::Uncertain => ("?", WARNING, format!("uncertain: {detail}")),
    };
    let what = fit(&one_line(&what), width.saturating_mul(MAX_LINES));
    let mut spans = vec![Span::new(&one_line(name), BOLD)];
    for (text, style) in [(one_line(about), DIM), (what, style), (long_enough(took), DIM)] {
        if !text.is_empty() {
            spans.push(Span::plain("  "));
            spans.push(Span::new(&text, style));
        }
    }
    marked(mark, style, &spans, width)
}

/// `✔ 2/5  write_file notes.md`
fn step(
    position: usize,
    total: usize,
    about: &str,
    status: StepStatus,
    note: Option<&str>,
    took: Duration,
    width: usize,
) -> String {
    let (mark, style) = palette::step(status);
    let why = note.map_or_else(String::new, |note| format!("{}: {note}", status.as_str().to_lowercase()));
    let why = fit(&one_line(&why), width.saturating_mul(MAX_LINES));
    let mut spans = vec![Span::new(&format!("{position}/{total}"), DIM), Span::plain("  ")];
    spans.push(Span::new(&fit(&one_line(about), width.saturating_mul(MAX_LINES)), BOLD));
    if !why.is_empty() {
        spans.extend([Span::plain("  "), Span::new(&why, style)]);
    }
    let took = long_enough(took);
    if !took.is_empty() {
        spans.extend([Span::plain("  "), Span::new(&took, DIM)]);
    }
    marked(mark, style, &spans, width)
}

/// Empty for a time too short for a person to notice.
fn long_enough(took: Duration) -> String {
    if took < Duration::from_millis(50) { String::new() } else { lasted(took) }
}

pub(crate) fn note(mark: &str, text: &str, width: usize) -> String {
    let text = fit(&shown_line(text), width.saturating_mul(MAX_LINES));
    marked(mark, DIM, &[Span::new(&text, DIM)], width)
}

pub(crate) fn marked(mark: &str, style: Style, spans: &[Span], width: usize) -> String {
    let mut text = String::new();
    for (index, line) in wrap(spans, width.saturating_sub(2)).iter().enumerate() {
        let mark = if index == 0 { Span::new(mark, style) } else { Span::plain(" ") };
        text.push_str(&painted(&[&[mark, Span::plain(" ")], line.as_slice()].concat()));
        text.push('\n');
    }
    text
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(progress: &Progress, width: usize) -> String {
        anstream::adapter::strip_str(&line(progress, "notes.md", width).unwrap()).to_string()
    }

    fn ended(status: ToolStatus, detail: &str, took: Duration) -> Progress {
        Progress::ToolEnded { name: "read_file".to_owned(), status, detail: detail.to_owned(), took }
    }

    #[test]
    fn a_call_is_one_readable_line() {
        let moment = Duration::from_millis(3);
        for (progress, expected) in [
            (ended(ToolStatus::Done, "", Duration::from_millis(120)), "✔ read_file  notes.md  0.1s\n"),
            (ended(ToolStatus::Done, "", moment), "✔ read_file  notes.md\n"),
            (ended(ToolStatus::Planned, "", moment), "▪ read_file  notes.md  planned, not run\n"),
            (ended(ToolStatus::Refused, "no such file", moment), "✘ read_file  notes.md  refused: no such file\n"),
            (
                Progress::Again { why: "it broke off".to_owned(), wait: Duration::from_secs(2) },
                "↻ it broke off. Trying again in 2.0s.\n",
            ),
            (Progress::Compacted { messages: 1 }, "↻ 1 earlier message summarised to make room.\n"),
        ] {
            assert_eq!(told(&progress, 80), expected);
        }
    }

    #[test]
    fn text_of_others_is_harmless_and_not_endless() {
        let hostile = ended(ToolStatus::Failed, &format!("\u{1b}[2J\n{}", "long ".repeat(1_000)), Duration::ZERO);
        let text = told(&hostile, 40);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(text.lines().count() <= MAX_LINES + 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }
}
