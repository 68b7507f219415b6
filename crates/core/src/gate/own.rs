//! What becomes of a call to one of Planwright's own tools, besides those about plans. Before a plan is approved nothing
//! changes in the styles collect and build: a call that changes something is written down as a step in the one and refused
//! in the other, like any other call. The agent's own notes are free.

use super::{AutoTool, Caller, GateContext, MemoryTool, WorkbookTool};
use crate::plan::{PlanStatus, PlanStyle};
use crate::refusal::Refusal;

/// What one of Planwright's own tools does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnToolKind {
    Reads,
    /// It writes the agent's own notes in its session: the diary and the workbook.
    Notes,
    /// It changes what the session or its project has.
    Changes,
}

impl OwnToolKind {
    /// The gate's table.
    pub fn of(name: &str) -> Option<Self> {
        let auto = AutoTool::named(name).map(|tool| match tool {
            AutoTool::GoalList | AutoTool::TaskList => Self::Reads,
            AutoTool::DiaryWrite => Self::Notes,
            AutoTool::GoalAdd | AutoTool::GoalUpdate | AutoTool::TaskAdd | AutoTool::TaskUpdate => Self::Changes,
        });
        let memory = || {
            MemoryTool::named(name).map(|tool| match tool {
                MemoryTool::Search => Self::Reads,
                MemoryTool::Save => Self::Changes,
            })
        };
        let workbook = || {
            WorkbookTool::named(name).map(|tool| match tool {
                WorkbookTool::Read | WorkbookTool::List => Self::Reads,
                WorkbookTool::Init | WorkbookTool::Write | WorkbookTool::Update | WorkbookTool::Clear => Self::Notes,
                // It writes a file of the workspace.
                WorkbookTool::Export => Self::Changes,
            })
        };
        auto.or_else(memory).or_else(workbook)
    }
}

/// Whether a call to this tool is written down as a step instead of being run.
pub fn records_own_tool(situation: &GateContext, name: &str) -> bool {
    let collects = situation.style == Some(PlanStyle::Collect);
    let calls = match situation.caller {
        Caller::Conversation => true,
        // It makes the calls of its approved plan itself.
        Caller::ExternalAgent => !is_approved(situation.status),
        Caller::Specialist | Caller::Execution => false,
    };
    collects && calls && OwnToolKind::of(name) == Some(OwnToolKind::Changes)
}

/// Refuses a call that changes something while a plan is built and not approved.
pub fn check_building(situation: &GateContext, name: &str) -> Result<(), Refusal> {
    let builds = situation.style == Some(PlanStyle::Build) && !is_approved(situation.status);
    let calls = matches!(situation.caller, Caller::Conversation | Caller::ExternalAgent);
    if builds && calls && OwnToolKind::of(name) == Some(OwnToolKind::Changes) {
        return Err(Refusal::policy_denied(format!("{name} changes things, and planning only reads.")));
    }
    Ok(())
}

const fn is_approved(status: Option<PlanStatus>) -> bool {
    match status {
        Some(PlanStatus::Approved | PlanStatus::Executing | PlanStatus::PartiallyCompleted | PlanStatus::Completed) => {
            true
        }
        Some(
            PlanStatus::Collecting
            | PlanStatus::Ready
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded,
        )
        | None => false,
    }
}
