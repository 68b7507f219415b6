//! Tools of upstream MCP servers: how a server and its tools are named here, what of a tool is pinned, and how a list of
//! tools differs from the list that a person accepted.
//!
//! - [`ServerName`], [`offered_names`]: names that every provider takes
//! - [`UpstreamTool`]: one tool as its server describes it, and the effect that its annotations claim
//! - [`ToolDifference`]: what a person is shown before accepting a list

mod difference;
mod names;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::gate::ToolEffect;
use crate::plan::Digest;

pub use difference::{ChangedTool, ToolDifference};
pub use names::{LONGEST_TOOL_NAME, ServerName, offered_names};

/// A tool as its server describes it. Everything here is pinned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpstreamTool {
    /// As the server calls it.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default)]
    pub description: String,
    pub input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    #[serde(default)]
    pub annotations: UpstreamAnnotations,
}

/// What a server claims about a tool. Only a person's trust makes it count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamAnnotations {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
}

/// Whether the annotations of a server count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnnotationTrust {
    #[default]
    Ignored,
    Trusted,
}

impl UpstreamTool {
    pub fn digest(&self) -> Digest {
        Digest::of_value("planwright-upstream-tool-v1", &json!(self))
    }

    /// A tool changes things unless the person trusts the server and the server says otherwise.
    pub fn effect(&self, trust: AnnotationTrust) -> ToolEffect {
        match trust {
            AnnotationTrust::Ignored => ToolEffect::Changes,
            AnnotationTrust::Trusted if self.annotations.read_only == Some(true) => ToolEffect::ReadsOnly,
            AnnotationTrust::Trusted if self.annotations.idempotent == Some(true) => ToolEffect::Repeatable,
            AnnotationTrust::Trusted => ToolEffect::Changes,
        }
    }
}

/// The digest of a list of tools, whatever their order.
pub fn list_digest(tools: &[UpstreamTool]) -> Digest {
    let mut digests: Vec<_> = tools.iter().map(|tool| tool.digest().to_string()).collect();
    digests.sort_unstable();
    Digest::of_value("planwright-upstream-list-v1", &json!(digests))
}
