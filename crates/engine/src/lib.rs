//! What can be done with Planwright, and the ports it needs for it.
//!
//! - [`engine::Engine`]: a cheap handle on the services; every surface calls these
//! - [`sessions`], [`plans`], [`reviews`], [`history`], [`inbox`], [`verifier`], [`importer`]: one service each
//! - [`auto`]: goals, tasks, the diary, schedules and runs
//! - [`memories`]: what a session remembers, saved and found again
//! - [`workbook`]: task plan, findings and progress beside the conversation; `workbook_dir`: their copies on disk
//! - [`changes`]: which sessions were written to; [`feed`]: the entries of sessions that are followed live
//! - [`plan_watch`]: a watch on one plan while any process carries it out
//! - [`submitter`]: the one way a command reaches the ledger; `session_policies`: the policy of each session
//! - [`plan_steps`], [`plan_status`], [`step_counts`]: the steps of a plan with their outcomes, its status in words, and counts
//! - [`approvals`]: approvers, their signatures, and the approval policy in force; `approval_records`: their journal; `act_signing`: acts that
//!   are signed one by one
//! - [`lookup`]: a session or a plan, or the refusal that says it does not exist; `who`: actors in words
//! - [`ledger`]: the port to the store, in six parts
//! - `journal_witness`: a journal that is shorter than what this server saw
//! - [`push`]: browsers that get pushes
//! - [`model`]: the port to models; [`permission_rules`]: the port to the rules for calls
//! - [`session_files`]: the ports to the files of sessions and of plans; [`temp_file`]: files that are whole or not there
//! - [`project_places`]: which machine has the project folder of a session
//! - [`server_beats`]: the port to the heartbeats of servers
//! - [`shared_files`]: the ports by which servers that share no disk share the files of sessions
//! - [`upstream`]: the port to upstream MCP servers, and what people accepted of their tools
//! - [`line_writer`]: messages to another program, one per line
//! - [`version_index`]: which entry of a journal made which version of a plan
//! - [`clock`], [`process`]: where time and ids come from, and whether a process still runs; [`backoff`]: when something that
//!   failed is tried again
//!
//! Never in it: SQL, HTTP, a provider's wire format, a turn, a tool. Those are in the agent and what stands beside it, which are built
//! on this crate.

mod act_signing;
mod approval_records;
pub mod approvals;
pub mod auto;
pub mod backoff;
pub mod changes;
pub mod clock;
pub mod engine;
pub mod feed;
pub mod history;
pub mod importer;
pub mod inbox;
mod journal_witness;
pub mod ledger;
pub mod line_writer;
pub mod lookup;
pub mod memories;
pub mod model;
pub mod permission_rules;
pub mod plan_status;
pub mod plan_steps;
pub mod plan_watch;
pub mod plans;
pub mod process;
pub mod project_places;
pub mod push;
pub mod reviews;
pub mod server_beats;
pub mod session_files;
mod session_policies;
pub mod sessions;
pub mod shared_files;
pub mod step_counts;
pub mod submitter;
pub mod temp_file;
pub mod upstream;
pub mod verifier;
pub mod version_index;
mod who;
pub mod workbook;
mod workbook_dir;

pub use engine::Engine;
pub use planwright_core as core;
pub use who::{recognition, who};
