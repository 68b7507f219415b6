//! The models, from the outside: what goes over the wire, what comes back, and what happens when it fails.

#![allow(clippy::unwrap_used, reason = "an unexpected value fails the test")]

mod anthropic;
mod choose;
mod embeddings;
mod errors;
mod gemini;
mod ollama;
mod openai;
mod rehearsal;
mod reply_limits;
mod scripted;
mod server;
mod timeouts;
mod world;
