//! What an archive says about itself. It stands at the end, so an archive that was cut off has none.

use std::collections::BTreeMap;

use jiff::Timestamp;
use planwright_engine::ledger::DamagedRow;
use serde::{Deserialize, Serialize};

/// This program reads archives of this format and of no other.
pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The program that made it, with its version.
    pub(crate) program: String,
    pub(crate) made_at: Timestamp,
    pub(crate) sessions: u64,
    pub(crate) entries: u64,
    pub(crate) files: u64,
    pub(crate) pointers: u64,
    /// What should be in it and could not be read.
    pub(crate) damaged: Vec<Named>,
    /// What lies among the files of the sessions and is not a file.
    pub(crate) left_out: Vec<Named>,
    /// Every part but this one, by its name.
    pub(super) parts: BTreeMap<String, Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// Something that is told by its name, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) what: String,
    pub(crate) reason: String,
}

impl Named {
    pub(super) fn new(what: impl ToString, reason: impl ToString) -> Self {
        Self { what: what.to_string(), reason: reason.to_string() }
    }
}

impl From<DamagedRow> for Named {
    fn from(row: DamagedRow) -> Self {
        Self { what: row.what, reason: row.reason }
    }
}

impl Manifest {
    pub(super) fn new(made_at: Timestamp) -> Self {
        Self {
            format: FORMAT,
            program: concat!("planwright ", env!("CARGO_PKG_VERSION")).to_owned(),
            made_at,
            sessions: 0,
            entries: 0,
            files: 0,
            pointers: 0,
            damaged: Vec::new(),
            left_out: Vec::new(),
            parts: BTreeMap::new(),
        }
    }
}
