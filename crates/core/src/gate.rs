//! The tool gate: one table that answers both "which tools are advertised" and "may this call run".

mod workbook;

use crate::plan::{PlanStatus, PlanStyle};
use crate::policy::{DocumentTools, Policy};
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;
use crate::visible::quoted;

pub use workbook::{WorkbookTool, advertised_workbook_tools, authorize_workbook_tool};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanTool {
    Get,
    SetContent,
    Progress,
    Finalize,
    CreateDraft,
    SetMetadata,
    AddStep,
    UpdateStep,
    RemoveStep,
    Submit,
    List,
}

/// What a tool that is not about plans does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolEffect {
    ReadsOnly,
    /// Changes things, and doing it twice is the same as doing it once.
    Repeatable,
    Changes,
}

/// Who wants to call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The agent in the conversation.
    Conversation,
    /// A specialist that was asked a question.
    Specialist,
    /// An execution that carries out an approved plan.
    Execution,
}

/// What the gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// The style of plan work, or `None` while it is off.
    pub style: Option<PlanStyle>,
    /// The status of the active plan.
    pub status: Option<PlanStatus>,
    pub caller: Caller,
    pub document_tools: DocumentTools,
    /// Whether the planning files are there.
    pub workbook: bool,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Run,
    /// Written down as a step and answered with `[Planned]`.
    Record,
    Deny(Refusal),
}

struct Row {
    tool: PlanTool,
    name: &'static str,
    styles: &'static [PlanStyle],
    /// The statuses it belongs to, or any.
    statuses: Option<&'static [PlanStatus]>,
}

const TABLE: [Row; 11] = {
    use PlanStyle::{Build, Collect, Document};
    const fn row(tool: PlanTool, name: &'static str, styles: &'static [PlanStyle]) -> Row {
        Row { tool, name, styles, statuses: None }
    }
    [
        row(PlanTool::Get, "plan_get", &[Document, Collect, Build]),
        row(PlanTool::SetContent, "plan_set_content", &[Document]),
        Row {
            tool: PlanTool::Progress,
            name: "plan_progress",
            styles: &[Document],
            // An approved plan is one the agent may begin to carry out; its first report begins the execution.
            statuses: Some(&[PlanStatus::Approved, PlanStatus::Executing]),
        },
        row(PlanTool::Finalize, "plan_finalize", &[Collect]),
        row(PlanTool::CreateDraft, "plan_create_draft", &[Build]),
        row(PlanTool::SetMetadata, "plan_set_metadata", &[Build]),
        row(PlanTool::AddStep, "plan_add_step", &[Build]),
        row(PlanTool::UpdateStep, "plan_update_step", &[Build]),
        row(PlanTool::RemoveStep, "plan_remove_step", &[Build]),
        row(PlanTool::Submit, "plan_submit", &[Build]),
        row(PlanTool::List, "plan_list", &[Build]),
    ]
};

impl PlanTool {
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.tool)
    }

    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.tool)
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.tool == self).unwrap_or(&TABLE[0])
    }
}

impl Situation {
    pub fn of(snapshot: &Snapshot, policy: &Policy, caller: Caller) -> Self {
        let mode = snapshot.session.as_ref().map(|session| &session.plan_mode).filter(|mode| mode.enabled);
        Self {
            style: mode.map(|mode| mode.style),
            status: mode.and_then(|_| snapshot.active()).map(|plan| plan.status),
            caller,
            document_tools: policy.document_tools,
            workbook: workbook::is_on(snapshot, policy),
        }
    }
}

/// The plan tools that are advertised: exactly those a call of which would pass the gate. Beyond it, the life cycle may
/// still refuse; a list that changed with every status would be lost on clients that read it once.
pub fn advertised_plan_tools(situation: &Situation) -> impl Iterator<Item = PlanTool> {
    PlanTool::all().filter(|tool| authorize_plan_tool(situation, *tool).is_ok())
}

pub fn authorize_plan_tool(situation: &Situation, tool: PlanTool) -> Result<(), Refusal> {
    match situation.caller {
        Caller::Conversation => authorize_in_conversation(situation, tool),
        Caller::Execution => authorize_in_execution(situation, tool),
        Caller::Specialist => {
            Err(Refusal::policy_denied(format!("{} is not for a specialist that is asked.", tool.name())))
        }
    }
}

