//! Everything that can be asked of a session. A command is data: it can be stored, sent again and replayed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ask::{AskAnswer, AskSubject, CallToPermit, GatewayAsk, GatewayCallRecord};
use crate::auto::AutoCommand;
use crate::ids::{AskId, CommentId, ExecutionId, MemoryId, PlanId, RequestId, StepId, TurnId};
use crate::memory::MemoryCommand;
use crate::plan::approval::Selection;
use crate::plan::execution::{Pause, PermissionCounts};
use crate::plan::review::{Review, ReviewAnswers};
use crate::plan::{ApprovalSignature, Digest, PlanStyle};
use crate::presence::AgentClient;
use crate::refusal::Refusal;
use crate::session::{Compaction, Session};
use crate::turn::{Purpose, ShownPlan, TurnEnding, TurnInput};
use crate::wire::text_enum;
use crate::workbook::WorkbookCommand;
use crate::workspace::{CallChanges, Undo, Workspace};

pub use crate::plan::content::{CallRunner, MetadataChange};
pub use crate::plan::creation::ImportedPlan;
pub use crate::plan::execution::StepOutcome;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    Session(SessionCommand),
    Draft(DraftCommand),
    Decide(Decision),
    Answer(AnswerCommand),
    #[serde(rename = "Run")]
    Execution(ExecutionCommand),
    Turn(TurnCommand),
    Workbook(WorkbookCommand),
    Memory(MemoryCommand),
    Auto(AutoCommand),
    Import(Box<ImportedPlan>),
    External(ExternalCommand),
}

/// About the session and its plan mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionCommand {
    /// Begins the session if it does not exist yet.
    Open,
    /// `/plan on`: a new plan, unless the active one is empty and of this style. `parked` is an earlier plan that is used
    /// again if it is empty.
    EnablePlanMode { style: PlanStyle, parked: Option<PlanId> },
    /// Plan work is on afterwards, on the plan it was on if that one is still alive.
    EnsurePlanMode { style: Option<PlanStyle>, parked: Option<PlanId> },
    /// `/plan off`
    DisablePlanMode,
    /// `/plan done`
    FinishPlanWork,
    /// `/reset`. Entries before `history_from` are known to belong to the conversation that ends.
    Reset { history_from: u64 },
    /// `/project`. Only a person chooses.
    ChooseWorkspace(Workspace),
    /// `/undo`, after the files were put back. Only a person can undo changes.
    RecordUndo(Box<Undo>),
    /// Names the session; `None` takes the name away.
    Rename { title: Option<String> },
    /// A program started `planwright mcp` for this session.
    SeeClient(AgentClient),
    /// Keeps a person's comments on a plan until they are sent with a decision. They replace the ones before.
    DraftReview { plan: PlanId, review: Review },
    /// Whether a person is satisfied with what became of a comment.
    ResolveComment { plan: PlanId, comment: CommentId, resolved: bool },
    /// Takes over what was said in a conversation of another program. It begins the session if it does not exist yet.
    TakeTurn(Box<ImportedTurn>),
}

/// A message and its answer in a conversation of another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedTurn {
    pub said: String,
    /// Blank if it was never answered.
    pub replied: String,
}

/// About the conversation and its open turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnCommand {
    /// A person said something, or the system begins a turn for a plan.
    Begin {
        text: String,
        tokens: u32,
        purpose: Purpose,
    },
    /// The system begins a turn for a document whose execution is as the caller saw it. Another process may have begun
    /// and ended one since.
    BeginDocument {
        text: String,
        tokens: u32,
        plan: PlanId,
        seen: Option<Pause>,
    },
    /// Continues the turn that another process left open.
    Resume {
        turn: TurnId,
    },
    /// What happened in the turn and, if that was all, how it ends.
    Record {
        turn: TurnId,
        inputs: Vec<TurnInput>,
        ending: Option<TurnEnding>,
    },
    /// A call of the turn continues only after a person's answer.
    Ask {
        turn: TurnId,
        call: u32,
        subject: AskSubject,
    },
    /// Ends the open turn, if there is one.
    Stop,
    Compact(Compaction),
    /// A person is shown this version of a plan.
    Show(ShownPlan),
}

