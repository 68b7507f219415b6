//! What the engine does, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod files;
mod ledger;
mod planning;
mod process;
mod props;
mod queue;
mod turns;
mod world;
