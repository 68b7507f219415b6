//! Upstream servers through the real agent, over a real store: a small hostile server of our own, servers from npm, and an
//! address.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod world;

mod calls;
mod collected_plans;
mod crash;
mod hostile;
mod http;
mod pins;
mod real_servers;
