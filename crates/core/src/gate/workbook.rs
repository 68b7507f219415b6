//! The workbook tools in the gate. They are the agent's own notes: whatever the style of plan work, they run and are
//! never written down as steps.

use super::{Caller, Situation};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkbookTool {
    Init,
    Read,
    Write,
    Update,
    Clear,
    List,
    Export,
}

struct Row {
    tool: WorkbookTool,
    name: &'static str,
    reads_only: bool,
    /// Whether it is also for whoever does a step of a plan: notes are taken there, workbooks are not begun or ended.
    in_steps: bool,
}

const TABLE: [Row; 7] = {
    const fn row(tool: WorkbookTool, name: &'static str, reads_only: bool, in_steps: bool) -> Row {
        Row { tool, name, reads_only, in_steps }
    }
    [
        row(WorkbookTool::Init, "init_plan", false, false),
        row(WorkbookTool::Read, "read_plan", true, true),
        row(WorkbookTool::Write, "write_plan", false, true),
        row(WorkbookTool::Update, "update_plan", false, true),
        row(WorkbookTool::Clear, "clear_plan", false, false),
        row(WorkbookTool::List, "list_plans", true, true),
        row(WorkbookTool::Export, "export_plan", false, false),
    ]
};

impl WorkbookTool {
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.tool)
    }

    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.tool)
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn reads_only(self) -> bool {
        self.row().reads_only
    }

    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.tool == self).unwrap_or(&TABLE[0])
    }
}

/// The workbook tools that are advertised: exactly those a call of which would pass the gate.
pub fn advertised_workbook_tools(situation: &Situation) -> impl Iterator<Item = WorkbookTool> {
    WorkbookTool::all().filter(|tool| authorize_workbook_tool(situation, *tool).is_ok())
}

pub fn authorize_workbook_tool(situation: &Situation, tool: WorkbookTool) -> Result<(), Refusal> {
    let name = tool.name();
    if !situation.workbook {
        return Err(Refusal::policy_denied(format!(
            "{name} is only there while planning files are on; a person turns them on with `/plan files on`."
        )));
    }
    match situation.caller {
        Caller::Conversation => Ok(()),
        Caller::Execution if tool.row().in_steps => Ok(()),
        Caller::Execution => {
            Err(Refusal::policy_denied(format!("{name} is not for whoever carries out a step of a plan.")))
        }
        Caller::Specialist if tool.reads_only() => Ok(()),
        Caller::Specialist => {
            Err(Refusal::policy_denied(format!("{name} changes things, and a specialist that is asked may only read.")))
        }
    }
}

pub(super) fn is_on(snapshot: &Snapshot, policy: &Policy) -> bool {
    snapshot.session.as_ref().is_some_and(|session| session.has_planning_files(&policy.planning_files))
}
