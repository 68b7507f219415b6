//! How the outside reaches Planwright. A surface knows who is asking and how to answer them; what is allowed is
//! decided by the engine.
//!
//! - [`mcp`]: the plan tools for an existing agent, over standard input and output

pub mod mcp;
