//! The tool gate: one table that answers both "which tools are advertised" and "may this call run".

mod auto;
mod memory;
mod own;
mod workbook;

use crate::plan::{PlanStatus, PlanStyle};
use crate::policy::{DocumentTools, Policy};
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;
use crate::visible::quoted;

pub use auto::{AutoTool, advertised_auto_tools, authorize_auto_tool};
pub use memory::{MemoryTool, advertised_memory_tools, authorize_memory_tool};
pub use own::{OwnToolKind, check_building, records_own_tool};
pub use workbook::{WorkbookTool, advertised_workbook_tools, authorize_workbook_tool};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanTool {
    Get,
    SetContent,
    Progress,
    AddCall,
    Finalize,
    AwaitDecision,
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
    /// The agent of another program, which calls through MCP. Its program may read the list of tools only once.
    ExternalAgent,
    /// A specialist that was asked a question.
    Specialist,
    /// An execution that carries out an approved plan.
    Execution,
}

/// What the gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateContext {
    /// The style of plan work, or `None` while it is off.
    pub style: Option<PlanStyle>,
    /// The status of the active plan.
    pub status: Option<PlanStatus>,
    pub caller: Caller,
    pub document_tools: DocumentTools,
    /// Whether the planning files are on.
    pub workbook: bool,
    /// Whether the session has goals, tasks or runs.
    pub has_goals: bool,
    /// Whether calls of an external agent that change things are recorded in rounds beside the plan.
    pub has_rounds: bool,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateDecision {
    Run,
    /// Written down as a step and answered with `[Planned]`.
    Record,
    Deny(Refusal),
}

/// Where a plan tool belongs.
struct PlanToolRule {
    name: &'static str,
    styles: &'static [PlanStyle],
    /// The statuses of the active plan it belongs to, or any.
    statuses: Option<&'static [PlanStatus]>,
    /// The styles in which an external agent has it. It has a tool whatever the status of the plan is: the life cycle refuses.
    external: &'static [PlanStyle],
}

impl PlanTool {
    pub const ALL: [Self; 13] = [
        Self::Get,
        Self::SetContent,
        Self::Progress,
        Self::AddCall,
        Self::Finalize,
        Self::AwaitDecision,
        Self::CreateDraft,
        Self::SetMetadata,
        Self::AddStep,
        Self::UpdateStep,
        Self::RemoveStep,
        Self::Submit,
        Self::List,
    ];

    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|tool| tool.name() == name)
    }

    pub const fn name(self) -> &'static str {
        self.rule().name
    }

    /// The gate's table.
    const fn rule(self) -> PlanToolRule {
        use PlanStyle::{Build, Collect, Document};
        const fn any_status(name: &'static str, styles: &'static [PlanStyle]) -> PlanToolRule {
            PlanToolRule { name, styles, statuses: None, external: styles }
        }
        const fn external_only(name: &'static str, external: &'static [PlanStyle]) -> PlanToolRule {
            PlanToolRule { name, styles: &[], statuses: None, external }
        }
        match self {
            Self::Get => any_status("plan_get", &[Document, Collect, Build]),
            Self::SetContent => any_status("plan_set_content", &[Document]),
            Self::Progress => PlanToolRule {
                name: "plan_progress",
                styles: &[Document],
                // The agent may begin to carry out an approved plan; its first report begins the execution.
                statuses: Some(&[PlanStatus::Approved, PlanStatus::Executing]),
                external: &[Document, Collect, Build],
            },
            Self::AddCall => external_only("plan_add_call", &[Collect]),
            Self::AwaitDecision => external_only("plan_await_decision", &[Document, Collect, Build]),
            Self::Finalize => any_status("plan_finalize", &[Collect]),
            Self::CreateDraft => any_status("plan_create_draft", &[Build]),
            Self::SetMetadata => any_status("plan_set_metadata", &[Build]),
            Self::AddStep => any_status("plan_add_step", &[Build]),
            Self::UpdateStep => any_status("plan_update_step", &[Build]),
            Self::RemoveStep => any_status("plan_remove_step", &[Build]),
            Self::Submit => any_status("plan_submit", &[Build]),
            Self::List => any_status("plan_list", &[Build]),
        }
    }
}

