//! The tools for goals, tasks and the diary in the gate; what becomes of a call before a plan is approved stands in `own`.
//! No tool starts a run, changes a budget or makes a schedule.
//!
//! Most sessions have no goals. Their requests have only the tools that add the first one, because the description of every
//! tool is paid for in every request.

use super::own::check_building;
use super::{Caller, GateContext};
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;
use crate::wire::text_enum;

text_enum! {
    pub enum AutoTool {
        GoalAdd = "goal_add",
        GoalList = "goal_list",
        GoalUpdate = "goal_update",
        TaskAdd = "task_add",
        TaskList = "task_list",
        TaskUpdate = "task_update",
        DiaryWrite = "diary_write",
    }
}

impl AutoTool {
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub const fn name(self) -> &'static str {
        self.as_str()
    }

    pub const fn reads_only(self) -> bool {
        match self {
            Self::GoalList | Self::TaskList => true,
            Self::GoalAdd | Self::GoalUpdate | Self::TaskAdd | Self::TaskUpdate | Self::DiaryWrite => false,
        }
    }

    /// Whether the tool is about goals and tasks that exist already.
    const fn needs_goals(self) -> bool {
        match self {
            Self::GoalList | Self::GoalUpdate | Self::TaskList | Self::TaskUpdate => true,
            Self::GoalAdd | Self::TaskAdd | Self::DiaryWrite => false,
        }
    }
}

/// Whether the session has goals, tasks or runs, also ones that are over.
pub(super) fn has_goals(snapshot: &Snapshot) -> bool {
    let auto = snapshot.session.as_ref().and_then(|session| session.auto.as_deref());
    auto.is_some_and(|auto| !(auto.goals.is_empty() && auto.tasks.is_empty() && auto.runs.is_empty()))
}

/// The tools that are advertised: exactly those a call of which would pass the gate.
pub fn advertised_auto_tools(situation: &GateContext) -> impl Iterator<Item = AutoTool> {
    AutoTool::ALL.into_iter().filter(|tool| authorize_auto_tool(situation, *tool).is_ok())
}

pub fn authorize_auto_tool(situation: &GateContext, tool: AutoTool) -> Result<(), Refusal> {
    // The list that an external agent reads does not depend on the plan.
    if situation.caller == Caller::Conversation {
        check_building(situation, tool.name())?;
    }
    match situation.caller {
        Caller::Conversation if tool.needs_goals() && !situation.has_goals => Err(Refusal::policy_denied(format!(
            "{} is for a session with goals or tasks, and this one has none; goal_add and task_add add one.",
            tool.name()
        ))),
        // The program of an external agent may read the list only once.
        Caller::Conversation | Caller::ExternalAgent => Ok(()),
        Caller::Execution | Caller::Specialist => Err(Refusal::policy_denied(format!(
            "{} belongs to the conversation, and a specialist has its own task.",
            tool.name()
        ))),
    }
}
