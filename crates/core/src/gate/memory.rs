//! The memory tools in the gate; what becomes of a call before a plan is approved stands in `own`. No tool forgets or
//! promotes.

use super::own::check_building;
use super::{Caller, GateContext};
use crate::refusal::Refusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryTool {
    Search,
    Save,
}

impl MemoryTool {
    pub const ALL: [Self; 2] = [Self::Search, Self::Save];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Search => "memory_search",
            Self::Save => "memory_save",
        }
    }

    pub const fn reads_only(self) -> bool {
        match self {
            Self::Search => true,
            Self::Save => false,
        }
    }
}

/// The memory tools that are advertised: exactly those a call of which would pass the gate.
pub fn advertised_memory_tools(situation: &GateContext) -> impl Iterator<Item = MemoryTool> {
    MemoryTool::ALL.into_iter().filter(|tool| authorize_memory_tool(situation, *tool).is_ok())
}

pub fn authorize_memory_tool(situation: &GateContext, tool: MemoryTool) -> Result<(), Refusal> {
    // The list that an external agent reads does not depend on the plan.
    if situation.caller == Caller::Conversation {
        check_building(situation, tool.name())?;
    }
    match situation.caller {
        Caller::Conversation | Caller::ExternalAgent | Caller::Execution => Ok(()),
        Caller::Specialist if tool.reads_only() => Ok(()),
        Caller::Specialist => Err(Refusal::policy_denied(format!(
            "{} changes things, and a specialist that is asked may only read.",
            tool.name()
        ))),
    }
}
