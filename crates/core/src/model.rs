//! What a model is asked and what it answers, in our own words. Providers' wire formats are translated elsewhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything that goes out in one call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelRequest {
    pub system: String,
    pub messages: Vec<ModelMessage>,
    pub tools: Arc<[ToolSpec]>,
    /// At most this much is wanted back.
    pub max_output_tokens: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ModelMessage {
    User {
        text: String,
    },
    Assistant {
        text: String,
        calls: Vec<SentCall>,
    },
    /// The result of a call. It follows the reply that made the call.
    ToolResult {
        id: String,
        name: String,
        text: String,
        failed: bool,
    },
}

/// A call as it is sent back in the history, with the id that ties its result to it. The ids are ours: providers differ
/// in theirs, and some have none.
#[derive(Debug, Clone, PartialEq)]
pub struct SentCall {
    pub id: String,
    pub call: ToolCall,
}

/// A tool as it is advertised.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    #[serde(default)]
    pub usage: Usage,
    /// The model stopped because it was allowed no more words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub name: String,
    /// As the model wrote them: usually a JSON object, sometimes not.
    pub arguments: String,
    /// Opaque; some providers want it back with the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

/// What the provider says it counted; zero where it says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl Usage {
    pub const fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::Add for Usage {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}
