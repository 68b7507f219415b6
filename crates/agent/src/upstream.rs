//! Tools of upstream MCP servers, as tools of the agent. The ports to the servers and to what people accepted are in the engine.
//!
//! - [`UpstreamTools`]: the accepted tools, what changed in them since, and a person's acceptance
//! - `catalog`: the tools that are offered and accepted now
//! - `server_tool`: one tool, called through the port, and resources that are read as a call
//! - `answer`: a result as the model reads it, with files for what is large or no text
//! - `upstream_tools`: the accepted tools of all upstream servers, and a person's acceptance of them
//!
//! A model is shown the description that a person accepted, never the one that a server sends. A call is made only while
//! the server describes the tool exactly as it was accepted.

mod answer;
mod catalog;
mod server_tool;
mod upstream_tools;

pub use answer::PassthroughResult;
pub(crate) use answer::READ_RESULT;
pub(crate) use server_tool::{ContextObserver, resource_tool_name};
pub use upstream_tools::{AcceptanceState, ServerStatus, UpstreamTools};
