//! The steps of a plan as a checklist that is drawn anew while the plan is carried out: in the chat and in `plan watch`.

use std::time::Duration;

use jiff::Timestamp;
use planwright_core::plan::execution::{StepState, StepStatus};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_engine::clock::{between, lasted};

use super::call_line::call_line;
use super::palette::{self, BOLD, DIM};
use super::text::{Span, cut, painted, shown_line, wrap};

/// The block, not higher than `rows` and not wider than `width`. Empty unless the plan is being carried out.
pub(crate) fn checklist(plan: &Plan, now: Timestamp, rows: usize, width: usize) -> Vec<String> {
    let executing = plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing);
    let steps = executing.map(|execution| execution.steps.as_slice()).unwrap_or_default();
    if steps.is_empty() || rows < 2 {
        return Vec::new();
    }
    let done = steps.iter().filter(|step| step.status == StepStatus::Completed).count();
    let head = [
        Span::new(&format!("Plan {}", plan.number), BOLD),
        Span::new(&format!("  {done} of {} done  ", steps.len()), DIM),
        Span::new(&shown_line(&plan.display_title()), DIM),
    ];
    let mut lines = vec![cut(&painted(&head), width)];
    lines.extend(block(steps, now, rows - 1, width));
    lines
}

/// The steps around the first one that is not settled. What does not fit is counted.
fn block(steps: &[StepState], now: Timestamp, rows: usize, width: usize) -> Vec<String> {
    let line = |index: usize| step_line(&steps[index], index + 1, now, width);
    if steps.len() <= rows {
        return (0..steps.len()).map(line).collect();
    }
    if rows < 3 {
        return (current(steps)..steps.len()).take(rows).map(line).collect();
    }
    // One line above and one below say how many more there are.
    let room = rows - 2;
    let first = current(steps).saturating_sub(room / 3).min(steps.len() - room);
    let more = |count: usize, place: &str| {
        let text = if count > 0 { format!("  … {count} more {place}") } else { String::new() };
        cut(&painted(&[Span::new(&text, DIM)]), width)
    };
    let mut lines = vec![more(first, "above")];
    lines.extend((first..first + room).map(line));
    lines.push(more(steps.len() - first - room, "below"));
    lines
}

/// The first step at which something will happen.
fn current(steps: &[StepState]) -> usize {
    steps.iter().position(|step| !step.status.is_settled()).unwrap_or(steps.len() - 1)
}

/// `  ✔ 2. Write the migration  12s  evidence: all tests pass`, in one row.
fn step_line(step: &StepState, position: usize, now: Timestamp, width: usize) -> String {
    cut(&painted(&[vec![Span::plain("  ")], spans(step, position, now)].concat()), width)
}

/// A step that has ended, in as many rows as it takes: it stays on the screen.
pub(crate) fn ended_step(step: &StepState, position: usize, now: Timestamp, width: usize) -> String {
    const INDENT: &str = "    ";
    let rows = wrap(&spans(step, position, now), width.saturating_sub(INDENT.len()));
    let indents = std::iter::once("  ").chain(std::iter::repeat(INDENT));
    indents.zip(&rows).map(|(indent, row)| format!("{indent}{}\n", painted(row))).collect()
}

fn spans(step: &StepState, position: usize, now: Timestamp) -> Vec<Span> {
    let (mark, style) = palette::step(step.status);
    let description = format!(" {position}. {}", shown_line(&call_line(&step.description)));
    let mut spans = vec![Span::new(mark, style), Span::plain(&description)];
    if let Some(took) = time_of(step, now) {
        spans.push(Span::new(&format!("  {}", in_seconds(took)), DIM));
    }
    let note = step.note.as_deref().filter(|_| step.status != StepStatus::Completed);
    let told = note.map(str::to_owned).or_else(|| Some(format!("evidence: {}", step.evidence.as_deref()?)));
    if let Some(told) = told {
        spans.push(Span::new(&format!("  {}", shown_line(&told)), DIM));
    }
    spans
}

fn time_of(step: &StepState, now: Timestamp) -> Option<Duration> {
    let until = match step.status {
        StepStatus::InProgress => Some(now),
        StepStatus::Completed | StepStatus::Failed => step.finished_at,
        StepStatus::Pending | StepStatus::Skipped | StepStatus::Uncertain => None,
    };
    Some(between(step.started_at?, until?))
}

/// Tenths of a second would only flicker.
fn in_seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        _ => lasted(time),
    }
}

#[cfg(test)]
mod tests {
    use planwright_core::ids::StepId;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn step(position: usize, status: StepStatus) -> StepState {
        let id = StepId::new(format!("step-{position}")).unwrap();
        let mut step = StepState::pending(id, format!("do {position}"));
        step.status = status;
        step.started_at = (status != StepStatus::Pending).then(|| at(100));
        step.finished_at = status.is_settled().then(|| at(112));
        step
    }

    fn drawn(steps: &[StepState], rows: usize, width: usize) -> Vec<String> {
        let lines = block(steps, at(130), rows, width);
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn a_step_has_a_mark_a_time_and_what_it_ended_with() {
        let mut done = step(1, StepStatus::Completed);
        done.evidence = Some("all tests pass".to_owned());
        let mut failed = step(2, StepStatus::Failed);
        failed.note = Some("no such file".to_owned());
        let steps = [done, failed, step(3, StepStatus::InProgress), step(4, StepStatus::Pending)];
        assert_eq!(
            drawn(&steps, 9, 60),
            [
                "  ✔ 1. do 1  12s  evidence: all tests pass",
                "  ✘ 2. do 2  12s  no such file",
                "  ◐ 3. do 3  30s",
                "  ○ 4. do 4",
            ]
        );
        assert!(drawn(&steps, 9, 20).iter().all(|line| line.chars().count() <= 20));
    }

    #[test]
    fn a_step_that_has_ended_is_written_whole() {
        let mut done = step(1, StepStatus::Completed);
        done.evidence = Some("all of the tests pass".to_owned());
        let text = ended_step(&done, 1, at(130), 24);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.starts_with("  ✔ 1. do 1  12s") && text.ends_with("pass\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 24), "{text}");
    }

    #[test]
    fn of_many_steps_those_around_the_current_one_are_shown() {
        let steps: Vec<_> = (1..=20)
            .map(|position| step(position, if position < 10 { StepStatus::Completed } else { StepStatus::Pending }))
            .collect();
        let lines = drawn(&steps, 7, 60);
        assert_eq!(lines.len(), 7);
        assert_eq!((lines[0].as_str(), lines[6].as_str()), ("  … 8 more above", "  … 7 more below"));
        assert!(lines[2].contains("10. do 10"), "{lines:?}");
        let first: Vec<_> = (1..=20).map(|position| step(position, StepStatus::Pending)).collect();
        assert_eq!(drawn(&first, 7, 60)[..2], ["".to_owned(), "  ○ 1. do 1".to_owned()]);
    }
}