/// Whoever does a step of a plan reports on it, and does nothing else to plans.
fn authorize_in_execution(situation: &Situation, tool: PlanTool) -> Result<(), Refusal> {
    let step = (situation.style, situation.status) == (Some(PlanStyle::Build), Some(PlanStatus::Executing));
    if step && tool == PlanTool::Progress {
        return Ok(());
    }
    Err(Refusal::policy_denied(format!("{} is not for whoever carries out a step of a plan.", tool.name())))
}

fn authorize_in_conversation(situation: &Situation, tool: PlanTool) -> Result<(), Refusal> {
    let row = tool.row();
    let Some(style) = situation.style else {
        return Err(Refusal::policy_denied(format!(
            "{} can be called only while plan work is on, and plan work is off; a person turns it on.",
            row.name
        )));
    };
    if !row.styles.contains(&style) {
        return Err(other_style(tool, style));
    }
    let fits = |statuses: &[PlanStatus]| situation.status.is_some_and(|status| statuses.contains(&status));
    if !row.statuses.is_none_or(fits) {
        let status = situation.status.map_or("missing", PlanStatus::as_str);
        return Err(Refusal::wrong_status(format!(
            "{} is for a plan that is approved or executing; this one is {status}.",
            row.name
        )));
    }
    Ok(())
}

/// The tool that asks a specialist a question.
pub const ASK_AGENT: &str = "ask_agent";

/// Whether specialists can be asked: while a plan is built, by whoever builds it. A specialist does not ask others.
pub fn authorize_asking(situation: &Situation) -> Result<(), Refusal> {
    if (situation.caller, situation.style) == (Caller::Conversation, Some(PlanStyle::Build)) {
        return Ok(());
    }
    Err(Refusal::policy_denied(format!("{ASK_AGENT} is only there while a plan is built.")))
}

/// What becomes of a call to a tool that is not about plans.
pub fn judge_other_tool(situation: &Situation, name: &str, effect: ToolEffect) -> Verdict {
    let reads_only = effect == ToolEffect::ReadsOnly;
    let only_if_it_reads = |why: &str| {
        if reads_only { Verdict::Run } else { Verdict::Deny(Refusal::policy_denied(format!("{} {why}", quoted(name)))) }
    };
    match (situation.caller, situation.style) {
        (Caller::Execution, _) | (Caller::Conversation, None) => Verdict::Run,
        (Caller::Specialist, _) => only_if_it_reads("changes things, and a specialist that is asked may only read."),
        (Caller::Conversation, Some(PlanStyle::Collect)) => Verdict::Record,
        (Caller::Conversation, Some(PlanStyle::Build)) => only_if_it_reads("changes things, and planning only reads."),
        (Caller::Conversation, Some(PlanStyle::Document)) => {
            let drafting = matches!(situation.status, Some(PlanStatus::Collecting | PlanStatus::Ready));
            if drafting && situation.document_tools == DocumentTools::ReadOnly {
                only_if_it_reads("changes things, and only reading is allowed until the plan is approved.")
            } else {
                Verdict::Run
            }
        }
    }
}

/// Whether a call to `name` is one that the style collect writes down.
pub fn authorize_recording(situation: &Situation, name: &str) -> Result<(), Refusal> {
    let about_plans = PlanTool::named(name).is_some() || WorkbookTool::named(name).is_some();
    if about_plans || name.starts_with("plan_") || name == ASK_AGENT {
        return Err(Refusal::policy_denied(format!("{} is a plan tool and cannot be a step.", quoted(name))));
    }
    check_tool_name(name)?;
    match situation.style {
        Some(PlanStyle::Collect) => Ok(()),
        Some(PlanStyle::Document | PlanStyle::Build) | None => {
            Err(Refusal::policy_denied("Calls are only recorded as steps while a plan is collected."))
        }
    }
}

pub(crate) fn check_tool_name(name: &str) -> Result<(), Refusal> {
    if name.trim().is_empty() || name.len() > 128 {
        return Err(Refusal::invalid("The name of a tool has 1 to 128 characters."));
    }
    Ok(())
}

pub(crate) fn other_style(tool: PlanTool, style: PlanStyle) -> Refusal {
    Refusal::policy_denied(format!("{} does not belong to plans of style {style}.", tool.name()))
}
