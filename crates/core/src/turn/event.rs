//! What happens in a turn.

use serde_json::Value;

use crate::ask::{CallToPermit, Grant, Question};
use crate::ids::{AskId, ExecutionId};
use crate::model::ModelReply;
use crate::plan::execution::PermissionCounts;
use crate::plan::{Digest, Touches};
use crate::turn::{Purpose, ToolOutcome, TurnEnding, TurnInput};
use crate::wire::events;
use crate::workspace::CallChanges;

events! {
    pub enum TurnEvent {
        "turn_begun" Begun {
            text: String,
            tokens: u32,
            #[serde(default, skip_serializing_if = "Purpose::is_answer")]
            purpose: Purpose,
        } => { run: purpose.run().map(|context| &context.run_id), audit: "a turn began" },
        /// Another process continues an interrupted turn.
        "turn_resumed" Resumed => { audit: "an interrupted turn was resumed" },
        "model_replied" ModelReplied { reply: ModelReply, tokens: u32 },
        "tool_ended" ToolEnded { call: u32, outcome: ToolOutcome, tokens: u32 },
        /// The turn waits for a person's permission.
        "permission_asked" PermissionAsked {
            ask: AskId,
            call: u32,
            digest: Digest,
            #[serde(flatten)]
            asked: CallToPermit,
        } => { audit: "a turn asks for permission" },
        "permission_answered" PermissionAnswered {
            ask: AskId,
            grant: Grant,
            #[serde(rename = "words", default, skip_serializing_if = "Option::is_none")]
            note: Option<String>,
            /// What the person changed the arguments to: the call that runs is this one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            arguments: Option<Box<Value>>,
            /// The execution that it is granted for.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            execution: Option<ExecutionId>,
        } => { audit: "a person answered whether a call may run" },
        /// The turn waits for a person's answers.
        "questions_asked" QuestionsAsked { ask: AskId, call: u32, digest: Digest, questions: Vec<Question> } => {
            audit: "a turn asks a person",
        },
        "questions_answered" QuestionsAnswered { ask: AskId, answers: Vec<String> } => {
            audit: "a person answered what a turn asks",
        },
        "turn_ended" Ended {
            #[serde(flatten)]
            ending: TurnEnding,
        } => { audit: "a turn ended" },
    }
}

impl TurnEvent {
    /// The input that it gives to the turn's state machine, which does not know of files and permissions.
    pub fn input(&self) -> Option<TurnInput> {
        match self {
            Self::ModelReplied { reply, tokens } => Some(TurnInput::Replied { reply: reply.clone(), tokens: *tokens }),
            Self::ToolEnded { call, outcome, tokens } => {
                let (outcome, changes) = (outcome.clone(), CallChanges::default());
                let permissions = PermissionCounts::default();
                Some(TurnInput::ToolEnded { call: *call, outcome, tokens: *tokens, changes, permissions })
            }
            _ => None,
        }
    }
}

impl From<TurnInput> for TurnEvent {
    fn from(input: TurnInput) -> Self {
        match input {
            TurnInput::Replied { reply, tokens } => Self::ModelReplied { reply, tokens },
            TurnInput::ToolEnded { call, outcome, tokens, changes: _, permissions: _ } => {
                Self::ToolEnded { call, outcome, tokens }
            }
        }
    }
}
