//! What the engine does, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod agent_walk;
mod ask_agent;
mod asks;
mod auto;
mod chat_changes;
mod commands;
mod compaction;
mod embedding;
mod execution;
mod feed;
mod files;
mod isolation;
mod ledger;
mod memory;
mod named_requests;
mod passphrases;
mod permissions;
mod permissions_in_steps;
mod plan_export;
mod planning;
mod process;
mod project_policies;
mod projects;
mod queue;
mod restart;
mod run_command;
mod shorter_journal;
mod shutdown;
mod signed_takeover;
mod specialist_scripts;
mod takeover;
mod test_tools;
mod turns;
mod workbook;
mod workbook_hooks;
mod world;

use planwright_test_support::talk;
