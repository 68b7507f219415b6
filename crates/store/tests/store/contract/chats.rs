//! The promises of `ChatStore`.
//!
//! - `pointers`: which session is meant on a transport
//! - `outbox`: messages to people, updates of chat services, and records that are found by their keys

pub(crate) mod outbox;
pub(crate) mod pointers;
