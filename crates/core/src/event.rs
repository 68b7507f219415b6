//! Everything that can have happened in a session. Events are facts: they are never refused.

use serde::{Deserialize, Serialize};

use crate::command::{ImportedPlan, MetadataChange, Outcome};
use crate::conversation::Compaction;
use crate::ids::{ExecutionId, PlanId, StepId, TurnId};
use crate::mode::ModeEnd;
use crate::model::ModelReply;
use crate::plan::content::{AgentStep, RecordedCall};
use crate::plan::{Approval, Execution, PlanContent, PlanStatus, PlanStyle};
use crate::turn::{Ending, Purpose, Shown, ToolOutcome, TurnInput};
use crate::workbook::{DocumentKind, Documents, Judged, WriteOrigin};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    SessionOpened,
    /// The model does not read what was said before it any more.
    ConversationReset {
        /// No entry before this one is about the conversation that begins now.
        #[serde(default)]
        history_from: u64,
    },
    PlanModeEnabled {
        style: PlanStyle,
        plan: PlanId,
    },
    PlanModeDisabled {
        end: ModeEnd,
    },

    TurnBegun {
        turn: TurnId,
        text: String,
        tokens: u32,
        #[serde(default, skip_serializing_if = "Purpose::is_answer")]
        purpose: Purpose,
    },
    /// Somebody else takes an interrupted turn up again.
    TurnResumed {
        turn: TurnId,
    },
    ModelReplied {
        turn: TurnId,
        reply: ModelReply,
        tokens: u32,
    },
    ToolEnded {
        turn: TurnId,
        call: u32,
        outcome: ToolOutcome,
        tokens: u32,
    },
    TurnEnded {
        turn: TurnId,
        #[serde(flatten)]
        ending: Ending,
    },
    Compacted(Compaction),
    PlanShown(Shown),

    /// The planning files are there from now on, or not any more.
    WorkbookSwitched {
        on: bool,
    },
    WorkbookBegun {
        title: String,
        documents: Documents<String>,
    },
    /// A new version of one document, whole.
    WorkbookWritten {
        which: DocumentKind,
        version: u32,
        /// The entry that has the version before it.
        follows: u64,
        content: String,
        why: WriteOrigin,
    },
    /// What is there is kept under a name; a new workbook can begin.
    WorkbookArchived {
        name: String,
    },
    WorkbookCleared,
    /// Whether a message is worth a workbook, and why.
    WorkbookJudged(Judged),

    PlanCreated(Box<Creation>),
    PlanImported {
        number: u32,
        plan: Box<ImportedPlan>,
    },
    ContentSet {
        plan: PlanId,
        markdown: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    StepRecorded {
        plan: PlanId,
        step: RecordedCall,
    },
    MetadataSet {
        plan: PlanId,
        change: MetadataChange,
    },
    StepAdded {
        plan: PlanId,
        index: usize,
        step: AgentStep,
    },
    StepUpdated {
        plan: PlanId,
        index: usize,
        step: AgentStep,
    },
    StepRemoved {
        plan: PlanId,
        step: StepId,
    },
    PlanFinalized {
        plan: PlanId,
        summary: Option<String>,
    },

    PlanApproved {
        plan: PlanId,
        approval: Approval,
    },
    PlanRejected {
        plan: PlanId,
        reason: Option<String>,
    },
    RevisionRequested {
        plan: PlanId,
        feedback: String,
    },
    PlanCancelled {
        plan: PlanId,
        reason: Option<String>,
    },
    PlanSuperseded {
        plan: PlanId,
        by: PlanId,
    },

    ExecutionStarted {
        plan: PlanId,
        execution: Execution,
    },
    /// No process works on it any more; it waits for a person.
    ExecutionPaused {
        plan: PlanId,
        execution: ExecutionId,
        /// How many turns in a row the system began for it, none of which recorded any progress.
        idle_turns: u32,
    },
    /// A person asked for a paused execution to continue.
    ExecutionResumed {
        plan: PlanId,
        execution: ExecutionId,
    },
    StepBegun {
        plan: PlanId,
        execution: ExecutionId,
        step: StepId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    StepEnded {
        plan: PlanId,
        execution: ExecutionId,
        step: StepId,
        outcome: Outcome,
    },
    ExecutionFinished {
        plan: PlanId,
        execution: ExecutionId,
        status: PlanStatus,
    },
}

/// How much of a plan an event changes. Whatever else it is, the time of the plan's last change goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanChange<'a> {
    /// Anything but how the steps of its execution went.
    Plan,
    /// The plan and how each of its steps went.
    Everything,
    /// How this one step went.
    Run(&'a StepId),
    /// Whether its execution waits for a person.
    Pause,
}

/// A new plan, and what it begins with if it takes another one's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Creation {
    pub plan: PlanId,
    pub number: u32,
    pub style: PlanStyle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeds: Option<Succession>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Succession {
    pub of: PlanId,
    pub title: Option<String>,
    pub content: PlanContent,
    pub steps_made: u32,
}

impl Event {
    /// The plan it is about.
    pub fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::SessionOpened
            | Self::ConversationReset { .. }
            | Self::PlanModeDisabled { .. }
            | Self::TurnBegun { .. }
            | Self::TurnResumed { .. }
            | Self::ModelReplied { .. }
            | Self::ToolEnded { .. }
            | Self::TurnEnded { .. }
            | Self::Compacted(_)
            | Self::WorkbookSwitched { .. }
            | Self::WorkbookBegun { .. }
            | Self::WorkbookWritten { .. }
            | Self::WorkbookArchived { .. }
            | Self::WorkbookCleared
            | Self::WorkbookJudged(_)
            // The session remembers what was shown; the plan stays as it is.
            | Self::PlanShown(_) => None,
            Self::PlanCreated(creation) => Some(&creation.plan),
            Self::PlanImported { plan, .. } => Some(&plan.id),
            Self::PlanModeEnabled { plan, .. }
            | Self::ContentSet { plan, .. }
            | Self::StepRecorded { plan, .. }
            | Self::MetadataSet { plan, .. }
            | Self::StepAdded { plan, .. }
            | Self::StepUpdated { plan, .. }
            | Self::StepRemoved { plan, .. }
            | Self::PlanFinalized { plan, .. }
            | Self::PlanApproved { plan, .. }
            | Self::PlanRejected { plan, .. }
            | Self::RevisionRequested { plan, .. }
            | Self::PlanCancelled { plan, .. }
            | Self::PlanSuperseded { plan, .. }
            | Self::ExecutionStarted { plan, .. }
            | Self::ExecutionPaused { plan, .. }
            | Self::ExecutionResumed { plan, .. }
            | Self::StepBegun { plan, .. }
            | Self::StepEnded { plan, .. }
            | Self::ExecutionFinished { plan, .. } => Some(plan),
        }
    }

    /// The turn it belongs to.
    pub const fn turn(&self) -> Option<&TurnId> {
        match self {
            Self::TurnBegun { turn, .. }
            | Self::TurnResumed { turn }
            | Self::ModelReplied { turn, .. }
            | Self::ToolEnded { turn, .. }
            | Self::TurnEnded { turn, .. } => Some(turn),
            _ => None,
        }
    }

    /// What it tells the turn it belongs to.
    pub fn turn_input(&self) -> Option<TurnInput> {
        match self {
            Self::ModelReplied { reply, tokens, .. } => {
                Some(TurnInput::Replied { reply: reply.clone(), tokens: *tokens })
            }
            Self::ToolEnded { call, outcome, tokens, .. } => {
                Some(TurnInput::ToolEnded { call: *call, outcome: outcome.clone(), tokens: *tokens })
            }
            _ => None,
        }
    }

    /// Whether it changes what is known about the session as a whole.
    pub const fn changes_session(&self) -> bool {
        match self {
            Self::SessionOpened
            | Self::PlanModeEnabled { .. }
            | Self::PlanModeDisabled { .. }
            | Self::PlanCreated(_)
            | Self::PlanImported { .. }
            | Self::PlanSuperseded { .. }
            | Self::TurnBegun { .. }
            | Self::TurnResumed { .. }
            | Self::ModelReplied { .. }
            | Self::ToolEnded { .. }
            | Self::TurnEnded { .. }
            | Self::Compacted(_)
            | Self::WorkbookSwitched { .. }
            | Self::WorkbookBegun { .. }
            | Self::WorkbookWritten { .. }
            | Self::WorkbookArchived { .. }
            | Self::WorkbookCleared
            | Self::WorkbookJudged(_)
            | Self::PlanShown(_)
            | Self::ConversationReset { .. } => true,
            Self::ContentSet { .. }
            | Self::StepRecorded { .. }
            | Self::MetadataSet { .. }
            | Self::StepAdded { .. }
            | Self::StepUpdated { .. }
            | Self::StepRemoved { .. }
            | Self::PlanFinalized { .. }
            | Self::PlanApproved { .. }
            | Self::PlanRejected { .. }
            | Self::RevisionRequested { .. }
            | Self::PlanCancelled { .. }
            | Self::ExecutionStarted { .. }
            | Self::ExecutionPaused { .. }
            | Self::ExecutionResumed { .. }
            | Self::StepBegun { .. }
            | Self::StepEnded { .. }
            | Self::ExecutionFinished { .. } => false,
        }
    }

    /// What it changes of the plan it is about; `None` if that stays as it is.
    pub const fn plan_change(&self) -> Option<PlanChange<'_>> {
        match self {
            Self::SessionOpened
            | Self::ConversationReset { .. }
            | Self::PlanModeEnabled { .. }
            | Self::PlanModeDisabled { .. }
            | Self::TurnBegun { .. }
            | Self::TurnResumed { .. }
            | Self::ModelReplied { .. }
            | Self::ToolEnded { .. }
            | Self::TurnEnded { .. }
            | Self::Compacted(_)
            | Self::WorkbookSwitched { .. }
            | Self::WorkbookBegun { .. }
            | Self::WorkbookWritten { .. }
            | Self::WorkbookArchived { .. }
            | Self::WorkbookCleared
            | Self::WorkbookJudged(_)
            | Self::PlanShown(_) => None,
            Self::PlanCreated(_)
            | Self::ContentSet { .. }
            | Self::StepRecorded { .. }
            | Self::MetadataSet { .. }
            | Self::StepAdded { .. }
            | Self::StepUpdated { .. }
            | Self::StepRemoved { .. }
            | Self::PlanFinalized { .. }
            | Self::PlanApproved { .. }
            | Self::PlanRejected { .. }
            | Self::RevisionRequested { .. }
            | Self::PlanCancelled { .. }
            | Self::PlanSuperseded { .. }
            | Self::ExecutionFinished { .. } => Some(PlanChange::Plan),
            Self::PlanImported { .. } | Self::ExecutionStarted { .. } => Some(PlanChange::Everything),
            Self::StepBegun { step, .. } | Self::StepEnded { step, .. } => Some(PlanChange::Run(step)),
            Self::ExecutionPaused { .. } | Self::ExecutionResumed { .. } => Some(PlanChange::Pause),
        }
    }

    /// The name it has in the journal, in the event stream and in the user interface.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SessionOpened => "session_opened",
            Self::ConversationReset { .. } => "conversation_reset",
            Self::PlanModeEnabled { .. } => "plan_mode_enabled",
            Self::PlanModeDisabled { .. } => "plan_mode_disabled",
            Self::TurnBegun { .. } => "turn_begun",
            Self::TurnResumed { .. } => "turn_resumed",
            Self::ModelReplied { .. } => "model_replied",
            Self::ToolEnded { .. } => "tool_ended",
            Self::TurnEnded { .. } => "turn_ended",
            Self::Compacted(_) => "compacted",
            Self::PlanShown(_) => "plan_shown",
            Self::WorkbookSwitched { .. } => "workbook_switched",
            Self::WorkbookBegun { .. } => "workbook_begun",
            Self::WorkbookWritten { .. } => "workbook_written",
            Self::WorkbookArchived { .. } => "workbook_archived",
            Self::WorkbookCleared => "workbook_cleared",
            Self::WorkbookJudged(_) => "workbook_judged",
            Self::PlanCreated(_) => "plan_created",
            Self::PlanImported { .. } => "plan_imported",
            Self::ContentSet { .. } => "content_set",
            Self::StepRecorded { .. } => "step_recorded",
            Self::MetadataSet { .. } => "metadata_set",
            Self::StepAdded { .. } => "step_added",
            Self::StepUpdated { .. } => "step_updated",
            Self::StepRemoved { .. } => "step_removed",
            Self::PlanFinalized { .. } => "plan_finalized",
            Self::PlanApproved { .. } => "plan_approved",
            Self::PlanRejected { .. } => "plan_rejected",
            Self::RevisionRequested { .. } => "revision_requested",
            Self::PlanCancelled { .. } => "plan_cancelled",
            Self::PlanSuperseded { .. } => "plan_superseded",
            Self::ExecutionStarted { .. } => "execution_started",
            Self::ExecutionPaused { .. } => "execution_paused",
            Self::ExecutionResumed { .. } => "execution_resumed",
            Self::StepBegun { .. } => "step_begun",
            Self::StepEnded { .. } => "step_ended",
            Self::ExecutionFinished { .. } => "execution_finished",
        }
    }
}
