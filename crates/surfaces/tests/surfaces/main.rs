//! The MCP server as a client meets it: lines of JSON in, lines of JSON out, on the real engine and a real store.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod build;
mod changes;
mod collect;
mod decisions;
mod document;
mod external;
mod handshake;
mod memory;
mod newer_clients;
mod prompts_and_resources;
mod schemas;
mod sessions;
mod store_trouble;
mod tool_tokens;
mod wire;
mod workbook;
mod world;
