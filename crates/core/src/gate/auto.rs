//! The tools for goals, tasks and the diary in the gate. They run in every style of plan work and are never written down as
//! steps. No tool starts a run, changes a budget or makes a schedule.

use super::{Caller, GateContext};
use crate::refusal::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AutoTool {
    GoalAdd,
    GoalList,
    GoalUpdate,
    TaskAdd,
    TaskList,
    TaskUpdate,
    DiaryWrite,
}

impl AutoTool {
    pub const ALL: [Self; 7] = [
        Self::GoalAdd,
        Self::GoalList,
        Self::GoalUpdate,
        Self::TaskAdd,
        Self::TaskList,
        Self::TaskUpdate,
        Self::DiaryWrite,
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::GoalAdd => "goal_add",
            Self::GoalList => "goal_list",
            Self::GoalUpdate => "goal_update",
            Self::TaskAdd => "task_add",
            Self::TaskList => "task_list",
            Self::TaskUpdate => "task_update",
            Self::DiaryWrite => "diary_write",
        }
    }

    pub const fn reads_only(self) -> bool {
        match self {
            Self::GoalList | Self::TaskList => true,
            Self::GoalAdd | Self::GoalUpdate | Self::TaskAdd | Self::TaskUpdate | Self::DiaryWrite => false,
        }
    }
}

/// The tools that are advertised: exactly those a call of which would pass the gate.
pub fn advertised_auto_tools(situation: &GateContext) -> impl Iterator<Item = AutoTool> {
    AutoTool::ALL.into_iter().filter(|tool| authorize_auto_tool(situation, *tool).is_ok())
}

pub fn authorize_auto_tool(situation: &GateContext, tool: AutoTool) -> Result<(), Refusal> {
    match situation.caller {
        Caller::Conversation | Caller::ExternalAgent => Ok(()),
        Caller::Execution | Caller::Specialist => Err(Refusal::policy_denied(format!(
            "{} belongs to the conversation, and a specialist has its own task.",
            tool.name()
        ))),
    }
}
