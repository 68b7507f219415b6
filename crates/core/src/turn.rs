//! The turn as a state machine: what was said and done goes in, what is to be done next comes out. It has no clock and
//! does nothing itself. The engine carries its effects out and records their results in the journal, so that a turn
//! that a crash interrupts continues where it stopped.

mod event;
mod limits;
mod machine;
mod purpose;
mod tick;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::ids::{AskId, PlanId, TurnId};
use crate::model::ModelReply;
use crate::plan::Digest;
use crate::plan::execution::PermissionCounts;
use crate::workspace::CallChanges;

pub use event::TurnEvent;
pub use limits::{TurnLimit, TurnLimits};
pub use machine::{Effect, EndReason, PendingCall, Turn};
pub use purpose::Purpose;
pub use tick::TickProgress;

/// Something that happened in a turn and goes into the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnInput {
    Replied {
        reply: ModelReply,
        tokens: u32,
    },
    ToolEnded {
        /// 1-based index of the call within the turn.
        call: u32,
        outcome: ToolOutcome,
        tokens: u32,
        /// What the call did to files. It has an entry of its own in the journal.
        #[serde(default, skip_serializing_if = "CallChanges::is_empty")]
        changes: CallChanges,
        /// How the call was permitted. It has an entry of its own in the journal if the turn carries out a plan.
        #[serde(default, skip_serializing_if = "PermissionCounts::is_zero")]
        permissions: PermissionCounts,
    },
}

/// The result of a tool call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcome {
    pub status: ToolStatus,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Done,
    /// Written down as a step instead of being run.
    Planned,
    /// A plan tool that ended the planning: the plan now waits for a person, or there was nothing in it.
    Settled,
    /// It did not run: not allowed, unknown, or called with wrong arguments.
    Refused,
    Failed,
    TimedOut,
    /// A crash came between its beginning and its end, and it cannot simply be done again.
    Uncertain,
}

impl ToolStatus {
    pub const fn is_failure(self) -> bool {
        match self {
            Self::Done | Self::Planned | Self::Settled => false,
            Self::Refused | Self::Failed | Self::TimedOut | Self::Uncertain => true,
        }
    }
}

/// How a turn ended, and what the person reads about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnding {
    pub end: TurnEnd,
    /// What is said besides the model's last reply.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens: u32,
    /// The plan that the answer shows, as it was when it was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<ShownPlan>,
}

impl From<TurnEnd> for TurnEnding {
    fn from(end: TurnEnd) -> Self {
        Self { end, text: String::new(), tokens: 0, shown: None }
    }
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model answered in words.
    Answered,
    /// A plan was finalised or submitted and waits for a person.
    PlanReady {
        plan: PlanId,
    },
    /// A plan was finalised without a single step.
    NothingPlanned {
        plan: PlanId,
    },
    /// A person said stop.
    Stopped,
    LimitReached {
        limit: TurnLimit,
    },
    /// The model asks for the same thing again and again.
    Looping,
    /// The model answered with nothing, more than once.
    NoAnswer,
    ModelFailed {
        message: String,
    },
    /// The program ended in the middle of it too often.
    Interrupted,
}

impl TurnEnd {
    /// Every name that [`Self::name`] gives.
    pub const NAMES: [&str; 9] = [
        "answered",
        "plan_ready",
        "nothing_planned",
        "stopped",
        "limit_reached",
        "looping",
        "no_answer",
        "model_failed",
        "interrupted",
    ];

    pub const fn name(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::PlanReady { .. } => "plan_ready",
            Self::NothingPlanned { .. } => "nothing_planned",
            Self::Stopped => "stopped",
            Self::LimitReached { .. } => "limit_reached",
            Self::Looping => "looping",
            Self::NoAnswer => "no_answer",
            Self::ModelFailed { .. } => "model_failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// The plan that was finalised or submitted.
    pub const fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::PlanReady { plan } | Self::NothingPlanned { plan } => Some(plan),
            Self::Answered
            | Self::Stopped
            | Self::LimitReached { .. }
            | Self::Looping
            | Self::NoAnswer
            | Self::ModelFailed { .. }
            | Self::Interrupted => None,
        }
    }
}

/// A version of a plan that a person was shown in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPlan {
    pub plan: PlanId,
    pub digest: Digest,
}

/// What is said at the end of a run's turn whose process ended.
pub const INTERRUPTED_RUN: &str =
    "The program ended in the middle of this turn, so the run is interrupted. `/auto resume` starts it again.";

/// What the session knows of its open turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTurn {
    pub id: TurnId,
    pub begun_at: Timestamp,
    #[serde(default, skip_serializing_if = "Purpose::is_answer")]
    pub purpose: Purpose,
    /// Calls the model made in it, and how many of them have an outcome. They end in the order they were made.
    pub calls: u32,
    pub ended: u32,
    /// How often it was resumed after a crash.
    pub resumed: u32,
    /// It is unknown whether one of its calls was carried out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub uncertain: bool,
    /// What it asks a person before its next call continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// The question to a specialist that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<OpenTurn>>,
    /// What it has done so far, if it is a tick of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<Box<TickProgress>>,
}

impl OpenTurn {
    pub fn begun(id: TurnId, at: Timestamp, purpose: Purpose) -> Self {
        let tick = purpose.run().map(|context| Box::new(TickProgress::begun(context.conversation, at)));
        let (ask, question) = (None, None);
        Self { id, begun_at: at, purpose, calls: 0, ended: 0, resumed: 0, uncertain: false, ask, question, tick }
    }

    /// This turn or the question it waits for, whichever has this name.
    pub fn named(&self, id: &TurnId) -> Option<&Self> {
        if self.id == *id { Some(self) } else { self.question.as_ref()?.named(id) }
    }

    /// What it or the specialist whose answer it waits for asked last, if it has this id.
    pub fn asked(&self, id: &AskId) -> Option<&Ask> {
        let own = self.ask.as_ref().filter(|ask| ask.id == *id);
        own.or_else(|| self.question.as_ref()?.asked(id))
    }

    /// What it asks a person, itself or through the specialist whose answer it waits for.
    pub fn waiting_ask(&self) -> Option<&Ask> {
        let own = self.ask.as_ref().filter(|ask| ask.is_waiting());
        own.or_else(|| self.question.as_ref()?.waiting_ask())
    }

    pub(crate) fn named_mut(&mut self, id: &TurnId) -> Option<&mut Self> {
        if self.id == *id { Some(self) } else { self.question.as_mut()?.named_mut(id) }
    }

    pub(crate) fn apply(&mut self, input: &TurnInput) {
        match input {
            TurnInput::Replied { reply, .. } => self.calls += u32::try_from(reply.calls.len()).unwrap_or(u32::MAX),
            TurnInput::ToolEnded { outcome, .. } => {
                self.ended += 1;
                self.ask = None;
                self.uncertain |= outcome.status == ToolStatus::Uncertain;
            }
        }
    }
}
