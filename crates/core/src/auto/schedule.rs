//! A task that is done again at set times.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::cron::CronLine;
use crate::ids::{ScheduleId, TaskId};
use crate::wire::text_enum;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    pub id: ScheduleId,
    /// Its number in the session, from 1.
    pub number: u32,
    /// The task that each execution works on.
    pub task: TaskId,
    #[serde(flatten)]
    pub line: CronLine,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_executions: Option<u32>,
    /// How many runs it has started.
    pub executions: u32,
    pub status: ScheduleStatus,
    /// When it is due next; `None` while it is paused and after its last execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// How often in a row the last window failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    pub added_at: Timestamp,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

text_enum! {
    pub enum ScheduleStatus {
        Active = "active",
        Paused = "paused",
        /// It has been executed as often as it may be.
        Ended = "ended",
    }
}

impl Schedule {
    /// Whether it may start another run.
    pub fn has_executions_left(&self) -> bool {
        self.max_executions.is_none_or(|most| self.executions < most)
    }
}
