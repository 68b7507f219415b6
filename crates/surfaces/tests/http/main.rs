//! The server over TCP: authentication, limits, and how it starts and stops.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue should panic")]

mod client;
mod clients;
mod connections;
mod cookies;
mod flood;
mod health_and_metrics;
mod hosts;
mod limits;
mod logs;
mod mcp;
mod metrics;
mod page;
mod push;
mod rotation;
mod shutdown;
mod startup;
mod store;
mod tokens;
mod transports;
mod world;
