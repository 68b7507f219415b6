//! The models, from the outside: what goes over the wire, what comes back, and what happens when something goes wrong.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod anthropic;
mod choosing;
mod gemini;
mod ollama;
mod openai;
mod rehearsing;
mod scripting;
mod server;
mod silence;
mod trouble;
mod world;
