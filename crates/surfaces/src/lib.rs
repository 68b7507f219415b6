//! How clients reach Planwright. A surface authenticates clients and formats answers; the engine decides what is allowed.
//!
//! - [`http`]: the server: REST and live events for programs and browsers, and their authentication
//! - [`mcp`]: the plan tools for an existing agent, over standard input and output
//! - [`private_file`]: files that only their owner may read
//! - [`wire`]: plans and sessions as JSON

pub mod http;
pub mod mcp;
pub mod private_file;
pub mod wire;
