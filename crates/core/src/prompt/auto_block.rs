//! What the model is told of goals and tasks, and the message that begins each turn of a run. The block names neither
//! time nor spend, so that it stays the same byte for byte while nothing changes.

use crate::auto::{AutoRun, AutoState, Goal, GoalStatus, RunKind, Task, TaskStatus};
use crate::visible::visible;

const INTRODUCTION: &str = include_str!("auto.md");
const TICK: &str = include_str!("tick.md");

/// How many goals and tasks are named.
const GOALS: usize = 12;
const TASKS: usize = 24;

/// The goals that are not over and the open tasks. `None` if there are none.
pub fn auto_block(state: &AutoState) -> Option<String> {
    let goals: Vec<&Goal> = state.goals.iter().filter(|goal| !goal.status.is_final()).collect();
    let tasks: Vec<&Task> = state.tasks.iter().filter(|task| task.status == TaskStatus::Open).collect();
    if goals.is_empty() && tasks.is_empty() {
        return None;
    }
    let mut text = format!("\n{INTRODUCTION}");
    for goal in goals.iter().take(GOALS) {
        let paused = if goal.status == GoalStatus::Paused { " (paused)" } else { "" };
        text.push_str(&format!("- goal {}: {}{paused}\n", goal.number, line(&goal.title)));
    }
    for task in tasks.iter().take(TASKS) {
        let goal = task.goal.as_ref().and_then(|goal| state.goal(goal));
        let of = goal.map(|goal| format!(" of goal {}", goal.number)).unwrap_or_default();
        text.push_str(&format!("- task {}{of}: {}\n", task.number, line(&task.title)));
    }
    let more = goals.len().saturating_sub(GOALS) + tasks.len().saturating_sub(TASKS);
    if more > 0 {
        text.push_str(&format!("- and {more} more: `goal_list`, `task_list`\n"));
    }
    Some(text)
}

/// The message that begins a turn of a run.
pub fn tick_text(state: &AutoState, run: &AutoRun) -> String {
    let task = state.task(run.context.task_id());
    let (number, title) = task.map_or((0, ""), |task| (task.number, task.title.as_str()));
    let goal = run.context.goal_id().and_then(|goal| state.goal(goal));
    let goal = goal.map(|goal| format!(", for goal {}: {}", goal.number, line(&goal.title))).unwrap_or_default();
    let kind = match run.context.run_kind() {
        RunKind::Goal => "GOAL_RUN",
        RunKind::Task => "TASK_RUN",
    };
    let again = if run.spent.turns == 0 { "Begin" } else { "Continue" };
    let head = format!("[{kind} {}] {again} with task {number}: {}{goal}.", run.number, line(title));
    format!("{head}\n\n{}", TICK.trim_end().replace("{task}", &number.to_string()))
}

/// A title in one line.
fn line(title: &str) -> String {
    const MAX_CHARACTERS: usize = 200;
    let title = visible(title);
    let mut line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > MAX_CHARACTERS {
        line = line.chars().take(MAX_CHARACTERS).collect::<String>() + "…";
    }
    line
}
