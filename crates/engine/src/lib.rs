//! What can be done with Planwright, and the ports it needs for it.
//!
//! - [`engine::Engine`]: a cheap handle on the services; every surface calls these and nothing else
//! - [`sessions`], [`plans`], [`history`], [`inbox`], [`verifier`], [`importer`]: one service each
//! - [`tools`]: the tools a model sees, with their arguments, schemas and results
//! - [`auto`]: goals, tasks, the diary, schedules and runs
//! - [`memories`]: what a session remembers, saved and found again
//! - [`workbook`]: task plan, findings and progress beside the conversation
//! - [`changes`]: which sessions were written to; [`feed`]: the entries of sessions that are followed live
//! - [`plan_watch`]: a watch on one plan while any process carries it out
//! - [`submitter`]: the one way a command reaches the ledger
//! - [`agent::Agent`]: the agent in a conversation; [`session`]: one task per active session
//! - [`plan_steps`], [`plan_status`], [`step_counts`]: the steps of a plan with their outcomes, its status in words, and counts
//! - [`upstream`]: tools of upstream MCP servers, and the ports to the servers and to what people accepted of them
//! - [`approvals`]: approvers, their signatures, and the approval policy in force
//! - [`permission_rules`]: the port to the rules for calls
//! - [`ledger`]: the port to the store; [`server_ledger`]: what processes that stay need of it besides
//! - [`outbox`], [`chat_updates`]: the ports to messages for people and to the updates of a chat service
//! - [`line_writer`]: messages to another program, one per line
//! - [`version_index`]: which entry of a journal made which version of a plan
//! - [`clock`]: where time and ids come from; [`backoff`]: when something that failed is tried again

pub mod agent;
pub mod approvals;
pub mod auto;
pub mod backoff;
mod catch_panic;
pub mod changes;
pub mod chat_updates;
pub mod clock;
pub mod engine;
pub mod feed;
pub mod history;
pub mod importer;
pub mod inbox;
pub mod ledger;
pub mod line_writer;
mod lookup;
pub mod memories;
pub mod model;
pub mod outbox;
pub mod permission_rules;
mod plan_export;
pub mod plan_status;
pub mod plan_steps;
pub mod plan_watch;
pub mod plans;
mod process;
pub mod reviews;
pub mod server_ledger;
pub mod session;
mod session_policies;
pub mod sessions;
pub mod step_counts;
pub mod submitter;
pub mod temp_file;
pub mod tokens;
mod tool_schema;
pub mod toolbox;
pub mod tools;
pub mod upstream;
pub mod verifier;
pub mod version_index;
mod who;
pub mod workbook;
mod workbook_dir;

pub use engine::Engine;
pub use planwright_core as core;
pub use who::{recognition, who};
