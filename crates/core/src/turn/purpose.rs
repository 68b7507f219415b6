//! What a turn is for.

use serde::{Deserialize, Serialize};

use crate::auto::AutoExecutionContext;
use crate::ids::{ExecutionId, PlanId, StepId, TurnId};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Purpose {
    /// To answer a person.
    #[default]
    Answer,
    /// To carry out a document, in the conversation.
    Document { plan: PlanId },
    /// To do one step of a plan, apart from the conversation.
    Step {
        plan: PlanId,
        execution: ExecutionId,
        step: StepId,
        /// The specialist who does it.
        agent: String,
    },
    /// To answer a question that came up in another turn, apart from the conversation.
    Question { agent: String, asked_by: TurnId },
    /// To work by itself, as a tick of this run, in the conversation of the run.
    Run(Box<AutoExecutionContext>),
}

impl Purpose {
    /// Whether what is said in the turn belongs to the conversation with the person.
    pub fn is_conversation(&self) -> bool {
        match self {
            Self::Answer | Self::Document { .. } => true,
            Self::Run(context) => !context.has_own_conversation(),
            Self::Step { .. } | Self::Question { .. } => false,
        }
    }

    /// Whether the turn is part of an execution or of another turn, and ends with it.
    pub const fn is_part(&self) -> bool {
        match self {
            Self::Answer | Self::Document { .. } | Self::Run(_) => false,
            Self::Step { .. } | Self::Question { .. } => true,
        }
    }

    pub(crate) const fn is_answer(&self) -> bool {
        matches!(self, Self::Answer)
    }

    /// The plan that is carried out.
    pub const fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::Document { plan } | Self::Step { plan, .. } => Some(plan),
            Self::Answer | Self::Question { .. } | Self::Run(_) => None,
        }
    }

    /// The run that the turn is a tick of.
    pub fn run(&self) -> Option<&AutoExecutionContext> {
        match self {
            Self::Run(context) => Some(context),
            Self::Answer | Self::Document { .. } | Self::Step { .. } | Self::Question { .. } => None,
        }
    }
}
