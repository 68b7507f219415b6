//! What happens to a session's workbook.

use crate::plan::Touches;
use crate::wire::events;
use crate::workbook::{AssessmentRecord, DocumentKind, Documents, WriteOrigin};

events! {
    pub enum WorkbookEvent {
        /// A person switches the planning files on or off.
        "workbook_switched" Switched { on: bool },
        "workbook_begun" Begun { title: String, documents: Documents<String> } => {
            progress: true,
            audit: "a workbook was begun",
        },
        /// A new version of one document, whole.
        "workbook_written" Written {
            which: DocumentKind,
            version: u32,
            // The sequence number of the entry that has the version before it.
            follows: u64,
            content: String,
            why: WriteOrigin,
        } => { progress: matches!(why, WriteOrigin::Tool) },
        /// The current workbook is kept under a name; a new one can begin.
        "workbook_archived" Archived { name: String } => { audit: "a workbook was archived" },
        "workbook_cleared" Cleared => { audit: "a workbook was cleared" },
        /// Whether a message is worth a workbook, and why.
        "workbook_judged" Assessed {
            #[serde(flatten)]
            record: AssessmentRecord,
        },
    }
}

impl WorkbookEvent {
    /// The text of a document, if this is the entry that has it.
    pub fn document(&self, wanted: DocumentKind) -> Option<&str> {
        match self {
            Self::Begun { documents, .. } => Some(documents.get(wanted)),
            Self::Written { which, content, .. } => (*which == wanted).then_some(content),
            _ => None,
        }
    }
}
