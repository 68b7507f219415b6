//! The acts that approvers sign, by what they are about.

use serde_json::{Value, json};

use crate::ask::Grant;
use crate::auto::{AutoRun, AutoState, Goal, NewSchedule, Schedule, StartTarget, Task};
use crate::command::StuckChoice;
use crate::ids::{AskId, GoalId, StepId, TaskId};
use crate::memory::MemoryItem;
use crate::plan::{Digest, Plan};
use crate::presence::{Act, ActKind};
use crate::refusal::Refusal;
use crate::upstream::ServerName;

impl Act {
    pub fn resume(plan: &Plan, after_step: Option<usize>) -> Self {
        let (kind, subject) = match after_step {
            Some(step) => (ActKind::Release, format!("{} after step {step}", plan.id)),
            None => (ActKind::Resume, plan.id.to_string()),
        };
        Self { kind, subject, digest: plan.digest().to_string() }
    }

    /// `None` for what only ends the work.
    pub fn settle(plan: &Plan, step: &StepId, choice: StuckChoice) -> Option<Self> {
        let kind = match choice {
            StuckChoice::Retry => ActKind::Retry,
            StuckChoice::Skip => ActKind::Skip,
            StuckChoice::Stop => return None,
        };
        Some(Self { kind, subject: format!("{} step {step}", plan.id), digest: plan.digest().to_string() })
    }

    /// With the arguments that the person changed, if they did.
    pub fn permit(ask: &AskId, digest: Digest, grant: Grant, changed: Option<&Value>) -> Self {
        let subject = format!("{ask} {}", grant.as_str());
        match changed {
            Some(changed) => Self::of(ActKind::Permit, subject, &json!({ "asked": digest, "arguments": changed })),
            None => Self { kind: ActKind::Permit, subject, digest: digest.to_string() },
        }
    }

    /// The text that every session reads.
    pub fn promote(item: &MemoryItem) -> Self {
        let MemoryItem { id, kind, content, tags, origin, .. } = item;
        let mut shown = json!({ "memory": id, "kind": kind, "content": content, "tags": tags });
        if let Some(origin) = origin {
            shown["origin"] = json!(origin);
        }
        Self::of(ActKind::Promote, id.to_string(), &shown)
    }

    /// The words of the goal and of the task that the run begins with.
    pub fn start_run(target: &StartTarget, state: &AutoState) -> Result<Self, Refusal> {
        let (goal, task) = match target {
            StartTarget::Current => match state.current_goal() {
                Some(goal) => (Some(goal), state.free_task(Some(&goal.id))),
                None => (None, state.free_task(None)),
            },
            StartTarget::Goal(goal) => (Some(known_goal(state, goal)?), state.free_task(Some(goal))),
            StartTarget::Task(task) => {
                let task = known_task(state, task)?;
                (task.goal.as_ref().and_then(|goal| state.goal(goal)), Some(task))
            }
            StartTarget::NewGoal { .. } => (None, None),
        };
        let subject = match target {
            StartTarget::Current => "a run".to_owned(),
            StartTarget::Goal(goal) => format!("a run of goal {goal}"),
            StartTarget::Task(task) => format!("a run of task {task}"),
            StartTarget::NewGoal { .. } => "a run of a new goal".to_owned(),
        };
        let shown = json!({ "target": target, "goal": goal.map(goal_shown), "task": task.map(task_shown) });
        Ok(Self::of(ActKind::StartRun, subject, &shown))
    }

    /// The words of its goal and of the task that it works on.
    pub fn resume_run(run: &AutoRun, state: &AutoState) -> Self {
        let goal = run.context.goal_id().and_then(|goal| state.goal(goal));
        let task = state.task(run.context.task_id());
        let shown = json!({ "run": run.id(), "goal": goal.map(goal_shown), "task": task.map(task_shown) });
        Self::of(ActKind::ResumeRun, run.id().to_string(), &shown)
    }

    pub fn add_schedule(new: &NewSchedule, state: &AutoState) -> Result<Self, Refusal> {
        let goal = new.goal.as_ref().map(|goal| known_goal(state, goal)).transpose()?;
        let shown = json!({ "schedule": new, "goal": goal.map(goal_shown) });
        Ok(Self::of(ActKind::AddSchedule, "a schedule".to_owned(), &shown))
    }

    /// Its line, and the words of its task and goal.
    pub fn resume_schedule(schedule: &Schedule, state: &AutoState) -> Self {
        let Schedule { id, line, max_executions, .. } = schedule;
        let task = state.task(&schedule.task);
        let goal = task.and_then(|task| state.goal(task.goal.as_ref()?));
        let shown = json!({
            "schedule": id, "line": line, "maxExecutions": max_executions, "goal": goal.map(goal_shown), "task": task.map(task_shown),
        });
        Self::of(ActKind::ResumeSchedule, id.to_string(), &shown)
    }

    pub fn accept_tools(server: &ServerName, digest: Digest) -> Self {
        Self { kind: ActKind::AcceptTools, subject: server.as_str().to_owned(), digest: digest.to_string() }
    }

    fn of(kind: ActKind, subject: String, content: &Value) -> Self {
        Self { kind, subject, digest: Digest::of_value("planwright-act-v1", content).to_string() }
    }
}

/// What a person sees of a goal and the agent reads.
fn goal_shown(goal: &Goal) -> Value {
    let Goal { id, title, note, .. } = goal;
    json!({ "id": id, "title": title, "note": note })
}

fn task_shown(task: &Task) -> Value {
    let Task { id, title, note, .. } = task;
    json!({ "id": id, "title": title, "note": note })
}

fn known_goal<'a>(state: &'a AutoState, goal: &GoalId) -> Result<&'a Goal, Refusal> {
    state.goal(goal).ok_or_else(|| Refusal::not_found(format!("There is no goal {goal} in this session.")))
}

fn known_task<'a>(state: &'a AutoState, task: &TaskId) -> Result<&'a Task, Refusal> {
    state.task(task).ok_or_else(|| Refusal::not_found(format!("There is no task {task} in this session.")))
}
