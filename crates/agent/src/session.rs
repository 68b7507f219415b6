//! One task per active session. What happens in a session goes through its task, in the order of arrival, except for inputs
//! that wait for nothing.
//!
//! - [`input`]: what a surface may submit, and the request it comes with
//! - `registry`: the task of each active session
//! - `task`: the queue of one session and the work at its head
//! - `lease`: the right to work on a session over all processes, renewed by the task
//! - [`progress`]: the stream that a submitter reads, and the observers of a session
//! - [`outcome`]: what a stream ends in
//! - `ask_prompt`: what a turn asks a person, and what the person types
//! - `shutdown`: work that is left where another process resumes it
//!
//! This module knows queues, leases and streams. What an input does is decided by its [`task::InputHandler`], the agent.

pub mod ask_prompt;
pub mod input;
pub(crate) mod lease;
pub mod outcome;
pub mod progress;
pub(crate) mod registry;
pub(crate) mod shutdown;
pub(crate) mod task;
