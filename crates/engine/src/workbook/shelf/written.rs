//! What was last put on the shelf. From it one sees whether a person changed a file since, and which version they
//! changed.

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::refusal::Refusal;
use planwright_core::workbook::{DocumentKind, TextDigest};
use serde::{Deserialize, Serialize};

use super::{OnDisk, Shelf, refusal};

const NAME: &str = "plan.json";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::workbook) struct Written {
    #[serde(default)]
    pub(in crate::workbook) documents: BTreeMap<DocumentKind, WrittenDocument>,
    /// A person may remove an archive; it is not put there again.
    #[serde(default)]
    pub(in crate::workbook) archives: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::workbook) struct WrittenDocument {
    pub(in crate::workbook) version: u32,
    pub(in crate::workbook) digest: TextDigest,
}

impl Shelf {
    /// Nothing, where it cannot be read: then every file counts as one that a person may have changed.
    pub(in crate::workbook) fn written(&self) -> Written {
        match self.read(&self.own, NAME) {
            Ok(OnDisk::Text(text)) => serde_json::from_str(&text).unwrap_or_default(),
            Ok(OnDisk::Nothing | OnDisk::Unusable(_)) | Err(_) => Written::default(),
        }
    }

    pub(in crate::workbook) fn note_written(&self, written: &Written) -> Result<(), Refusal> {
        let text = serde_json::to_string(written).unwrap_or_default();
        self.put_in(&self.own, NAME, &text).map_err(|error| refusal(&error))
    }
}