impl GateContext {
    pub fn of(snapshot: &Snapshot, policy: &Policy, caller: Caller) -> Self {
        let mode = snapshot.session.as_ref().map(|session| &session.plan_mode).filter(|mode| mode.enabled);
        Self {
            style: mode.map(|mode| mode.style),
            status: mode.and_then(|_| snapshot.active()).map(|plan| plan.status),
            caller,
            document_tools: policy.document_tools,
            workbook: workbook::is_on(snapshot, policy),
            has_goals: auto::has_goals(snapshot),
            has_rounds: policy.has_rounds || snapshot.session.as_ref().is_some_and(|session| session.round.is_some()),
        }
    }
}

/// The plan tools that are advertised: exactly those a call of which would pass the gate. Beyond it, the life cycle may
/// still refuse; a list that changed with every status would be lost on clients that read it once.
pub fn advertised_plan_tools(situation: &GateContext) -> impl Iterator<Item = PlanTool> {
    PlanTool::all().filter(|tool| authorize_plan_tool(situation, *tool).is_ok())
}

pub fn authorize_plan_tool(situation: &GateContext, tool: PlanTool) -> Result<(), Refusal> {
    match situation.caller {
        Caller::Conversation => authorize_in_conversation(situation, tool),
        Caller::ExternalAgent => authorize_external(situation, tool),
        Caller::Execution => authorize_in_execution(situation, tool),
        Caller::Specialist => {
            Err(Refusal::policy_denied(format!("{} is not for a specialist that is asked.", tool.name())))
        }
    }
}

/// A turn that does a step reports on it, and does nothing else to plans.
fn authorize_in_execution(situation: &GateContext, tool: PlanTool) -> Result<(), Refusal> {
    let step = (situation.style, situation.status) == (Some(PlanStyle::Build), Some(PlanStatus::Executing));
    if step && tool == PlanTool::Progress {
        return Ok(());
    }
    Err(Refusal::policy_denied(format!("{} cannot be called while a step of a plan is carried out.", tool.name())))
}

/// The list is the same for every status of the plan.
fn authorize_external(situation: &GateContext, tool: PlanTool) -> Result<(), Refusal> {
    let style = plan_work(situation, tool)?;
    let closes_round = tool == PlanTool::Finalize && situation.has_rounds;
    if closes_round || tool.rule().external.contains(&style) { Ok(()) } else { Err(other_style(tool, style)) }
}

/// The style of plan work, which has to be on.
fn plan_work(situation: &GateContext, tool: PlanTool) -> Result<PlanStyle, Refusal> {
    situation.style.ok_or_else(|| {
        Refusal::policy_denied(format!(
            "{} can be called only while plan work is on, and plan work is off; a person turns it on.",
            tool.name()
        ))
    })
}

fn authorize_in_conversation(situation: &GateContext, tool: PlanTool) -> Result<(), Refusal> {
    let rule = tool.rule();
    let style = plan_work(situation, tool)?;
    if !rule.styles.contains(&style) {
        return Err(other_style(tool, style));
    }
    let fits = |statuses: &[PlanStatus]| situation.status.is_some_and(|status| statuses.contains(&status));
    if !rule.statuses.is_none_or(fits) {
        return Err(not_reported_on(situation.status));
    }
    Ok(())
}

/// The refusal of a report on a plan that is not carried out.
pub(crate) fn not_reported_on(status: Option<PlanStatus>) -> Refusal {
    let status = status.map_or("missing", PlanStatus::as_str);
    Refusal::wrong_status(format!(
        "{} is for a plan that is approved or executing; this one is {status}.",
        PlanTool::Progress.name()
    ))
}