/// What an agent does to the active plan while it drafts, all of it through tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DraftCommand {
    SetContent {
        markdown: String,
        title: Option<String>,
    },
    RecordStep {
        tool: String,
        arguments: Value,
    },
    Finalize {
        summary: Option<String>,
    },
    CreateDraft {
        goal: String,
        title: Option<String>,
    },
    SetMetadata(MetadataChange),
    AddStep(NewStep),
    UpdateStep {
        step: StepId,
        change: StepChange,
    },
    RemoveStep {
        step: StepId,
    },
    Submit {
        summary: Option<String>,
    },
    /// A new version with what the agent answers to comments. Both are written at once.
    Answered {
        draft: Box<DraftCommand>,
        answers: ReviewAnswers,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewStep {
    pub description: String,
    pub agent: String,
    /// From 1; at the end if absent.
    pub position: Option<usize>,
    pub needs: Vec<StepId>,
    pub verification: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// Only what is given changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepChange {
    pub description: Option<String>,
    pub agent: Option<String>,
    pub position: Option<usize>,
    pub needs: Option<Vec<StepId>>,
    pub verification: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<String>>,
}

/// What the agent of another program does through MCP, as far as it differs from what the agent of this program does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExternalCommand {
    /// A plan that is over gives way to a new one.
    SetContent {
        markdown: String,
        title: Option<String>,
        /// The digest of the version that the agent read. It is refused if the plan says something else.
        expected: Option<Digest>,
    },
    /// A call for the plan that is collected. A plan that is over gives way to a new one.
    AddCall { tool: String, arguments: Value, description: Option<String>, runner: CallRunner },
    /// A call for the round that is recorded beside the active plan. A round that is over gives way to the next one.
    RecordInRound { tool: String, arguments: Value },
    /// The round that is recorded is complete: a person decides about it.
    FinalizeRound { summary: Option<String> },
    /// A report on a step of the active plan, of whatever style.
    Report(ProgressReport),
    /// A call to an upstream server was asked about, or answered.
    RecordAsk { tool: String, arguments: Value, state: GatewayAsk },
    /// A call to an upstream server is made, or was made if it only reads.
    RecordCall(GatewayCallRecord),
    /// The outcome of a call that was recorded before.
    RecordCallEnd { call: RequestId, tool: String, outcome: StepOutcome },
    /// An upstream server asks the client something during a call or, with answers, is answered.
    RecordQuestions { tool: String, questions: Value, answers: Option<Value> },
    /// A call to an upstream server was refused. It is counted with the plan that is carried out.
    RecordRefused { tool: String, arguments: Value, refusal: Refusal },
    /// A new version with what the agent answers to comments. Both are written at once.
    Answered { command: Box<ExternalCommand>, answers: ReviewAnswers },
    /// A hook of the agent's client decided about a call of one of the client's own tools. It is counted with the plan that is
    /// carried out.
    CountCall { permissions: PermissionCounts },
    /// A hook asks a person about a call of one of the client's own tools. The same call is asked about once.
    AskClientCall(CallToPermit),
    /// The agent makes such a call, which was permitted once.
    TakeClientCall { ask: AskId },
}

/// What only a person decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    Approve {
        plan: PlanId,
        digest: Digest,
        selection: Selection,
        note: Option<String>,
        /// Whether the execution pauses after each step until a person has looked at it.
        #[serde(default)]
        step_by_step: bool,
        then: AfterApproval,
    },
    Reject {
        plan: PlanId,
        reason: Option<String>,
    },
    Revise {
        plan: PlanId,
        feedback: String,
    },
    Cancel {
        plan: PlanId,
        reason: Option<String>,
    },
    /// Carries on with an approved, paused or partially completed plan.
    Resume {
        plan: PlanId,
        /// The step that the person looked at, by its 1-based index. It is refused if another step ended since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_step: Option<usize>,
    },
    /// Settles a step that failed or whose result is unknown.
    Settle {
        plan: PlanId,
        step: StepId,
        choice: StuckChoice,
    },
    /// An approval or a request for changes, with comments on the plan.
    Reviewed {
        decision: Box<Decision>,
        review: Review,
    },
    /// An approval, with comments or without, and the approver's signature.
    Signed {
        decision: Box<Decision>,
        signature: ApprovalSignature,
    },
}

/// A person's answer to what a turn asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCommand {
    pub ask: AskId,
    pub digest: Digest,
    pub answer: AskAnswer,
}

/// What an approval leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterApproval {
    /// The work begins later, with a command of its own.
    Wait,
    /// The work begins with the approval, in the same entry of the journal or not at all.
    CarryOut,
}

text_enum! {
    pub enum StuckChoice {
        Retry = "retry",
        Skip = "skip",
        Stop = "stop",
    }
}

