//! What can be asked of a session's goals, tasks, diary, schedules and runs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::context::AutoExecutionContext;
use super::goal::{GoalStatus, TaskStatus};
use crate::ids::{GoalId, RunId, ScheduleId, TaskId};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AutoCommand {
    AddGoal {
        title: String,
    },
    ChangeGoal {
        goal: GoalId,
        status: GoalStatus,
        note: Option<String>,
    },
    AddTask {
        title: String,
        goal: Option<GoalId>,
    },
    ChangeTask {
        task: TaskId,
        status: TaskStatus,
        note: Option<String>,
    },
    WriteDiary {
        text: String,
        /// The run that writes it.
        run: Option<AutoExecutionContext>,
    },
    /// Only a person makes, changes and deletes schedules.
    AddSchedule(NewSchedule),
    ChangeSchedule {
        schedule: ScheduleId,
        change: ScheduleChange,
    },
    /// Starts the run of a schedule that is due. It is refused if the schedule is not due at `window` any more.
    Fire {
        schedule: ScheduleId,
        window: Timestamp,
        driver: String,
    },
    /// Only a person starts runs. `driver` is the process that makes its ticks.
    Start {
        target: StartTarget,
        driver: String,
    },
    /// A person lets a run continue that was paused or interrupted.
    Resume {
        run: RunId,
        driver: String,
    },
    /// Ends a run, or every run of the session.
    Stop {
        run: Option<RunId>,
    },
    /// The process of the run ended.
    Interrupt {
        run: RunId,
    },
}

/// What a run is started for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StartTarget {
    /// The session's first active goal, else its first open task, else its conversation.
    Current,
    Goal(GoalId),
    Task(TaskId),
    /// A goal that is made with the run.
    NewGoal {
        title: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSchedule {
    pub expression: String,
    /// UTC if absent.
    pub zone: Option<String>,
    /// What is to be done each time.
    pub title: String,
    pub goal: Option<GoalId>,
    pub max_executions: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScheduleChange {
    Pause,
    Resume,
    Delete,
}

impl AutoCommand {
    /// Whether it starts work, so that it depends on who may approve.
    pub const fn starts_work(&self) -> bool {
        match self {
            Self::Start { .. } | Self::Resume { .. } | Self::AddSchedule(_) | Self::ChangeSchedule { .. } => true,
            Self::AddGoal { .. }
            | Self::ChangeGoal { .. }
            | Self::AddTask { .. }
            | Self::ChangeTask { .. }
            | Self::WriteDiary { .. }
            | Self::Fire { .. }
            | Self::Stop { .. }
            | Self::Interrupt { .. } => false,
        }
    }

    /// Whether it begins a run, which no plan that waits for a person permits.
    pub const fn begins_run(&self) -> bool {
        match self {
            Self::Start { .. } | Self::Resume { .. } | Self::Fire { .. } => true,
            Self::AddGoal { .. }
            | Self::ChangeGoal { .. }
            | Self::AddTask { .. }
            | Self::ChangeTask { .. }
            | Self::WriteDiary { .. }
            | Self::AddSchedule(_)
            | Self::ChangeSchedule { .. }
            | Self::Stop { .. }
            | Self::Interrupt { .. } => false,
        }
    }

    /// Its content in bytes, roughly.
    pub fn size(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::AddGoal { title } | Self::AddTask { title, .. } => title.len(),
            Self::ChangeGoal { note, .. } | Self::ChangeTask { note, .. } => text(note),
            Self::WriteDiary { text, .. } => text.len(),
            Self::AddSchedule(new) => new.title.len() + new.expression.len(),
            Self::Start { target: StartTarget::NewGoal { title }, .. } => title.len(),
            Self::ChangeSchedule { .. }
            | Self::Fire { .. }
            | Self::Start { .. }
            | Self::Resume { .. }
            | Self::Stop { .. }
            | Self::Interrupt { .. } => 0,
        }
    }
}
