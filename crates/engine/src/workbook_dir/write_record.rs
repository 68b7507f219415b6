//! The versions that were last written to disk. Compared with the files, they show whether a person changed one since, and
//! which version the change is based on.

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::refusal::Refusal;
use planwright_core::workbook::{DocumentKind, TextDigest};
use serde::{Deserialize, Serialize};

use super::{OnDisk, WorkbookDir, refusal};

const NAME: &str = "plan.json";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WriteRecord {
    #[serde(default)]
    pub(crate) documents: BTreeMap<DocumentKind, WrittenVersion>,
    /// A person may remove an archive; it is not written again.
    #[serde(default)]
    pub(crate) archives: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenVersion {
    pub(crate) version: u32,
    pub(crate) digest: TextDigest,
}

impl WorkbookDir {
    /// Empty if it cannot be read; then every file counts as changed by a person.
    pub(crate) fn write_record(&self) -> WriteRecord {
        match self.read(&self.own, NAME) {
            Ok(OnDisk::Text(text)) => serde_json::from_str(&text).unwrap_or_default(),
            Ok(OnDisk::Missing | OnDisk::Unusable(_)) | Err(_) => WriteRecord::default(),
        }
    }

    pub(crate) fn save_write_record(&self, record: &WriteRecord) -> Result<(), Refusal> {
        let text = serde_json::to_string(record).map_err(|error| refusal(&error.into()))?;
        self.write_in(&self.own, NAME, &text).map_err(|error| refusal(&error))
    }
}
