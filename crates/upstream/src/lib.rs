//! Connections to upstream MCP servers, behind the port [`UpstreamServers`](planwright_engine::upstream::UpstreamServers).
//!
//! - [`UpstreamClient`]: every configured server, by name
//! - `server`: one server: started when it is needed, started again after it failed, with longer and longer pauses
//! - `connection`: a connection while it lasts: the offer of tools, calls, progress and cancellation
//! - `call_router`, `client_handler`: what a server says and asks while it works on a call
//! - `program_transport`, `http`: messages over the pipes of a program, and over HTTP
//! - `watched_transport`: takes notifications out of the stream of messages, and ends a connection that floods
//! - `tool_list`, `call_result`: what a server sends, read with care
//! - `passthrough`: resources and prompts, which are passed on as they are
//! - [`UpstreamServerOptions`]: how a server is reached
//! - `end_reason`: why a connection ended, as far as this side knows
//! - `error_words`: why a connection was not made, in words
//! - `options`: how a server is reached, and its limits
//! - `program_access`: what a program reaches inside of the sandbox
//! - `program`: a server that is a program: its start, its last output and its end
//! - `upstream_client`: every configured server
//!
//! A server that dies, hangs, floods or sends nonsense fails its own calls. Each failure has its own words.
//!
//! Never in it: policy, pins. What people accepted of a server's tools is in the store, and the agent compares it with
//! the offer.

mod call_result;
mod call_router;
mod client_handler;
mod connection;
mod end_reason;
mod error_words;
mod http;
mod options;
mod passthrough;
mod program;
mod program_access;
mod program_transport;
mod server;
mod tool_list;
mod upstream_client;
mod watched_transport;

pub use options::{AskedAccess, PassedRequests, Reach, UpstreamServerOptions};
pub use upstream_client::UpstreamClient;
