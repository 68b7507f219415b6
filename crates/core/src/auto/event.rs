//! What happens to goals, tasks, the diary, schedules and runs.

use jiff::Timestamp;

use super::context::AutoExecutionContext;
use super::cron::CronLine;
use super::goal::{GoalStatus, TaskStatus};
use super::run::{RunEnd, RunPause, RunTrigger, Spend, TickResult};
use crate::ids::{GoalId, RunId, ScheduleId, TaskId, TurnId};
use crate::plan::Touches;
use crate::wire::events;

events! {
    pub enum AutoEvent {
        "goal_added" GoalAdded { goal: GoalId, number: u32, title: String } => { progress: true },
        "goal_changed" GoalChanged {
            goal: GoalId,
            status: GoalStatus,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            note: Option<String>,
        } => { progress: true },
        "task_added" TaskAdded {
            task: TaskId,
            number: u32,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            goal: Option<GoalId>,
            title: String,
        } => { progress: true },
        "task_changed" TaskChanged {
            task: TaskId,
            status: TaskStatus,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            note: Option<String>,
        } => { progress: true },
        "diary_written" DiaryWritten {
            text: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            run: Option<RunId>,
            /// The task that the run worked on. The run may have moved to the next one in the same turn.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            task: Option<TaskId>,
        } => { run: run.as_ref() },
        "schedule_added" ScheduleAdded {
            schedule: ScheduleId,
            number: u32,
            task: TaskId,
            line: CronLine,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            max_executions: Option<u32>,
            next_at: Timestamp,
        } => { audit: "a schedule was made" },
        "schedule_paused" SchedulePaused { schedule: ScheduleId },
        "schedule_resumed" ScheduleResumed { schedule: ScheduleId, next_at: Timestamp },
        "schedule_deleted" ScheduleDeleted { schedule: ScheduleId },
        /// A due schedule started a run. The windows that were missed before it are joined with it.
        "schedule_fired" ScheduleFired {
            schedule: ScheduleId,
            window: Timestamp,
            joined: u32,
            // Absent after the last execution.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            next_at: Option<Timestamp>,
        } => { audit: "a schedule started a run" },
        /// A due schedule could not start its run, or the run failed. It is tried again later.
        "schedule_postponed" SchedulePostponed {
            schedule: ScheduleId,
            next_at: Timestamp,
            failed: bool,
            reason: String,
        } => { audit: "a schedule is tried again later" },
        "run_started" RunStarted { number: u32, context: AutoExecutionContext, trigger: RunTrigger, driver: String } => {
            run: &context.run_id,
            audit: "a run was started",
        },
        /// A turn of the run ended.
        "run_ticked" RunTicked { run: RunId, in_turn: TurnId, spent: Spend, work: String, outcome: TickResult } => {
            run: run,
            audit: "a turn of a run ended",
        },
        /// The task before is over, and the run continues with the next one of its goal.
        "run_moved" RunMoved { run: RunId, task: TaskId } => { run: run, audit: "a run continues with another task" },
        "run_paused" RunPaused { run: RunId, reason: RunPause } => {
            run: run,
            audit: "a run is paused and waits for a person",
        },
        "run_resumed" RunResumed { run: RunId, driver: String } => { run: run, audit: "a person let a run continue" },
        /// The process of the run ended.
        "run_interrupted" RunInterrupted { run: RunId } => { run: run, audit: "a run was interrupted" },
        "run_ended" RunEnded {
            run: RunId,
            end: RunEnd,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            note: Option<String>,
            /// What the conversation of the session reads of it. Runs that stayed in that conversation have none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            result: Option<String>,
        } => { run: run, audit: "a run ended" },
    }
}
