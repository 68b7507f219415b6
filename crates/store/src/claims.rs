//! How both stores answer a request that a client has named before.

use std::time::Duration;

use jiff::Timestamp;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::server_ledger::{Claim, ClaimedRequest, StoredAnswer};

use crate::encode;

/// How many requests that are too old are removed with each new one: more than come in, and few enough to be quick.
pub(crate) const FORGOTTEN_AT_ONCE: i64 = 20;

/// Requests that were claimed before this are forgotten.
pub(crate) fn cutoff(now: Timestamp, keep: Duration) -> i64 {
    let keep = i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
    now.as_microsecond().saturating_sub(keep)
}

/// What is stored of a request.
#[derive(Debug)]
pub(crate) struct ClaimRow {
    pub(crate) fingerprint: String,
    pub(crate) at: i64,
    pub(crate) status: Option<i64>,
    pub(crate) body: Option<String>,
}

impl ClaimRow {
    /// The answer to a client that sends it again.
    pub(crate) fn claim(self, request: &ClaimedRequest) -> LedgerResult<Claim> {
        let what = || format!("the claimed request {}", request.key);
        if self.fingerprint != request.fingerprint {
            return Ok(Claim::Other);
        }
        match (self.status, self.body) {
            (Some(status), Some(body)) => {
                let status = u16::try_from(status).map_err(|error| LedgerError::damaged(what(), error))?;
                Ok(Claim::Answered(StoredAnswer { status, body }))
            }
            (None, _) | (_, None) => Ok(Claim::Begun { at: encode::timestamp(what, self.at)? }),
        }
    }
}
