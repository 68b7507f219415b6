//! The context of a run. A run always has a task. It has a goal if and only if it is a `GOAL_RUN`; any other combination
//! cannot be written down.

use serde::{Deserialize, Serialize};

use crate::identity::SessionIdentity;
use crate::ids::{GoalId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::wire::text_enum;

/// One run of the agent by itself, in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct AutoExecutionContext {
    pub session: SessionIdentity,
    pub run_id: RunId,
    pub target: RunTarget,
    /// Runs of earlier versions stay in the conversation of their session.
    pub conversation: RunConversation,
}

/// Where the turns of a run belong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum RunConversation {
    /// In a conversation of its own, which begins anew with each task.
    #[default]
    Own,
    /// In the conversation with the person.
    Session,
}

impl RunConversation {
    /// The first entry of a conversation that begins with the entry `seq`. The one of the session is read from where the session says.
    pub(crate) const fn begins_at(self, seq: u64) -> u64 {
        match self {
            Self::Own => seq,
            Self::Session => 0,
        }
    }
}

/// What a run works on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RunTarget {
    /// A task of a goal.
    Goal { goal: GoalId, task: TaskId },
    /// A task of its own.
    Task { task: TaskId },
}

text_enum! {
    pub enum RunKind or "is not a kind of run; kinds are" {
        Goal = "GOAL_RUN",
        Task = "TASK_RUN",
    }
}

impl RunTarget {
    /// The target with these parts, if they belong together.
    pub fn of(kind: RunKind, goal: Option<GoalId>, task: TaskId) -> Result<Self, Refusal> {
        match (kind, goal) {
            (RunKind::Goal, Some(goal)) => Ok(Self::Goal { goal, task }),
            (RunKind::Task, None) => Ok(Self::Task { task }),
            (RunKind::Goal, None) => Err(Refusal::invalid("A GOAL_RUN has a goal, and this one has none.")),
            (RunKind::Task, Some(goal)) => {
                Err(Refusal::invalid(format!("A TASK_RUN has no goal, and this one has goal {goal}.")))
            }
        }
    }
}

impl AutoExecutionContext {
    pub fn new(session: SessionIdentity, run_id: RunId, target: RunTarget) -> Self {
        Self { session, run_id, target, conversation: RunConversation::Own }
    }

    pub const fn run_kind(&self) -> RunKind {
        match self.target {
            RunTarget::Goal { .. } => RunKind::Goal,
            RunTarget::Task { .. } => RunKind::Task,
        }
    }

    pub const fn goal_id(&self) -> Option<&GoalId> {
        match &self.target {
            RunTarget::Goal { goal, .. } => Some(goal),
            RunTarget::Task { .. } => None,
        }
    }

    /// The context of this run while it works on another task.
    pub fn with_task(&self, task: TaskId) -> Self {
        let target = match &self.target {
            RunTarget::Goal { goal, .. } => RunTarget::Goal { goal: goal.clone(), task },
            RunTarget::Task { .. } => RunTarget::Task { task },
        };
        Self { target, ..self.clone() }
    }

    pub const fn has_own_conversation(&self) -> bool {
        matches!(self.conversation, RunConversation::Own)
    }

    pub const fn task_id(&self) -> &TaskId {
        match &self.target {
            RunTarget::Goal { task, .. } | RunTarget::Task { task } => task,
        }
    }
}

/// The context as it is stored and sent: flat, with the kind beside the ids.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    session: SessionIdentity,
    run_kind: RunKind,
    run_id: RunId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal_id: Option<GoalId>,
    task_id: TaskId,
    #[serde(default, skip_serializing_if = "is_false")]
    own_conversation: bool,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

impl From<AutoExecutionContext> for Fields {
    fn from(context: AutoExecutionContext) -> Self {
        let run_kind = context.run_kind();
        let own_conversation = context.has_own_conversation();
        let AutoExecutionContext { session, run_id, target, conversation: _ } = context;
        let (goal_id, task_id) = match target {
            RunTarget::Goal { goal, task } => (Some(goal), task),
            RunTarget::Task { task } => (None, task),
        };
        Self { session, run_kind, run_id, goal_id, task_id, own_conversation }
    }
}

impl TryFrom<Fields> for AutoExecutionContext {
    type Error = Refusal;

    fn try_from(fields: Fields) -> Result<Self, Refusal> {
        let Fields { session, run_kind, run_id, goal_id, task_id, own_conversation } = fields;
        let conversation = if own_conversation { RunConversation::Own } else { RunConversation::Session };
        Ok(Self { session, run_id, target: RunTarget::of(run_kind, goal_id, task_id)?, conversation })
    }
}
