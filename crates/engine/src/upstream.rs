//! Tools of upstream MCP servers, as tools of the agent.
//!
//! - [`UpstreamServers`]: the port to the servers; `crates/upstream` implements it
//! - [`ToolPins`]: the port to what people accepted; the stores implement it
//! - [`UpstreamTools`]: the accepted tools, what changed in them since, and a person's acceptance
//! - `server_tool`: one tool, called through the port
//! - [`CallEvent`]: what a server says and asks while it works on a call
//! - `answer`: a result as the model reads it, with files for what is large or no text
//!
//! A model is shown the description that a person accepted, never the one that a server sends. A call is made only while
//! the server describes the tool exactly as it was accepted.

mod answer;
mod call_events;
mod catalog;
mod pins;
mod server_tool;
mod servers;
mod upstream_tools;

pub use answer::PassedOnResult;
pub use call_events::{
    CallEvent, CallEventSender, CallObserver, CallProgress, ClientKey, LogMessage, QuestionError, QuestionKind,
    ServerQuestion,
};
pub use pins::{AcceptedTools, OfferedTools, PinnedServer, ToolPins};
pub use servers::{
    CompletedName, CompletionRequest, ConnectionState, ResourceUpdate, ToolOffer, ToolSelection, UpstreamContent,
    UpstreamError, UpstreamRequest, UpstreamResult, UpstreamServer, UpstreamServers,
};
pub use upstream_tools::{AcceptanceState, ServerStatus, UpstreamTools};