/// The tool that asks a specialist a question.
pub const ASK_AGENT: &str = "ask_agent";
/// The tool that asks a person.
pub const ASK_PERSON: &str = "ask_person";

/// Whether specialists can be asked: by the conversation while it builds a plan. A specialist does not ask others.
pub fn authorize_asking(situation: &GateContext) -> Result<(), Refusal> {
    if (situation.caller, situation.style) == (Caller::Conversation, Some(PlanStyle::Build)) {
        return Ok(());
    }
    Err(Refusal::policy_denied(format!("{ASK_AGENT} is only available while a plan is built.")))
}

/// Whether a person can be asked: by the conversation and by the specialist that does a step. A specialist that is asked a
/// question answers it without one.
pub fn authorize_asking_person(situation: &GateContext) -> Result<(), Refusal> {
    match situation.caller {
        Caller::Conversation | Caller::Execution => Ok(()),
        Caller::ExternalAgent => Err(Refusal::policy_denied(format!(
            "{ASK_PERSON} is not available here; the agent's own program asks the person."
        ))),
        Caller::Specialist => Err(Refusal::policy_denied(format!(
            "{ASK_PERSON} is not available to a specialist that is asked a question."
        ))),
    }
}

/// What becomes of a call to a tool that is not about plans.
pub fn decide_other_tool(situation: &GateContext, name: &str, effect: ToolEffect) -> GateDecision {
    let reads_only = effect == ToolEffect::ReadsOnly;
    let only_if_it_reads = |why: &str| {
        if reads_only {
            GateDecision::Run
        } else {
            GateDecision::Deny(Refusal::policy_denied(format!("{} {why}", quoted(name))))
        }
    };
    match (situation.caller, situation.style) {
        (Caller::Execution, _) | (Caller::Conversation, None) => GateDecision::Run,
        (Caller::Specialist, _) => only_if_it_reads("changes things, and a specialist that is asked may only read."),
        (Caller::Conversation | Caller::ExternalAgent, Some(PlanStyle::Collect)) => GateDecision::Record,
        // What a gateway lets through beside a plan is a setting, see `gateway`.
        (Caller::ExternalAgent, None | Some(PlanStyle::Document | PlanStyle::Build)) => GateDecision::Run,
        (Caller::Conversation, Some(PlanStyle::Build)) => only_if_it_reads("changes things, and planning only reads."),
        (Caller::Conversation, Some(PlanStyle::Document)) => {
            let drafting = matches!(situation.status, Some(PlanStatus::Collecting | PlanStatus::Ready));
            if drafting && situation.document_tools == DocumentTools::ReadOnly {
                only_if_it_reads("changes things, and only reading is allowed until the plan is approved.")
            } else {
                GateDecision::Run
            }
        }
    }
}

/// Whether a call to `name` is one that the style collect writes down.
pub fn authorize_recording(situation: &GateContext, name: &str) -> Result<(), Refusal> {
    check_recorded_tool(name)?;
    match situation.style {
        Some(PlanStyle::Collect) => Ok(()),
        Some(PlanStyle::Document | PlanStyle::Build) | None => {
            Err(Refusal::policy_denied("Calls are only recorded as steps while a plan is collected."))
        }
    }
}

/// Refuses tools whose calls are never steps.
pub(crate) fn check_recorded_tool(name: &str) -> Result<(), Refusal> {
    let is_free = OwnToolKind::of(name).is_some_and(|kind| kind != OwnToolKind::Changes);
    if PlanTool::named(name).is_some()
        || is_free
        || name.starts_with("plan_")
        || name == ASK_AGENT
        || name == ASK_PERSON
    {
        return Err(Refusal::policy_denied(format!("{} is a plan tool and cannot be a step.", quoted(name))));
    }
    check_tool_name(name)
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
