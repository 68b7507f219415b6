//! Goals, tasks, runs and schedules in JSON, the same in REST answers and on the command line.

use jiff::Timestamp;
use planwright_core::auto::{
    AutoRun, AutoState, Goal, GoalStatus, RunKind, RunState, RunTrigger, Schedule, Spend, StartTarget, Task, TaskStatus,
};
use planwright_core::choices::run_choices;
use planwright_core::ids::{GoalId, RunId, ScheduleId, TaskId};
use planwright_core::presence::Act;
use serde::Serialize;
use utoipa::ToSchema;

use super::ChoiceView;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Goal)]
pub struct GoalView {
    pub id: GoalId,
    /// Its number in the session.
    pub number: u32,
    pub title: String,
    pub status: GoalStatus,
    #[schema(required = true)]
    pub note: Option<String>,
    pub added_at: Timestamp,
    pub changed_at: Timestamp,
    /// Of its words and of those of the task that a run of it begins with. A person who starts one signs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub digest: Option<String>,
}

impl From<&Goal> for GoalView {
    fn from(goal: &Goal) -> Self {
        let Goal { id, number, title, status, note, added_at, changed_at } = goal.clone();
        Self { id, number, title, status, note, added_at, changed_at, digest: None }
    }
}

impl GoalView {
    pub fn of(state: &AutoState, goal: &Goal) -> Self {
        Self { digest: started(state, &StartTarget::Goal(goal.id.clone())), ..Self::from(goal) }
    }
}

fn started(state: &AutoState, target: &StartTarget) -> Option<String> {
    Act::start_run(target, state).ok().map(|act| act.digest)
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Task)]
pub struct TaskView {
    pub id: TaskId,
    /// Its number in the session.
    pub number: u32,
    /// The goal that it belongs to.
    #[schema(required = true)]
    pub goal_id: Option<GoalId>,
    pub title: String,
    pub status: TaskStatus,
    #[schema(required = true)]
    pub note: Option<String>,
    pub added_at: Timestamp,
    pub changed_at: Timestamp,
    /// Of its words and of those of its goal. A person who starts a run of it signs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub digest: Option<String>,
}

impl From<&Task> for TaskView {
    fn from(task: &Task) -> Self {
        let Task { id, number, goal, title, status, note, added_at, changed_at } = task.clone();
        Self { id, number, goal_id: goal, title, status, note, added_at, changed_at, digest: None }
    }
}

impl TaskView {
    pub fn of(state: &AutoState, task: &Task) -> Self {
        Self { digest: started(state, &StartTarget::Task(task.id.clone())), ..Self::from(task) }
    }
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Run)]
pub struct RunView {
    pub id: RunId,
    /// Its number in the session.
    pub number: u32,
    pub run_kind: RunKind,
    /// The goal of a `GOAL_RUN`; a `TASK_RUN` has none.
    #[schema(required = true)]
    pub goal_id: Option<GoalId>,
    /// The task that it works on now.
    pub task_id: TaskId,
    /// `running`, `paused`, `interrupted`, `completed`, `failed` or `stopped`
    pub state: &'static str,
    /// Why it waits or how it ended.
    #[schema(required = true)]
    pub reason: Option<String>,
    /// The schedule that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub schedule_id: Option<ScheduleId>,
    pub started_at: Timestamp,
    /// When it did something last.
    pub active_at: Timestamp,
    pub spent: SpendView,
    /// What a person can do with it now.
    pub actions: Vec<ChoiceView>,
    /// Of the words of its goal and its task. A person who lets it continue signs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub digest: Option<String>,
}

/// What a run spent.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Spend)]
pub struct SpendView {
    pub turns: u32,
    pub tokens: u64,
    /// How long its turns were at work.
    pub seconds: f64,
    /// In the currency in which prices are configured; 0 without prices.
    pub money: f64,
}

impl From<Spend> for SpendView {
    fn from(spent: Spend) -> Self {
        let Spend { turns, tokens, millis, micros } = spent;
        Self { turns, tokens, seconds: millis as f64 / 1_000.0, money: micros as f64 / 1_000_000.0 }
    }
}

impl From<&AutoRun> for RunView {
    fn from(run: &AutoRun) -> Self {
        let reason = match &run.state {
            RunState::Running | RunState::Interrupted { .. } => None,
            RunState::Paused { reason, .. } => Some(reason.to_string()),
            RunState::Ended { note, .. } => note.clone(),
        };
        let schedule_id = match &run.trigger {
            RunTrigger::Person => None,
            RunTrigger::Schedule { schedule } => Some(schedule.clone()),
        };
        Self {
            id: run.id().clone(),
            number: run.number,
            run_kind: run.context.run_kind(),
            goal_id: run.context.goal_id().cloned(),
            task_id: run.context.task_id().clone(),
            state: run.state.name(),
            reason,
            schedule_id,
            started_at: run.started_at,
            active_at: run.active_at,
            spent: run.spent.into(),
            actions: run_choices(run).list.iter().map(ChoiceView::from).collect(),
            digest: None,
        }
    }
}

impl RunView {
    pub fn of(state: &AutoState, run: &AutoRun) -> Self {
        Self { digest: Some(Act::resume_run(run, state).digest), ..Self::from(run) }
    }
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Schedule)]
pub struct ScheduleView {
    pub id: ScheduleId,
    /// Its number in the session.
    pub number: u32,
    /// What is done each time.
    pub title: String,
    pub task_id: TaskId,
    #[schema(required = true)]
    pub goal_id: Option<GoalId>,
    /// Minute, hour, day of the month, month, day of the week.
    pub cron: String,
    pub time_zone: String,
    /// `active`, `paused` or `ended`
    pub status: &'static str,
    pub executions: u32,
    #[schema(required = true)]
    pub max_executions: Option<u32>,
    /// When it is due next.
    #[schema(required = true)]
    pub next_at: Option<Timestamp>,
    /// Of its line and the words of its task and goal. A person who resumes it signs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub digest: Option<String>,
}

impl ScheduleView {
    pub fn of(state: &AutoState, schedule: &Schedule) -> Self {
        let task = state.task(&schedule.task);
        Self {
            id: schedule.id.clone(),
            number: schedule.number,
            title: task.map(|task| task.title.clone()).unwrap_or_default(),
            task_id: schedule.task.clone(),
            goal_id: task.and_then(|task| task.goal.clone()),
            cron: schedule.line.expression.clone(),
            time_zone: schedule.line.zone.clone(),
            status: schedule.status.as_str(),
            executions: schedule.executions,
            max_executions: schedule.max_executions,
            next_at: schedule.next_at,
            digest: Some(Act::resume_schedule(schedule, state).digest),
        }
    }
}
