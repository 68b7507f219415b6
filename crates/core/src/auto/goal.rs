//! Goals, their tasks, and the diary.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ids::{GoalId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::visible::quoted;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GoalStatus {
    Active,
    /// No run works on it.
    Paused,
    Done,
    Cancelled,
}

impl GoalStatus {
    pub const ALL: [Self; 4] = [Self::Active, Self::Paused, Self::Done, Self::Cancelled];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the goal is over.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Active | Self::Paused => false,
            Self::Done | Self::Cancelled => true,
        }
    }
}

impl fmt::Display for GoalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for GoalStatus {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| {
            Refusal::invalid(format!("{} is not a status of a goal: active, paused, done or cancelled", quoted(text)))
        })
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    Open,
    Done,
    Failed,
    Skipped,
}

impl TaskStatus {
    pub const ALL: [Self; 4] = [Self::Open, Self::Done, Self::Failed, Self::Skipped];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TaskStatus {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|status| status.as_str() == text).ok_or_else(|| {
            Refusal::invalid(format!("{} is not a status of a task: open, done, failed or skipped", quoted(text)))
        })
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
