//! The result of an execution, counted.

use planwright_core::plan::Plan;
use planwright_core::plan::execution::StepStatus;
use planwright_engine::plan_status::{execution_choices, one_line, plan_line};
use planwright_engine::step_counts::StepCounts;

/// The line of the plan, the counts, and every step that failed or is uncertain, in Markdown.
pub(crate) fn summary(plan: &Plan) -> String {
    let mut text = plan_line(plan);
    let Some(execution) = &plan.execution else { return text };
    text.push_str(&format!(" {}.", StepCounts::of(execution).describe()));
    for (run, position) in execution.steps.iter().zip(1..) {
        let word = match run.status {
            StepStatus::Failed => "failed",
            StepStatus::Uncertain => "is uncertain",
            StepStatus::Completed | StepStatus::Skipped | StepStatus::Pending | StepStatus::InProgress => continue,
        };
        let why = run.note.as_deref().map_or_else(String::new, |note| format!(": {}", one_line(note)));
        text.push_str(&format!("\n- step {position} {word}, {}{why}", one_line(&run.description)));
    }
    text.extend(execution_choices(plan).map(|choices| format!("\n\n{choices}")));
    text
}
