//! Tools of upstream MCP servers: how a server and its tools are named here, what of a tool is pinned, and how a list of
//! tools differs from the list that a person accepted.
//!
//! - [`ServerName`], [`offered_names`]: names that every provider takes
//! - [`UpstreamTool`]: one tool as its server describes it, and the effect that its annotations claim
//! - [`ToolDifference`]: what differs between the accepted tools and the offered ones
//! - [`check_tool_name`], [`no_such_tool`]: names that no tool has, with the nearest ones
//! - [`argument_problems`]: where arguments do not fit the schema of a tool
//! - [`why_not_made`]: why the call of an approved plan cannot be made
//! - `approved_call`: a call of an approved plan compared with what is known of its server
//! - `arguments`: arguments compared with a JSON schema
//! - `card`: the text that a person is shown before accepting it, the same on every surface
//! - `difference`: what changed between the tools that a person accepted and the tools that a server offers now
//! - `names`: names that every provider of models takes: at most 64 letters, digits, `_` and `-`
//! - [`ServerReach`]: what a server may reach, as people are told
//! - [`look_alikes`]: names of a server and of its tools that look like others
//! - `reach`: what the program of a server may reach, as a person reads it before accepting it
//! - `look_alikes`: names that a person could take for another one
//! - `similar`: names that look like another one

mod approved_call;
mod arguments;
mod card;
mod difference;
mod look_alikes;
mod names;
mod reach;
mod similar;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::gate::ToolEffect;
use crate::located_program::LocatedProgram;
use crate::model::ToolSpec;
use crate::plan::Digest;
use crate::visible::visible;

pub use approved_call::{KnownTools, why_not_made};
pub use arguments::argument_problems;
pub use difference::{ChangedTool, ToolDifference};
pub use look_alikes::{KnownServer, look_alikes};
pub use names::{
    COMPLETE_ARGUMENT, MAX_TOOL_NAME, READ_PROMPT, READ_RESOURCE, SUBSCRIBE_RESOURCE, ServerName, offered_names,
};
pub use reach::{AddressReach, ProgramReach, ServerReach, reach_digest};
pub use similar::{check_tool_name, no_such, no_such_tool};

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
    /// The configuration says nothing about it. The store may say that they count.
    #[default]
    Unset,
    Ignored,
    Trusted,
}

impl UpstreamTool {
    pub fn digest(&self) -> Digest {
        Digest::of_value("planwright-upstream-tool-v1", &json!(self))
    }

    /// The tool as a model reads it, under this name.
    pub fn spec(&self, name: String) -> ToolSpec {
        ToolSpec {
            name,
            // Characters that hide text would hide it from a person who looks at the request.
            description: visible(&self.description).into_owned(),
            input_schema: self.input_schema.clone(),
        }
    }

    /// A tool changes things unless the person trusts the server and the server says otherwise.
    pub fn effect(&self, trust: AnnotationTrust) -> ToolEffect {
        match trust {
            AnnotationTrust::Unset | AnnotationTrust::Ignored => ToolEffect::Changes,
            AnnotationTrust::Trusted if self.annotations.read_only == Some(true) => ToolEffect::ReadsOnly,
            AnnotationTrust::Trusted if self.annotations.idempotent == Some(true) => ToolEffect::Repeatable,
            AnnotationTrust::Trusted => ToolEffect::Changes,
        }
    }
}

/// How a server is reached, as a person accepts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommand {
    /// Of everything that its settings say about it, with the file of the program.
    pub digest: Digest,
    /// `None` for an address, and for a program that was not found.
    pub program: Option<LocatedProgram>,
}

impl From<Digest> for ServerCommand {
    fn from(digest: Digest) -> Self {
        Self { digest, program: None }
    }
}

/// Of the command or the address that a server is reached by. The text itself is not kept: it may be long, and hold secrets.
pub fn command_digest(command: impl Into<Value>) -> Digest {
    Digest::of_value("planwright-upstream-command-v1", &command.into())
}

/// Names a page of what a person reads before accepting an offer: who gives it back has been shown this page of this offer.
pub fn page_digest(offer: Digest, page: usize) -> Digest {
    Digest::of_value("planwright-upstream-page-v1", &json!([offer.to_string(), page]))
}

/// The digest of a list of tools, whatever their order.
pub fn list_digest(tools: &[UpstreamTool]) -> Digest {
    let mut digests: Vec<_> = tools.iter().map(|tool| tool.digest().to_string()).collect();
    digests.sort_unstable();
    Digest::of_value("planwright-upstream-list-v1", &json!(digests))
}
