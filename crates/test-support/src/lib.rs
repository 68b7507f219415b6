//! What the tests of several crates share. No crate depends on it except for its tests.
//!
//! - [`forwarding`]: ledgers that change a few methods of another ledger.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

pub mod forwarding;
