//! How clients reach Planwright. A surface authenticates clients and formats answers; the engine decides what is allowed.
//!
//! - [`build_info`]: the version of the program, and the commit it was built from
//! - [`http`]: the server: REST and live events for programs and browsers, and their authentication
//! - [`mcp`]: the plan tools for an existing agent, over standard input and output
//! - [`private_file`]: files that only their owner may read
//! - [`wire`]: plans and sessions as JSON
//!
//! Never in it: policy. Who may decide, and what a plan allows, is decided in `core`, behind the services of the engine
//! and the agent.

pub mod build_info;
pub mod http;
pub mod mcp;
pub mod private_file;
pub mod wire;
