//! What the engine does, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod asking;
mod commands;
mod compaction;
mod executing;
mod files;
mod isolation;
mod ledger;
mod planning;
mod process;
mod props;
mod queue;
mod restart;
mod staff;
mod turns;
mod world;
