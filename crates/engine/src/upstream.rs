//! The ports to upstream MCP servers.
//!
//! - [`UpstreamServers`]: the servers; `crates/upstream` implements it
//! - [`PinnedServer`]: what a server offers and what people accepted of it, as the ledger has it
//! - [`CallEvent`]: what a server says and asks while it works on a call
//! - `call_events`: what an upstream server says and asks while it works on a call, for the client of the gateway that
//!   made the call
//! - `pins`: what people accepted of upstream servers
//! - `servers`: the port to upstream MCP servers

mod call_events;
mod pins;
mod servers;

pub use call_events::{
    CallEvent, CallEventSender, CallObserver, CallProgress, ClientKey, InputRequired, InputResponses, LogMessage,
    QuestionError, QuestionKind, QuestionKinds, RpcError, ServerQuestion,
};
pub use pins::{AcceptedTools, OfferedTools, PinnedServer};
pub use servers::{
    Arguments, CompletedName, CompletionRequest, ConnectionState, ResourceUpdate, ToolOffer, ToolSelection,
    UpstreamContent, UpstreamError, UpstreamRequest, UpstreamResult, UpstreamServer, UpstreamServers,
};
