//! The manifest lists every part of an archive. It is the last part, so an archive that was cut off has none.

use std::collections::BTreeMap;

use jiff::Timestamp;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::DamagedRow;
use serde::{Deserialize, Serialize};

/// The only format that this version reads and writes.
pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The program and the version that made the archive.
    pub(crate) program: String,
    pub(crate) made_at: Timestamp,
    pub(crate) sessions: u64,
    pub(crate) entries: u64,
    pub(crate) files: u64,
    pub(crate) pointers: u64,
    /// What belongs in the archive and could not be read.
    pub(crate) damaged: Vec<Omitted>,
    /// What is in the sessions' folders and cannot be in an archive.
    pub(crate) left_out: Vec<Omitted>,
    /// All other parts, by name.
    pub(super) parts: BTreeMap<String, Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// Something that was not copied, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Omitted {
    pub(crate) what: String,
    pub(crate) reason: String,
}

impl Omitted {
    pub(super) fn new(what: impl ToString, reason: impl ToString) -> Self {
        Self { what: what.to_string(), reason: reason.to_string() }
    }
}

impl From<DamagedRow> for Omitted {
    fn from(row: DamagedRow) -> Self {
        Self { what: row.what, reason: row.reason }
    }
}

impl Manifest {
    /// Whether the archive has no journal of this session because it is damaged.
    pub(super) fn names_damaged(&self, session: &SessionIdentity) -> bool {
        let what = format!("session {session}");
        self.damaged.iter().any(|omitted| omitted.what == what)
    }

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
