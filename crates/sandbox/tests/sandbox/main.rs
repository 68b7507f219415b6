//! Commands as they run: their output, their end, and the end of everything they started.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod world;

mod closed_memory;
mod ending;
mod limits;
mod output;
mod programs;
mod repositories;
mod running;
