//! What the agent does by itself: goals and tasks, the diary, schedules, and runs.
//!
//! - [`Goal`], [`Task`], [`DiaryEntry`], [`Schedule`]: what a person sets, and what the agent writes down
//! - [`AutoExecutionContext`], [`ContextAttribute`]: the context that every tick and every command of a run carries
//! - [`AutoRun`]: one run, its state and what it spent; [`AutoPolicy`]: its budgets and brakes
//! - [`AutoState`], [`AutoCommand`], [`AutoEvent`]: what a session has of it, what changes it, and what the journal says
//! - `attributes`: the canonical names of what a run and a session are identified by, for logs, headers and everything
//!   else that carries text
//! - `command`: what can be asked of a session's goals, tasks, diary, schedules and runs
//! - `context`: the context of a run
//! - `cron`: a cron expression in a time zone: minute, hour, day of the month, month, day of the week
//! - `event`: what happens to goals, tasks, the diary, schedules and runs
//! - `goal`: goals, their tasks, and the diary
//! - `policy`: what a run may spend, and when it is paused
//! - `run`: one run: what it works on, its state, and what it spent
//! - `schedule`: a task that is done again at set times
//! - `state`: what a session has of goals, tasks, diary, schedules and runs, and what each event does to it

mod attributes;
mod command;
mod context;
mod cron;
mod event;
mod goal;
mod policy;
mod run;
mod schedule;
mod state;

pub use attributes::ContextAttribute;
pub use command::{AutoCommand, NewSchedule, ScheduleChange, StartTarget};
pub use context::{AutoExecutionContext, RunConversation, RunKind, RunTarget};
pub use cron::CronLine;
pub use event::AutoEvent;
pub use goal::{DiaryEntry, Goal, GoalStatus, Task, TaskStatus};
pub use policy::{AutoPolicy, Budget, ModelPrice};
pub use run::{AutoRun, BudgetLimit, BudgetSpan, RunEnd, RunPause, RunState, RunTrigger, Spend, TickResult};
pub use schedule::{Schedule, ScheduleStatus};
pub use state::{AutoState, DaySpend};
