//! `/ws` of a real server, at a port of its own.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

mod auth;
mod client;
mod ending;
mod events;
mod following;
mod frames;
mod keys;
mod order;
mod talking;
mod transports;
mod watching;
mod world;

use planwright_test_support::stores;
