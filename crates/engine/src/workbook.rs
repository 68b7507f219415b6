//! The workbook: task plan, findings and progress beside the conversation, with a copy on disk for people.
//!
//! The ledger has the documents and their history. Every change names the version it is made from, and is made again from
//! the newer version if another writer was faster, so that no text is lost. The files are written from the ledger; a
//! person's edit of a file is taken in before every other change.
//!
//! - `document`: a document as the ledger has it
//! - `edit`: begin, edit, clear, switch on and off
//! - `sync`: the ledger and the files, brought together; the files themselves are in `workbook_dir`
//! - `notes`: messages about the files
//! - `tools`, `arguments`, `results`: the tools of the model
//! - `templates`: the text of a new document, from the person's templates if there are any
//! - `middleware`: notes that are taken without the model asking, and the hint in the prompt
//! - `export`: a copy among the person's own files

mod arguments;
mod document;
mod edit;
mod export;
mod middleware;
mod notes;
mod results;
mod sync;
mod templates;
mod tools;

use crate::engine::Engine;
use crate::toolbox::files::FileTools;
use crate::workbook_dir::WorkbookLocation;

pub use crate::workbook_dir::WorkbookFolders;
pub use document::Document;
pub use edit::{EditOutcome, InitOutcome, NewWorkbook};
pub(crate) use middleware::EndedCall;
pub use notes::Note;

impl Engine {
    /// The same engine with copies of workbooks on disk.
    pub fn with_workbook_folders(mut self, folders: WorkbookFolders) -> Self {
        self.workbook_location = WorkbookLocation::In(folders);
        self
    }

    /// The same engine with workbooks in the ledger alone.
    pub fn without_workbook_folders(mut self) -> Self {
        self.workbook_location = WorkbookLocation::Nowhere;
        self
    }

    /// The same, beside these files, unless it is known already where copies are.
    pub(crate) fn with_workbook_beside(self, files: &FileTools) -> Self {
        match self.workbook_location {
            WorkbookLocation::BesideFiles => {
                self.with_workbook_folders(WorkbookFolders { files: files.clone(), templates: None })
            }
            WorkbookLocation::Nowhere | WorkbookLocation::In(_) => self,
        }
    }

    fn workbook_folders(&self) -> Option<&WorkbookFolders> {
        match &self.workbook_location {
            WorkbookLocation::In(folders) => Some(folders),
            WorkbookLocation::BesideFiles | WorkbookLocation::Nowhere => None,
        }
    }
}
