//! Real processes on one store: several at once, and some of them killed in the middle of a write.

#![allow(clippy::unwrap_used)]

mod client;
mod concurrency;
mod executions;
#[cfg(unix)]
mod frozen;
mod kill;
mod provider;
#[path = "../../../store/tests/store/stores.rs"]
#[allow(dead_code)]
mod stores;
#[path = "../../../engine/tests/support/talk.rs"]
mod talk;
mod turns;
mod workbook;
