//! Whether a task plan says that it is complete, and how far it is. A plan is complete when a status line in its header
//! says so, or when every phase does in its own status line. Prose, code and quotations say nothing.

use super::outline::{Outline, Section};

/// The heading that phases stand under.
pub const PHASES: &str = "Phases";
const STATUS: &str = "status";

/// How far a task plan is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPlanProgress {
    pub complete: bool,
    pub phases: Vec<Phase>,
}

/// A heading under `Phases`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    pub title: String,
    pub complete: bool,
    /// The first of its tasks that is not ticked.
    pub next: Option<String>,
}

pub fn is_complete(task_plan: &str) -> bool {
    standing(task_plan).complete
}

pub fn standing(task_plan: &str) -> TaskPlanProgress {
    let outline = Outline::of(task_plan);
    let phases: Vec<_> = phases(&outline).map(|section| phase(&outline, section)).collect();
    let every_phase = !phases.is_empty() && phases.iter().all(|phase| phase.complete);
    TaskPlanProgress { complete: every_phase || says_complete(&outline, &header(&outline, task_plan.len())), phases }
}

impl TaskPlanProgress {
    /// The phase that is worked on: the first that is not complete.
    pub fn current(&self) -> Option<(usize, &Phase)> {
        self.phases.iter().enumerate().find(|(_, phase)| !phase.complete).map(|(index, phase)| (index + 1, phase))
    }
}

/// What stands between the title and the first heading below it, or before the first heading if there is no title.
fn header(outline: &Outline, length: usize) -> std::ops::Range<usize> {
    match outline.sections.first() {
        Some(title) if title.level == 1 => title.own.clone(),
        Some(section) => 0..section.heading.start,
        None => 0..length,
    }
}

fn phases(outline: &Outline) -> impl Iterator<Item = &Section> {
    let parents = outline.sections.iter().enumerate().filter(|(_, section)| section.title.eq_ignore_ascii_case(PHASES));
    parents.flat_map(|(index, _)| outline.children(index).map(|(_, section)| section))
}

fn phase(outline: &Outline, section: &Section) -> Phase {
    let next = outline.tasks_in(&section.whole).find(|task| !task.done).map(|task| task.text.clone());
    Phase { title: section.title.clone(), complete: says_complete(outline, &section.own), next }
}

/// Whether there is a status line here, and none that says anything else.
fn says_complete(outline: &Outline, range: &std::ops::Range<usize>) -> bool {
    let mut statuses = outline
        .fields_in(range)
        .filter(|field| field.key.eq_ignore_ascii_case(STATUS))
        .map(|field| means_complete(&field.value))
        .peekable();
    statuses.peek().is_some() && statuses.all(|complete| complete)
}

fn means_complete(value: &str) -> bool {
    let decoration = |c: char| c.is_whitespace() || matches!(c, '.' | '✅' | '✓' | '✔' | '☑' | '\u{fe0f}');
    let word = value.trim_matches(decoration).to_ascii_lowercase();
    matches!(word.as_str(), "complete" | "completed" | "done")
}
