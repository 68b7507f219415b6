//! What the engine does, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod asking;
mod commands;
mod compaction;
mod executing;
mod files;
mod following;
mod isolation;
mod leaving;
mod ledger;
mod naming;
mod noting;
mod planning;
mod process;
mod props;
mod queue;
mod recovering;
mod restart;
mod staff;
mod turns;
mod workbook;
mod world;

use planwright_test_support::talk;
