//! What all tests here share.

use std::time::Duration;

use planwright_core::session::SessionIdentity;

/// Nothing here takes that long; it turns a hanging test into a failing one.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(240);

pub(crate) fn session(key: &str) -> SessionIdentity {
    format!("web:{key}").parse().unwrap()
}
