//! Several servers on one store: real processes, some of them killed in the middle of turns, and clients of all of them.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

#[path = "../../../surfaces/tests/ws/client.rs"]
#[allow(dead_code)]
mod client;
mod dead_run;
mod due_runs;
mod events;
mod failover;
mod journal;
mod killed_server;
mod load_with_kill;
mod memory;
mod parked_permission;
mod program;
mod provider;
mod same_session;
mod shared_files;
mod silent_model;
mod stopped_server;
mod telegram;
mod world;

use planwright_test_support::stores;
