//! What happens in a turn.

use crate::model::ModelReply;
use crate::turn::{Purpose, ToolOutcome, TurnEnding, TurnInput};
use crate::wire::events;

events! {
    pub enum TurnEvent {
        "turn_begun" Begun {
            text: String,
            tokens: u32,
            #[serde(default, skip_serializing_if = "Purpose::is_answer")]
            purpose: Purpose,
        },
        /// Another process continues an interrupted turn.
        "turn_resumed" Resumed,
        "model_replied" ModelReplied { reply: ModelReply, tokens: u32 },
        "tool_ended" ToolEnded { call: u32, outcome: ToolOutcome, tokens: u32 },
        "turn_ended" Ended {
            #[serde(flatten)]
            ending: TurnEnding,
        },
    }
}

impl TurnEvent {
    /// The input that it gives to the turn's state machine.
    pub fn input(&self) -> Option<TurnInput> {
        match self {
            Self::ModelReplied { reply, tokens } => Some(TurnInput::Replied { reply: reply.clone(), tokens: *tokens }),
            Self::ToolEnded { call, outcome, tokens } => {
                Some(TurnInput::ToolEnded { call: *call, outcome: outcome.clone(), tokens: *tokens })
            }
            Self::Begun { .. } | Self::Resumed | Self::Ended { .. } => None,
        }
    }
}

impl From<TurnInput> for TurnEvent {
    fn from(input: TurnInput) -> Self {
        match input {
            TurnInput::Replied { reply, tokens } => Self::ModelReplied { reply, tokens },
            TurnInput::ToolEnded { call, outcome, tokens } => Self::ToolEnded { call, outcome, tokens },
        }
    }
}
