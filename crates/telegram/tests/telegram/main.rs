//! The bot as people meet it: the real agent with a scripted model over a real store, and a server that speaks the Bot API.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

mod cards;
mod conversation;
mod decisions;
mod faults;
mod kills;
mod log;
mod markdown;
mod runs;
mod several;
mod streaming;
mod webhook;
mod world;
