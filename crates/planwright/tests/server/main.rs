//! The server as its operators meet it: the real program at an address of its own, asked over the network and stopped by
//! signals.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

mod api;
mod archive_portability;
mod broken_log;
mod logs;
mod lost_store;
mod openapi;
mod postgres_variables;
mod project_run;
#[path = "../cli/provider.rs"]
#[allow(dead_code)]
mod provider;
mod refusal_rate;
mod reviews;
mod schemathesis;
mod server_process;
mod shutdown;
mod startup;
#[path = "../cli/world.rs"]
#[allow(dead_code)]
mod world;

use planwright_test_support::stores;
