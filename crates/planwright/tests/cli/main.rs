//! The program as its users meet it: the real binary, on real stores in temporary folders.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

mod approving;
mod deciding;
mod hostile;
mod importing;
mod looking;
mod mcp;
mod sessions;
mod settings;
mod terminal;
mod tour;
mod verifying;
mod world;
