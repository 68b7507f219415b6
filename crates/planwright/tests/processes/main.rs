//! Real processes on one store: several at once, and some of them killed in the middle of a write.

#![allow(clippy::unwrap_used)]

mod client;
mod concurrency;
mod executions;
#[cfg(unix)]
mod frozen_process;
mod gateway_kill;
mod kill;
mod project_runs;
mod provider;
mod turns;
mod workbook;

use planwright_test_support::{stores, talk};
