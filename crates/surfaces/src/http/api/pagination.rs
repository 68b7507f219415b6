//! Pages of a list. Each names where the next one begins.

use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::DamagedRow;
use serde::Serialize;
use utoipa::ToSchema;

/// The largest integer that every JSON parser reads exactly.
pub(super) const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;

/// A row that cannot be read. It never hides the others.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DamagedView {
    what: String,
    reason: String,
}

impl DamagedView {
    pub(super) fn entry(session: &SessionIdentity, seq: u64, reason: &dyn std::fmt::Display) -> Self {
        Self { what: format!("entry {seq} of the journal of {session}"), reason: reason.to_string() }
    }
}

pub(super) fn damaged(rows: &[DamagedRow]) -> Vec<DamagedView> {
    rows.iter().map(|row| DamagedView { what: row.what.clone(), reason: row.reason.clone() }).collect()
}

/// The number of items on a page; `most` by default.
pub(super) fn limit(asked: Option<u32>, most: u32) -> Result<u32, Refusal> {
    match asked {
        None => Ok(most),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        Some(asked) => Err(Refusal::invalid(format!("limit is {asked}; a page has 1 to {most} items."))),
    }
}

/// Where a page begins.
pub(super) fn position(name: &str, asked: Option<u64>) -> Result<Option<u64>, Refusal> {
    match asked {
        Some(position) if position > MAX_SAFE_INTEGER => {
            Err(Refusal::invalid(format!("{name} is at most {MAX_SAFE_INTEGER}.")))
        }
        position => Ok(position),
    }
}
