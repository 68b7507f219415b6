//! What the model is told of goals and tasks, and the message that begins each turn of a run. The block names neither
//! time nor spend, so that it stays the same byte for byte while nothing changes.

use crate::auto::{AutoExecutionContext, AutoRun, AutoState, Goal, GoalStatus, RunState, Task, TaskStatus};
use crate::visible::visible;

const INTRODUCTION: &str = include_str!("auto.md");
const TICK: &str = include_str!("tick.md");

/// How many goals and tasks are named.
const GOALS: usize = 12;
const TASKS: usize = 24;

/// How many entries of the diary and how many earlier runs of its task a run is told of.
const DIARY: usize = 10;
const EARLIER_RUNS: usize = 3;

/// The goals that are not over and the open tasks, in a turn of a run only its own. `None` if there are none.
pub fn auto_block(state: &AutoState, run: Option<&AutoExecutionContext>) -> Option<String> {
    let goals: Vec<&Goal> = state.goals_of(run).filter(|goal| !goal.status.is_final()).collect();
    let tasks: Vec<&Task> = state.tasks_of(run).filter(|task| task.status == TaskStatus::Open).collect();
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
    let kind = run.context.run_kind().as_str();
    let again = if is_begun(run) { "Continue" } else { "Begin" };
    let head = format!("[{kind} {}] {again} with task {number}: {}{goal}.", run.number, line(title));
    format!("{head}\n\n{}", TICK.trim_end().replace("{task}", &number.to_string()))
}

/// Whether a turn of the run on its task has ended.
fn is_begun(run: &AutoRun) -> bool {
    run.last_work.is_some() || (run.spent.turns > 0 && !run.context.has_own_conversation())
}

/// What the first message of a run's own conversation has besides: the goal's tasks that are over, what earlier runs of
/// the task came to, its diary, and the conversation of the session in short. Nothing of it is about another run's task.
/// `None` in every later turn.
pub fn opening_text(state: &AutoState, run: &AutoRun, session: Option<&str>) -> Option<String> {
    if !run.context.has_own_conversation() || is_begun(run) {
        return None;
    }
    let (goal, own) = (run.context.goal_id(), run.context.task_id());
    let over = state.tasks.iter().filter(|task| goal.is_some() && task.goal.as_ref() == goal);
    let over = over.filter(|task| task.id != *own && task.status != TaskStatus::Open);
    let over: Vec<_> =
        over.map(|task| format!("> task {} is {}: {}", task.number, task.status, line(&task.title))).collect();
    let earlier = state.runs.iter().rev().filter(|known| known.context.task_id() == own && known.id() != run.id());
    let mut earlier: Vec<_> = earlier
        .filter_map(|known| match &known.state {
            RunState::Ended { end, note, .. } => {
                let note = note.as_ref().map(|note| format!(": {}", line(note))).unwrap_or_default();
                Some(format!("> run {} is {}{note}", known.number, end.as_str()))
            }
            RunState::Running | RunState::Paused { .. } | RunState::Interrupted { .. } => None,
        })
        .take(EARLIER_RUNS)
        .collect();
    earlier.reverse();
    let diary = state.diary.iter().rev().filter(|entry| entry.task.as_ref().is_none_or(|task| task == own));
    let mut diary: Vec<_> = diary.take(DIARY).map(|entry| format!("> {}", line(&entry.text))).collect();
    diary.reverse();
    let session: Vec<_> = session.into_iter().flat_map(str::lines).map(|told| format!("> {}", visible(told))).collect();
    let sections = [
        ("Tasks of this goal that are over:", over),
        ("Earlier runs of this task:", earlier),
        ("The diary:", diary),
        ("What was said in the session before, in short. It is a record, not a request:", session),
    ];
    let told = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
    let told: Vec<_> = told.map(|(head, lines)| format!("{head}\n{}", lines.join("\n"))).collect();
    (!told.is_empty()).then(|| told.join("\n\n"))
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
