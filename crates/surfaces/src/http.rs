//! The server: REST, live events, and the doors in front of them.
//!
//! - [`Server`]: bound to an address, run until it is told to stop; [`Token`]: what lets people in
//! - `router`: every place there is
//! - `entrance`: what happens to every request; `access`: who is let in
//! - `app`: what every handler works with; `extract`: what they take out of a request
//! - `problem`: refusals as `application/problem+json`
//! - `api`: the REST calls, one module for each resource; `openapi`: their description
//! - `input`: inputs of sessions from every endpoint; `sse`: the same, answered as a stream of events
//! - `idempotency`: requests that clients may send twice
//! - `page`: the start page, signing in and out; `health`, `metrics`: for whoever runs it

mod access;
mod api;
mod app;
mod entrance;
mod extract;
mod health;
mod idempotency;
mod input;
mod metrics;
mod openapi;
mod page;
mod problem;
mod router;
mod server;
mod sse;
mod token;
mod ws;

pub use access::places::PlaceError;
pub use api::rest;
pub use openapi::description;
pub use server::{Server, ServerError, ServerLimits, ServerOptions};
pub use token::{Kept, Token, TokenError};
pub use ws::WebSocketLimits;
