//! What a plan changed in files, drawn for a terminal.

use anstyle::Style;
use planwright_agent::toolbox::files::{FileDiff, StepPreview};
use planwright_agent::{ChatChanges, PlanChanges, UndoneChanges};
use planwright_core::workspace::ChangedPaths;

use super::palette::{ADDED, BOLD, DIM, PLAIN, REMOVED, WARNING};
use super::text::{Span, count, paint, painted, shown, shown_line, wrap};

pub(crate) fn render(changes: &PlanChanges, width: usize) -> String {
    let plan = changes.plan.number;
    let subject = changes.step.map_or_else(|| format!("Plan {plan}"), |step| format!("Step {step} of plan {plan}"));
    let mut text = match changes.files.len() {
        0 => format!("{subject} left no file changed.\n"),
        files => format!("{}\n", paint(&format!("{subject} changed {}.", count(files, "file")), BOLD)),
    };
    if changes.step.is_none() {
        for step in &changes.steps {
            let names: Vec<_> = step.files.iter().map(|file| shown_line(&file.path)).collect();
            let title = match step.position {
                Some(position) => format!("step {position}, {}", shown_line(&step.description)),
                None => "outside of any step".to_owned(),
            };
            text.push_str(&lines(&format!("{title}: {}", names.join(", ")), PLAIN, width));
        }
    }
    text.push_str(&files(&changes.files, &changes.uncovered, &changes.undone, width));
    text
}

/// What a conversation changed outside of any plan.
pub(crate) fn render_chat(changes: &ChatChanges, width: usize) -> String {
    let subject = format!("The conversation in {}", changes.session);
    let mut text = match changes.files.len() {
        0 => format!("{subject} left no file changed outside of a plan.\n"),
        files => {
            format!("{}\n", paint(&format!("{subject} changed {} outside of a plan.", count(files, "file")), BOLD))
        }
    };
    for turn in &changes.turns {
        let names: Vec<_> = turn.files.iter().map(|file| shown_line(&file.path)).collect();
        let first_line = shown_line(turn.text.lines().next().unwrap_or_default());
        text.push_str(&lines(&format!("after “{first_line}”: {}", names.join(", ")), PLAIN, width));
    }
    text.push_str(&files(&changes.files, &changes.uncovered, &changes.undone, width));
    text
}

/// What recorded calls would do to files as they are now.
pub(crate) fn render_preview(number: u32, previews: &[StepPreview], width: usize) -> String {
    if previews.is_empty() {
        return format!("No recorded call of plan {number} changes a file.\n");
    }
    let head = format!("What plan {number} would do to files as they are now:");
    let mut text = format!("{}\n", paint(&head, BOLD));
    for preview in previews {
        let to = preview.to.as_deref().map_or_else(String::new, |to| format!(" to {}", shown_line(to)));
        let line = format!("step {}, {}: {}{to}", preview.position, preview.tool, shown_line(&preview.path));
        text.push_str(&format!("\n{}", lines(&line, BOLD, width)));
        if let Some(problem) = &preview.problem {
            text.push_str(&lines(&shown_line(problem), WARNING, width));
        }
        match preview.difference() {
            Some(difference) => text.push_str(&colored(&difference)),
            None => text.push_str(&lines("Its text is not shown: it is no text, or it is too long.", DIM, width)),
        }
    }
    text
}

/// The differences of files, what commands changed, and what was put back.
fn files(files: &[FileDiff], paths: &ChangedPaths, undone: &[UndoneChanges], width: usize) -> String {
    let mut text = String::new();
    for file in files {
        text.push('\n');
        text.push_str(&diff(file));
    }
    if !paths.is_empty() {
        text.push('\n');
        text.push_str(&uncovered(paths, width));
    }
    for undone in undone {
        let names: Vec<_> = undone.paths.iter().map(|path| shown_line(path)).collect();
        let step = undone.step.map_or_else(String::new, |step| format!(" of step {step}"));
        let line = format!("put back{step} by {}: {}", shown_line(&undone.by.name), names.join(", "));
        text.push_str(&lines(&line, DIM, width));
    }
    text
}

fn lines(content: &str, style: Style, width: usize) -> String {
    let mut text = String::new();
    for (index, line) in wrap(&[Span::new(content, style)], width.saturating_sub(4)).iter().enumerate() {
        let indent = if index == 0 { "  " } else { "    " };
        text.push_str(&format!("{indent}{}\n", painted(line)));
    }
    text
}

fn diff(file: &FileDiff) -> String {
    colored(&file.text)
}

fn colored(difference: &str) -> String {
    let mut text = String::new();
    for line in difference.lines() {
        text.push_str(&paint(&shown(line), style(line)));
        text.push('\n');
    }
    text
}

fn style(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') if !line.starts_with("+++ ") => ADDED,
        Some(b'-') if !line.starts_with("--- ") => REMOVED,
        Some(b' ') | None => PLAIN,
        Some(b'@') => DIM,
        Some(_) => BOLD,
    }
}

fn uncovered(paths: &ChangedPaths, width: usize) -> String {
    let mut text =
        format!("{}\n", paint("Commands changed these files too. They are not kept and cannot be undone.", WARNING));
    for (kind, paths) in [("added", &paths.added), ("changed", &paths.changed), ("removed", &paths.removed)] {
        if !paths.is_empty() {
            let names: Vec<_> = paths.iter().map(|path| shown_line(path)).collect();
            text.push_str(&lines(&format!("{kind}: {}", names.join(", ")), PLAIN, width));
        }
    }
    if !paths.complete {
        text.push_str(&lines("and perhaps others", DIM, width));
    }
    text
}