/// What carries a plan out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutionCommand {
    Start {
        plan: PlanId,
    },
    /// The outcome of steps, written after their work, and the intent of those that come next, written before it.
    Advance {
        plan: PlanId,
        execution: ExecutionId,
        ended: Vec<EndedStep>,
        begun: Vec<StepId>,
    },
    /// Ends the execution by what was done, with the outcome of its last steps if that is not written yet.
    Finish {
        plan: PlanId,
        execution: ExecutionId,
        ended: Vec<EndedStep>,
    },
    /// The execution waits for a person; this process does not work on it any more.
    Pause {
        plan: PlanId,
        execution: ExecutionId,
    },
    /// An agent's own report on the active document plan.
    Report(ProgressReport),
    /// A specialist's report on the step it was given.
    ReportOnStep {
        plan: PlanId,
        execution: ExecutionId,
        step: StepId,
        report: ProgressReport,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedStep {
    pub step: StepId,
    pub outcome: StepOutcome,
    /// What the call of the step did to files.
    #[serde(default, skip_serializing_if = "CallChanges::is_empty")]
    pub changes: CallChanges,
    /// How the call of the step was permitted.
    #[serde(default, skip_serializing_if = "PermissionCounts::is_zero")]
    pub permissions: PermissionCounts,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressReport {
    /// From 1; the step in progress, else the next one, if absent.
    pub step: Option<usize>,
    pub outcome: StepOutcome,
}

impl Command {
    /// The plan it names. Commands that name none act on the session or its active plan.
    pub fn subject(&self) -> Option<&PlanId> {
        match self {
            Self::Turn(TurnCommand::Show(shown)) => Some(&shown.plan),
            Self::Turn(TurnCommand::Begin { purpose, .. }) => purpose.plan(),
            Self::Turn(TurnCommand::BeginDocument { plan, .. }) => Some(plan),
            Self::Session(
                SessionCommand::EnablePlanMode { parked, .. } | SessionCommand::EnsurePlanMode { parked, .. },
            ) => parked.as_ref(),
            Self::Session(SessionCommand::RecordUndo(undo)) => undo.plan.as_ref(),
            Self::Session(SessionCommand::DraftReview { plan, .. } | SessionCommand::ResolveComment { plan, .. }) => {
                Some(plan)
            }
            Self::Session(_)
            | Self::Draft(_)
            | Self::External(_)
            | Self::Answer(_)
            | Self::Turn(_)
            | Self::Workbook(_)
            | Self::Memory(_)
            | Self::Auto(_) => None,
            Self::Decide(decision) => Some(decision.plan()),
            Self::Execution(command) => command.plan(),
            Self::Import(imported) => Some(&imported.id),
        }
    }

    /// The memory that it changes. The session knows which one an undo is about.
    pub fn memory_subject<'a>(&'a self, session: Option<&'a Session>) -> Option<&'a MemoryId> {
        match self {
            Self::Memory(command) => command.subject(session.map_or(&[], |session| &session.memory_changes)),
            Self::Session(_)
            | Self::Draft(_)
            | Self::External(_)
            | Self::Decide(_)
            | Self::Answer(_)
            | Self::Execution(_)
            | Self::Turn(_)
            | Self::Workbook(_)
            | Self::Auto(_)
            | Self::Import(_) => None,
        }
    }
}

impl Command {
    /// The command of an agent that answers comments with its new version of the plan. Other commands answer none.
    pub fn with_answers(self, answers: Option<ReviewAnswers>) -> Self {
        match (self, answers) {
            (Self::Draft(draft), Some(answers)) => {
                Self::Draft(DraftCommand::Answered { draft: Box::new(draft), answers })
            }
            (Self::External(command), Some(answers)) => {
                Self::External(ExternalCommand::Answered { command: Box::new(command), answers })
            }
            (command, _) => command,
        }
    }
}

impl Decision {
    pub fn plan(&self) -> &PlanId {
        match self {
            Self::Approve { plan, .. }
            | Self::Reject { plan, .. }
            | Self::Revise { plan, .. }
            | Self::Cancel { plan, .. }
            | Self::Resume { plan, .. }
            | Self::Settle { plan, .. } => plan,
            Self::Reviewed { decision, .. } | Self::Signed { decision, .. } => decision.plan(),
        }
    }
}

impl ExecutionCommand {
    pub fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::Start { plan }
            | Self::Advance { plan, .. }
            | Self::ReportOnStep { plan, .. }
            | Self::Pause { plan, .. }
            | Self::Finish { plan, .. } => Some(plan),
            Self::Report(_) => None,
        }
    }
}
