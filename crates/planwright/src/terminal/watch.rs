//! What `plan watch` prints: a line for each event of a plan, and the line that shows what is running.

use std::time::Duration;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::choices::{Activity, choices};
use planwright_core::plan::execution::{StepState, StepStatus};
use planwright_core::plan::waiting::WaitingFor;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_engine::clock::{between, lasted};
use planwright_engine::plan_watch::{ExecutionSummary, PlanUpdate, PlanUpdateKind, StepPosition};
use planwright_engine::step_counts::StepCounts;
use planwright_engine::who;

use super::live;
use super::palette::{self, BOLD, DIM};
use super::text::{Span, count, cut, fit, painted, shown_line};
use super::{card, time};
use crate::chat::lines::{MAX_LINES, marked, note};
use crate::invocation::Invocation;

/// The plan when the watch begins: its line, and what its execution did so far.
pub(crate) fn beginning(plan: &Plan, began: Option<&Actor>, form: WatchForm, width: usize) -> String {
    let mut text = card::line(plan);
    let Some(execution) = &plan.execution else { return text };
    let by = began.map_or_else(String::new, |actor| format!(" by {}", who(actor)));
    let line = format!("Execution {}, begun {}{by}.", execution.number, time::both(execution.started_at));
    text.push_str(&note("▸", &line, width));
    for (state, position) in execution.steps.iter().zip(1..) {
        let in_progress = state.status == StepStatus::InProgress;
        if state.status == StepStatus::Pending || (in_progress && form == WatchForm::Live) {
            continue;
        }
        let took = state.started_at.zip(state.finished_at).map(|(from, to)| between(from, to));
        let line =
            Line { position, total: execution.steps.len(), about: &state.description, status: state.status, took };
        text.push_str(&line.told(state.note.as_deref(), width));
    }
    if plan.status == PlanStatus::Executing {
        text.push_str(&unknown_result(plan, width));
    }
    text
}

/// Where the watch prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchForm {
    /// On a terminal: the running step is in the last line, which is redrawn.
    Live,
    /// In a pipe: every event is one line, however long it is.
    Lines,
}

impl WatchForm {
    /// How many columns a line may take.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Live => live::width(),
            Self::Lines => MAX_LINE,
        }
    }
}

/// Longer than any line: the text of a step and its note have [`MAX_CHARACTERS`] characters each.
const MAX_LINE: usize = 4 * MAX_CHARACTERS;
const MAX_CHARACTERS: usize = 500;

/// The line for an event; empty for events that only the redrawn line shows.
pub(crate) fn render(happened: &PlanUpdate, plan: &Plan, form: WatchForm, width: usize) -> String {
    match &happened.kind {
        PlanUpdateKind::Changed => String::new(),
        PlanUpdateKind::Approved { note: text } => {
            note("▸", &format!("Approved by {}{}", who(&happened.by), because(text.as_deref())), width)
        }
        PlanUpdateKind::Rejected { reason } => {
            note("▸", &format!("Rejected by {}{}", who(&happened.by), because(reason.as_deref())), width)
        }
        PlanUpdateKind::ExecutionBegan(sum) => note("▸", &began(happened, sum), width),
        // The caller tells it together with pauses that are not in the journal.
        PlanUpdateKind::ExecutionPaused(_) => String::new(),
        PlanUpdateKind::ExecutionResumed(_) => note("▸", &format!("Resumed by {}.", who(&happened.by)), width),
        PlanUpdateKind::StepBegan { step, note, .. } => match form {
            WatchForm::Live => String::new(),
            WatchForm::Lines => Line::of(step, StepStatus::InProgress, None).told(note.as_deref(), width),
        },
        PlanUpdateKind::StepEnded { step, status, took, note, .. } => {
            let mut text = Line::of(step, *status, *took).told(note.as_deref(), width);
            if *status == StepStatus::Uncertain {
                text.push_str(&unknown_result(plan, width));
            }
            text
        }
        PlanUpdateKind::ExecutionEnded(_) => String::new(),
        PlanUpdateKind::Cancelled { reason, .. } => {
            note("▸", &format!("Cancelled by {}{}", who(&happened.by), because(reason.as_deref())), width)
        }
        PlanUpdateKind::Superseded { by, .. } => {
            note("▸", &format!("Plan {} took its place, through {}.", by.short(), who(&happened.by)), width)
        }
    }
}

/// No process works on the plan: how far it is, and how to continue or end it.
pub(crate) fn paused(plan: &Plan, activity: Option<&Activity>, invocation: &Invocation, width: usize) -> String {
    let counts = plan.execution.as_ref().map(StepCounts::of).unwrap_or_default();
    let choices = choices(plan, activity);
    let can = choices
        .list
        .iter()
        .map(|choice| format!("{}: `{}`", choice.label, card::command(choice, plan, activity, invocation)));
    let text = format!(
        "{} {} of {} are done. {}",
        shown_line(&choices.situation),
        counts.done,
        count(counts.total, "step"),
        can.collect::<Vec<_>>().join("; "),
    );
    note("⏸", &text, width)
}

/// A process works on the plan again.
pub(crate) fn continued(width: usize) -> String {
    note("▸", "A process works on it again.", width)
}

/// Executions of a plan have numbers. What an earlier one did is not done again.
fn began(happened: &PlanUpdate, sum: &ExecutionSummary) -> String {
    let StepCounts { total, done, skipped, uncertain, .. } = sum.counts;
    let before: Vec<_> = [(done, "done"), (skipped, "skipped"), (uncertain, "uncertain")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word} already"))
        .collect();
    let before = if before.is_empty() { String::new() } else { format!(", {}", before.join(", ")) };
    format!("Execution {} begun by {}: {}{before}.", sum.number, who(&happened.by), count(total, "step"))
}

