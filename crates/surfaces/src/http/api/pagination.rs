//! How long lists are told: page by page, each saying where the next one begins.

use planwright_core::refusal::Refusal;
use planwright_engine::ledger::DamagedRow;
use serde::Serialize;
use utoipa::ToSchema;

/// The largest number that every client can read.
pub(super) const LARGEST: u64 = 9_007_199_254_740_991;

/// A row that cannot be read. It is left as it is, and never hides the others.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DamagedView {
    what: String,
    reason: String,
}

pub(super) fn damaged(rows: &[DamagedRow]) -> Vec<DamagedView> {
    rows.iter().map(|row| DamagedView { what: row.what.clone(), reason: row.reason.clone() }).collect()
}

/// How many items a page has; `most` if nothing is said.
pub(super) fn limit(asked: Option<u32>, most: u32) -> Result<u32, Refusal> {
    match asked {
        None => Ok(most),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        Some(asked) => Err(Refusal::invalid(format!("limit is {asked}; a page has 1 to {most} items."))),
    }
}

/// Where a page begins.
pub(super) fn place(name: &str, asked: Option<u64>) -> Result<Option<u64>, Refusal> {
    match asked {
        Some(place) if place > LARGEST => Err(Refusal::invalid(format!("{name} is at most {LARGEST}."))),
        place => Ok(place),
    }
}
