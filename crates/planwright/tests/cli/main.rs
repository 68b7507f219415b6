//! The program as its users meet it: the real binary, on real stores in temporary folders.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]

mod approval_boundary;
mod approving;
mod backing_up;
mod chat;
mod chat_models;
mod chat_sessions;
mod chat_terminal;
mod deciding;
mod deploying;
mod doctor;
mod executions;
mod hostile;
mod importing;
mod looking;
mod mcp;
mod paused;
mod projects;
mod provider;
mod sessions;
mod settings;
mod sign_in;
mod specialists;
mod terminal;
mod token;
mod tour;
mod troubleshooting;
mod verifying;
mod watching;
mod workbook;
mod world;