/// The result, with counts.
pub(crate) fn summary(plan: &Plan, status: PlanStatus, sum: Option<&ExecutionSummary>, width: usize) -> String {
    let head = [
        Span::new(&format!("Plan {}", plan.number), BOLD),
        Span::plain("  "),
        Span::new(status.as_str(), palette::status(status)),
        Span::plain("  "),
        Span::plain(&shown_line(&plan.display_title())),
    ];
    let mut text = format!("{}\n", painted(&head));
    text.push_str(&match sum {
        Some(sum) => {
            let text = format!("Execution {}: {}, in {}", sum.number, sum.counts.describe(), lasted(sum.took));
            note("Σ", &text, width)
        }
        None => note("Σ", "It was not carried out.", width),
    });
    text
}

/// What the watch waits for before an execution begins.
pub(crate) fn waiting_for(status: PlanStatus) -> &'static str {
    match status {
        PlanStatus::Collecting => "waiting: it is being drafted",
        PlanStatus::Ready => "waiting for a decision",
        PlanStatus::Approved => "waiting: it is approved and has not begun",
        PlanStatus::Executing
        | PlanStatus::Completed
        | PlanStatus::PartiallyCompleted
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => "waiting",
    }
}

/// The redrawn line: `⠋ 2/5  write_file notes.md  3s`, not wider than the window.
pub(crate) fn under_way(
    plan: &Plan,
    activity: Option<&Activity>,
    now: Timestamp,
    watched: Duration,
    ticks: usize,
) -> String {
    let execution = plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing);
    let with = |status: StepStatus| {
        let runs = execution.map(|execution| execution.steps.as_slice()).unwrap_or_default();
        (1..).zip(runs).filter(move |(_, state): &(usize, &StepState)| state.status == status)
    };
    let total = execution.map_or(0, |execution| execution.steps.len());
    let (what, about, time) = match (with(StepStatus::InProgress).next(), with(StepStatus::Uncertain).next()) {
        (_, None) if activity == Some(&Activity::Paused) => ("paused".to_owned(), String::new(), watched),
        (Some((position, state)), _) => {
            let beside = match with(StepStatus::InProgress).count() - 1 {
                0 => String::new(),
                more => format!(" and {more} beside it"),
            };
            let since = state.started_at.map(|at| between(at, now)).unwrap_or_default();
            (format!("{position}/{total}{beside}"), shown_line(&state.description), since)
        }
        (None, Some((position, _))) => (format!("waiting for a person about step {position}"), String::new(), watched),
        (None, None) if execution.is_some() => ("between two steps".to_owned(), String::new(), watched),
        (None, None) => (waiting_for(plan.status).to_owned(), String::new(), watched),
    };
    // Tenths of a second would only flicker.
    let (time, width) = (
        match time.as_secs() {
            seconds @ 0..60 => format!("{seconds}s"),
            _ => lasted(time),
        },
        live::width(),
    );
    let room = width.saturating_sub(time.len() + 6);
    let what = fit(&what, room);
    let about = fit(&about, room.saturating_sub(what.chars().count() + 2));
    let mut spans = vec![Span::new(live::spinner(ticks), DIM), Span::plain(" "), Span::new(&what, BOLD)];
    if about.chars().count() > 1 {
        spans.extend([Span::plain("  "), Span::plain(&about)]);
    }
    spans.extend([Span::plain("  "), Span::new(&time, DIM)]);
    cut(&painted(&spans), width)
}

fn unknown_result(plan: &Plan, width: usize) -> String {
    match plan.waiting_for() {
        Some(WaitingFor::UncertainStep { .. }) => note("▸", &choices(plan, None).situation, width),
        Some(
            WaitingFor::Approval
            | WaitingFor::StepEnded { .. }
            | WaitingFor::StepFailed { .. }
            | WaitingFor::Paused
            | WaitingFor::RefusedCalls { .. }
            | WaitingFor::CannotRun { .. },
        )
        | None => String::new(),
    }
}

/// A step in a line or two.
struct Line<'a> {
    position: usize,
    total: usize,
    about: &'a str,
    status: StepStatus,
    took: Option<Duration>,
}

impl<'a> Line<'a> {
    fn of(step: &'a StepPosition, status: StepStatus, took: Option<Duration>) -> Self {
        Self { position: step.position, total: step.total, about: &step.description, status, took }
    }

    /// `✘ 2/5  read_file notes.md  failed after 0.3s: no such file`
    fn told(&self, note: Option<&str>, width: usize) -> String {
        let (mark, style) = palette::step(self.status);
        let most = width.saturating_mul(MAX_LINES).min(MAX_CHARACTERS);
        let mut text = status_text(self.status).to_owned();
        if let Some(took) = self.took {
            text.push_str(&format!(" after {}", lasted(took)));
        }
        // A completed step needs no explanation.
        if let Some(note) = note.filter(|_| self.status != StepStatus::Completed) {
            text.push_str(&format!(": {}", shown_line(note)));
        }
        let spans = [
            Span::new(&format!("{}/{}", self.position, self.total), DIM),
            Span::plain("  "),
            Span::new(&fit(&shown_line(self.about), most), BOLD),
            Span::plain("  "),
            Span::new(&fit(&text, most), style),
        ];
        marked(mark, style, &spans, width)
    }
}

const fn status_text(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "to be done again",
        StepStatus::InProgress => "begun",
        StepStatus::Completed => "done",
        StepStatus::Failed => "failed",
        StepStatus::Skipped => "skipped",
        StepStatus::Uncertain => "uncertain",
    }
}

fn because(reason: Option<&str>) -> String {
    reason.map_or_else(|| ".".to_owned(), |reason| format!(": {}", shown_line(reason)))
}
