//! Entries of a journal as JSON.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::journal::{Entry, SealedEntry};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What happened, as it is stored.
    #[schema(value_type = Object)]
    pub event: Value,
    /// SHA-256 over the entry and the hash of the one before it.
    pub hash: String,
    /// The plan that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub plan_id: Option<String>,
}

impl TryFrom<&SealedEntry> for EntryView {
    type Error = serde_json::Error;

    fn try_from(sealed: &SealedEntry) -> Result<Self, serde_json::Error> {
        let entry: Entry = serde_json::from_str(&sealed.body)?;
        Ok(Self {
            seq: sealed.seq,
            at: entry.at,
            kind: entry.event.name(),
            event: serde_json::to_value(&entry.event)?,
            hash: sealed.hash.to_string(),
            plan_id: entry.event.plan().map(ToString::to_string),
            by: entry.by,
        })
    }
}
