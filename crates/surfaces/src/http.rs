//! The server: REST, server-sent events, WebSocket, and the authentication in front of them.
//!
//! - [`Server`]: bound to an address, run until it is told to stop; [`Token`]: the access token
//! - `router`: all routes; `middleware`: what surrounds every request; `access`: authentication and request limits
//! - `app`: the state of every handler; `extract`: what handlers take out of a request
//! - `problem`: errors as `application/problem+json`
//! - `api`: the REST calls, one module for each resource; `openapi`: their description
//! - `input`: inputs of sessions from every endpoint; `sse`: the same, answered as a stream of events
//! - `idempotency`: requests that clients may send twice; `plan_answers`: answers about plans that did not change
//! - `page`: the start page, signing in and out; `health`, `metrics`: for operators
//! - `webhook`: updates that Telegram sends
//! - `mcp`: MCP over streamable HTTP: `/mcp/{sessionId}` for one session, `/mcp` for the session of the client's folder
//! - `server`: the server: bound to an address, run until it is told to stop
//! - `token`: the access token: where it is kept, how it is made and replaced
//! - `ws`: `/ws`: sessions followed live, and messages sent

pub(crate) mod access;
mod api;
mod app;
mod extract;
mod health;
mod idempotency;
mod input;
mod mcp;
mod metrics;
mod middleware;
mod openapi;
mod page;
mod plan_answers;
mod problem;
mod router;
mod server;
mod sse;
mod token;
mod webhook;
mod ws;

pub use access::allowed_hosts::HostError;
pub use api::{description, rest};
pub use health::HealthSource;
pub use metrics::LOG_LINES_LOST;
pub use server::{Server, ServerError, ServerLimits, ServerOptions};
pub use token::{LoadedToken, Token, TokenError};
pub use webhook::UpdateReceiver;
pub use ws::WebSocketLimits;
