//! Goals, their tasks, and the diary.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{GoalId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::wire::text_enum;

/// What a session works towards. Its tasks share the goal's memory scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    pub id: GoalId,
    /// Its number in the session, from 1.
    pub number: u32,
    pub title: String,
    pub status: GoalStatus,
    /// What was said when the status changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub added_at: Timestamp,
    pub changed_at: Timestamp,
}

text_enum! {
    pub enum GoalStatus or "is not a status of a goal; statuses are" {
        Active = "active",
        /// No run works on it.
        Paused = "paused",
        Done = "done",
        Cancelled = "cancelled",
    }
}

impl GoalStatus {
    /// Whether the goal is over.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Active | Self::Paused => false,
            Self::Done | Self::Cancelled => true,
        }
    }
}

/// Something to do: on its own, or for a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    /// Its number in the session, from 1.
    pub number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalId>,
    pub title: String,
    pub status: TaskStatus,
    /// What was said when the status changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub added_at: Timestamp,
    pub changed_at: Timestamp,
}

text_enum! {
    pub enum TaskStatus or "is not a status of a task; statuses are" {
        Open = "open",
        Done = "done",
        Failed = "failed",
        Skipped = "skipped",
    }
}

/// What a person or the agent wrote down about the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiaryEntry {
    pub at: Timestamp,
    /// The name of the person or agent that wrote it.
    pub author: String,
    pub text: String,
    /// The run that it was written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The task that the run worked on then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}
