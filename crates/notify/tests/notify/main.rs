//! What people are told: the real agent with a scripted model over a real store, and receivers that fail, hang and redirect.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

mod channels;
mod kills;
mod notices;
mod outbox;
mod push;
mod runs;
mod world;
