//! One run: what it works on, its state, and what it spent.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::context::AutoExecutionContext;
use super::policy::Budget;
use crate::ids::{RunId, ScheduleId};
use crate::wire::text_enum;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoRun {
    /// Its number in the session, from 1.
    pub number: u32,
    pub context: AutoExecutionContext,
    pub trigger: RunTrigger,
    /// The process that makes its ticks.
    pub driver: String,
    #[serde(flatten)]
    pub state: RunState,
    pub started_at: Timestamp,
    /// When it did something last.
    pub active_at: Timestamp,
    /// All that it spent.
    pub spent: Spend,
    /// What it spent since it was started or a person let it continue.
    pub counted: Spend,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub idle_turns: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// Why its last turn failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
    /// The hash of the calls, results and words of its last turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_work: Option<String>,
    /// The journal's number from which on the model reads the run's own conversation.
    #[serde(default, skip_serializing_if = "is_start")]
    pub history_from: u64,
    /// The first entry that the last summary of that conversation kept as it is; 0 if there was none.
    #[serde(default, skip_serializing_if = "is_start")]
    pub kept_from: u64,
}

fn is_start(seq: &u64) -> bool {
    *seq == 0
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What started a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum RunTrigger {
    Person,
    Schedule { schedule: ScheduleId },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RunState {
    Running,
    /// It waits for a person, who lets it continue or ends it.
    Paused {
        reason: RunPause,
        since: Timestamp,
    },
    /// Its process ended. A person may start it again.
    Interrupted {
        since: Timestamp,
    },
    Ended {
        end: RunEnd,
        at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

impl RunState {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused { .. } => "paused",
            Self::Interrupted { .. } => "interrupted",
            Self::Ended { end, .. } => end.as_str(),
        }
    }
}

text_enum! {
    /// How a run ended.
    pub enum RunEnd {
        /// Its tasks are done or were skipped.
        Completed = "completed",
        /// Its task failed, or it failed too often.
        Failed = "failed",
        /// A person ended it, or its goal is not worked on any more.
        Stopped = "stopped",
    }
}

/// Why a run waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum RunPause {
    Budget { limit: BudgetLimit, span: BudgetSpan },
    NoProgress { turns: u32 },
    Failures { turns: u32, last: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BudgetLimit {
    Turns,
    Tokens,
    Time,
    Money,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BudgetSpan {
    Run,
    Day,
}

impl fmt::Display for RunPause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget { limit, span } => {
                let limit = match limit {
                    BudgetLimit::Turns => "turns",
                    BudgetLimit::Tokens => "tokens",
                    BudgetLimit::Time => "time",
                    BudgetLimit::Money => "money",
                };
                let span = match span {
                    BudgetSpan::Run => "of this run",
                    BudgetSpan::Day => "of the day",
                };
                write!(f, "the budget of {limit} {span} is spent")
            }
            Self::NoProgress { turns } => write!(f, "{turns} turns in a row made no progress"),
            Self::Failures { turns, last } => write!(f, "{turns} turns in a row failed, the last one: {last}"),
        }
    }
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    pub turns: u32,
    pub tokens: u64,
    /// How long turns were at work, in milliseconds.
    pub millis: u64,
    /// Millionths of a currency, where prices are configured.
    #[serde(default, skip_serializing_if = "is_free")]
    pub micros: u64,
}

fn is_free(micros: &u64) -> bool {
    *micros == 0
}

impl std::ops::Add for Spend {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            tokens: self.tokens.saturating_add(other.tokens),
            millis: self.millis.saturating_add(other.millis),
            micros: self.micros.saturating_add(other.micros),
        }
    }
}

impl Spend {
    /// The limit of the budget that is reached.
    pub fn reaches(&self, budget: &Budget) -> Option<BudgetLimit> {
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        if budget.turns.is_some_and(|most| self.turns >= most) {
            Some(BudgetLimit::Turns)
        } else if budget.tokens.is_some_and(|most| self.tokens >= most) {
            Some(BudgetLimit::Tokens)
        } else if budget.time.is_some_and(|most| self.millis >= millis(most)) {
            Some(BudgetLimit::Time)
        } else if budget.micros.is_some_and(|most| self.micros >= most) {
            Some(BudgetLimit::Money)
        } else {
            None
        }
    }
}

/// What a turn of a run led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum TickResult {
    Progress,
    /// It changed nothing, and made no call or the same calls with the same results as the turn before.
    Idle,
    Failed {
        reason: String,
    },
}

impl AutoRun {
    pub const fn id(&self) -> &RunId {
        &self.context.run_id
    }

    pub const fn is_running(&self) -> bool {
        matches!(self.state, RunState::Running)
    }

    /// Whether it is not over: it runs, or a person may let it continue.
    pub const fn is_open(&self) -> bool {
        match self.state {
            RunState::Running | RunState::Paused { .. } | RunState::Interrupted { .. } => true,
            RunState::Ended { .. } => false,
        }
    }

    /// Whether its process ended in the middle of it.
    pub const fn is_interrupted(&self) -> bool {
        matches!(self.state, RunState::Interrupted { .. })
    }

    /// Since when it waits for a person.
    pub const fn waits_since(&self) -> Option<Timestamp> {
        match self.state {
            RunState::Paused { since, .. } | RunState::Interrupted { since } => Some(since),
            RunState::Running | RunState::Ended { .. } => None,
        }
    }
}
