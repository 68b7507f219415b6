//! The workbook tools in the gate. They are the agent's own notes, so they run whatever the style of plan work; only what
//! is exported stands outside of them.

use super::own::check_building;
use super::{Caller, GateContext};
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

/// Where a workbook tool belongs.
struct WorkbookToolRule {
    name: &'static str,
    reads_only: bool,
    /// Whether it may be called in a turn that does a step of a plan. Such a turn takes notes; it does not begin or end
    /// workbooks.
    in_steps: bool,
}

impl WorkbookTool {
    pub const ALL: [Self; 7] =
        [Self::Init, Self::Read, Self::Write, Self::Update, Self::Clear, Self::List, Self::Export];

    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|tool| tool.name() == name)
    }

    pub const fn name(self) -> &'static str {
        self.rule().name
    }

    pub const fn reads_only(self) -> bool {
        self.rule().reads_only
    }

    const fn rule(self) -> WorkbookToolRule {
        const fn rule(name: &'static str, reads_only: bool, in_steps: bool) -> WorkbookToolRule {
            WorkbookToolRule { name, reads_only, in_steps }
        }
        match self {
            Self::Init => rule("init_plan", false, false),
            Self::Read => rule("read_plan", true, true),
            Self::Write => rule("write_plan", false, true),
            Self::Update => rule("update_plan", false, true),
            Self::Clear => rule("clear_plan", false, false),
            Self::List => rule("list_plans", true, true),
            Self::Export => rule("export_plan", false, false),
        }
    }
}

/// The workbook tools that are advertised: exactly those a call of which would pass the gate.
pub fn advertised_workbook_tools(situation: &GateContext) -> impl Iterator<Item = WorkbookTool> {
    WorkbookTool::all().filter(|tool| authorize_workbook_tool(situation, *tool).is_ok())
}

pub fn authorize_workbook_tool(situation: &GateContext, tool: WorkbookTool) -> Result<(), Refusal> {
    // The list that an external agent reads does not depend on the plan.
    if situation.caller == Caller::Conversation {
        check_building(situation, tool.name())?;
    }
    let name = tool.name();
    if !situation.workbook {
        return Err(Refusal::policy_denied(format!(
            "{name} is only available while planning files are on; a person turns them on with `/plan files on`."
        )));
    }
    match situation.caller {
        Caller::Conversation | Caller::ExternalAgent => Ok(()),
        Caller::Execution if tool.rule().in_steps => Ok(()),
        Caller::Execution => {
            Err(Refusal::policy_denied(format!("{name} cannot be called while a step of a plan is carried out.")))
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
