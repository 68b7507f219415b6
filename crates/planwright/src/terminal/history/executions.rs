//! Every execution of the plan, not only the latest, with what became of each step.

use planwright_core::plan::execution::{StepState, StepStatus};
use planwright_engine::clock::{between, lasted};
use planwright_engine::history::PlanExecution;
use planwright_engine::step_counts::StepCounts;
use planwright_engine::who;

use crate::terminal::palette::{self, BOLD, DIM};
use crate::terminal::text::{Span, count, fit, painted, shown_line, wrap};
use crate::terminal::time;

/// An answer of a tool may be long; the plan itself shows it whole.
const MAX_CHARACTERS: usize = 400;

pub(super) fn render(executions: &[PlanExecution], width: usize) -> String {
    if executions.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", count(executions.len(), "execution"));
    for carried_out in executions {
        text.push_str(&lines(&head(carried_out), 2, width));
        for (position, state) in (1..).zip(&carried_out.execution.steps) {
            text.push_str(&lines(&step(position, state), 4, width));
        }
    }
    text
}

fn head(carried_out: &PlanExecution) -> Vec<Span> {
    let execution = &carried_out.execution;
    let by = match &carried_out.by {
        Some(actor) => format!(" by {}", shown_line(&who(actor))),
        None => ", taken over from the older format".to_owned(),
    };
    let begun = format!(" begun {}{by}; ", time::both(execution.started_at));
    let mut spans = vec![Span::new(&format!("execution {}", execution.number), BOLD), Span::new(&begun, DIM)];
    match &carried_out.end {
        None => spans.push(Span::new("it has not ended", palette::WARNING)),
        Some(end) => {
            spans.push(Span::new(end.status.as_str(), palette::status(end.status)));
            let who_else = end.by.as_ref().filter(|by| carried_out.by.as_ref() != Some(*by));
            let by = who_else.map_or_else(String::new, |by| format!(" by {}", shown_line(&who(by))));
            spans.push(Span::new(&format!(" after {}{by}", lasted(between(execution.started_at, end.at))), DIM));
        }
    }
    spans.push(Span::plain(&format!(": {}", StepCounts::of(execution).describe())));
    spans
}

fn step(position: usize, state: &StepState) -> Vec<Span> {
    let (mark, style) = palette::step(state.status);
    let took = state.started_at.zip(state.finished_at).map(|(from, to)| format!("  {}", lasted(between(from, to))));
    let mut spans = vec![
        Span::new(mark, style),
        Span::plain(&format!(" {position}. {}", fit(&shown_line(&state.description), MAX_CHARACTERS))),
        Span::new(&took.unwrap_or_default(), DIM),
    ];
    if state.status != StepStatus::Completed {
        spans.push(Span::new(&format!("  {}", state.status.as_str().to_lowercase().replace('_', " ")), style));
    }
    for (name, text) in [("", &state.note), ("evidence: ", &state.evidence)] {
        if let Some(text) = text {
            spans.push(Span::new(&fit(&format!("  {name}{}", shown_line(text)), MAX_CHARACTERS), DIM));
        }
    }
    spans
}

fn lines(spans: &[Span], indent: usize, width: usize) -> String {
    let wrapped = wrap(spans, width.saturating_sub(indent + 2));
    let line = |(index, line): (usize, &Vec<Span>)| {
        format!("{}{}\n", " ".repeat(if index == 0 { indent } else { indent + 2 }), painted(line))
    };
    wrapped.iter().enumerate().map(line).collect()
}
