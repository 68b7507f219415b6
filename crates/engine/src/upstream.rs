//! The ports to upstream MCP servers.
//!
//! - [`UpstreamServers`]: the servers; `crates/upstream` implements it
//! - [`ToolPins`]: what people accepted of their tools; the stores implement it
//! - [`CallEvent`]: what a server says and asks while it works on a call

mod call_events;
mod pins;
mod servers;

pub use call_events::{
    CallEvent, CallEventSender, CallObserver, CallProgress, ClientKey, LogMessage, QuestionError, QuestionKind,
    ServerQuestion,
};
pub use pins::{AcceptedTools, OfferedTools, PinnedServer, ToolPins};
pub use servers::{
    CompletedName, CompletionRequest, ConnectionState, ResourceUpdate, ToolOffer, ToolSelection, UpstreamContent,
    UpstreamError, UpstreamRequest, UpstreamResult, UpstreamServer, UpstreamServers,
};
