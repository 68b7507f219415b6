//! What the model is told about the workbook in every request: where we are, what is next, and when to look. It is short,
//! and the same byte for byte while nothing changes. What stands in the documents is read with a tool, never told here.

use super::Workbook;
use super::completion::{Phase, TaskPlanProgress, standing};
use super::log::clipped;
use crate::visible::quoted;

const RULES: &str = include_str!("hint.md");
/// The most characters of a task.
const MAX_TASK: usize = 120;

/// Whose words the task plan has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastEdit {
    Agent,
    /// A person changed it since the agent wrote it.
    Person,
}

/// The text about the current workbook.
pub fn hint(workbook: &Workbook, task_plan: &str, last_edit: LastEdit) -> String {
    let standing = standing(task_plan);
    let title = quoted(&workbook.title);
    let mut lines = vec![format!("# Workbook {title}\n\n{}\n", RULES.trim_end())];
    lines.push(format!("- Where we are: {}", place(&standing)));
    lines.push(format!("- Next: {}", next(&standing)));
    match last_edit {
        LastEdit::Agent => {}
        LastEdit::Person => lines.push("- The person edited the task plan: read it before you go on.".to_owned()),
    }
    lines.join("\n") + "\n"
}

/// The text when planning files are on and no workbook has begun.
pub fn invitation() -> String {
    include_str!("invitation.md").trim_end().to_owned() + "\n"
}

fn place(standing: &TaskPlanProgress) -> String {
    let all = standing.phases.len();
    match standing.current() {
        Some(_) | None if standing.complete => "the plan says that it is complete".to_owned(),
        Some((number, phase)) => format!("phase {number} of {all}, {}", quoted(&phase.title)),
        None => "the plan has no phases".to_owned(),
    }
}

fn next(standing: &TaskPlanProgress) -> String {
    let task = |phase: &Phase| phase.next.as_deref().map(|task| quoted(&clipped(task, MAX_TASK)));
    match standing.current() {
        Some(_) | None if standing.complete => {
            "tell the person the result; `init_plan` archives it and begins the next one".to_owned()
        }
        Some((_, phase)) => task(phase).unwrap_or_else(|| "the rest of this phase, then mark it complete".to_owned()),
        None => "read it with `read_plan`, and give it phases".to_owned(),
    }
}
