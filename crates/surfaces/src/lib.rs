//! How the outside reaches Planwright. A surface knows who is asking and how to answer them; what is allowed is
//! decided by the engine.
//!
//! - [`http`]: the server: REST and live events for programs and browsers, and the doors in front of them
//! - [`mcp`]: the plan tools for an existing agent, over standard input and output

pub mod http;
pub mod mcp;
