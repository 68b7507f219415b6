//! The REST calls, through the real router, over a real store and with a scripted model.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue should panic")]

mod approvers;
mod asks;
mod auto;
mod changes;
mod choices;
mod damage;
mod decisions;
mod files;
mod idempotency;
mod inbox;
mod isolation;
mod journal;
mod lists;
mod mcp_servers;
mod memory;
mod messages;
mod notifications;
mod openapi;
mod plans;
mod preview;
mod reviews;
mod server;
mod sessions;
mod spend;
mod step_by_step;
mod streaming;
mod workbook;
mod world;
