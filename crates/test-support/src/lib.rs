//! What the tests of several crates share. No crate depends on it except for its tests.
//!
//! - [`agent`]: an agent on a store in a temporary folder; [`talk`]: calls to it that wait for their outcome
//! - [`stores`]: a fresh store for each test, on SQLite or PostgreSQL
//! - [`postgres_server`]: a PostgreSQL of a test's own, with or without TLS
//! - [`forwarding`]: ledgers that change a few methods of another ledger
//! - [`killed_ledger`]: a process that is killed between two calls to the store
//! - [`prerequisites`]: tests that need the sandbox or root
//! - [`bot_api`]: a server that speaks the Bot API of Telegram
//! - [`tls_proxy`]: a proxy that plays Telegram with a certificate of its own
//! - [`upstream`]: an upstream MCP server without a process
//! - [`clock`]: the time and the ids of a test
//!
//! Never in it: anything that the program needs.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

pub mod agent;
pub mod bot_api;
pub mod clock;
pub mod forwarding;
pub mod killed_ledger;
pub mod postgres_server;
pub mod prerequisites;
pub mod stores;
pub mod talk;
pub mod tls_proxy;
pub mod upstream;
