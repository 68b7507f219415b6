//! One task per active session. What happens in a session goes through its task, in the order of arrival, except for inputs
//! that wait for nothing.
//!
//! - [`input`]: what a surface may submit, and the request it comes with
//! - `queue`: the queue and the task of each active session
//! - `work`: what an input is carried out with, and the work at the head of a queue
//! - `lease`: the right to work on a session over all processes, renewed by the task
//! - [`progress`]: the stream that a submitter reads, and the observers of a session
//! - [`outcome`]: what a stream ends in
//! - `ask_prompt`: what a turn asks a person, and what the person types
//! - `shutdown`: work that is left where another process resumes it
//!
//! This module knows queues, leases and streams. What an input does is decided by its [`work::InputHandler`], the agent.

pub mod ask_prompt;
pub mod input;
pub(crate) mod lease;
pub mod outcome;
pub mod progress;
pub(crate) mod queue;
pub(crate) mod shutdown;
pub(crate) mod work;
