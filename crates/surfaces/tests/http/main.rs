//! The server's doors, tried from outside over TCP: who is let in, how much is taken, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod asking;
mod browsers;
mod connections;
mod limits;
mod logs;
mod names;
mod operation;
mod page;
mod rotation;
mod starting;
mod stopping;
mod store;
mod tokens;
mod world;
