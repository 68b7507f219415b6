//! The record of a compaction: which entries of the journal a summary replaces for the model.

use serde::{Deserialize, Serialize};

use crate::ids::RunId;

/// The model reads `summary` instead of the entries before `kept_from`, except for the person's newest message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The sequence number of the first entry that is kept as it is.
    pub kept_from: u64,
    /// The person's newest message, if it stands before `kept_from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<u64>,
    pub summary: String,
    pub tokens: u32,
    pub by: Summarizer,
    /// The number of messages the summary replaces, with those of the summary before it.
    pub messages: u32,
    /// The run whose own conversation is summarised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Summarizer {
    Model,
    /// Made without a model, because that failed.
    Rules,
}

impl Compaction {
    /// The first entry that has to be read to put the conversation together again.
    pub fn reads_from(&self) -> u64 {
        self.pinned.map_or(self.kept_from, |pinned| pinned.min(self.kept_from))
    }
}
