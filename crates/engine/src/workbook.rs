//! The workbook: task plan, findings and progress beside the conversation, with a copy on disk for people.
//!
//! The ledger has the documents and their history. Every change is made from a version that was looked at, and is made
//! again from the newer one if somebody else was faster, so that nobody's writing is lost. The files are written from
//! the ledger; a person's edit is taken in from them before anything else is done.
//!
//! - `reading`: a document as the ledger has it
//! - `writing`: begin, edit, clear, switch on and off
//! - `syncing`: the ledger and the files, brought together; `shelf`: the files
//! - `notes`: what there is to say about that
//! - `tools`, `arguments`, `results`: what a model sees of it all
//! - `templates`: what a fresh document says, in the words of the person if they have any
//! - `middleware`: what is written down along the way, and what the model is told
//! - `exporting`: a copy among the person's own files

mod arguments;
mod exporting;
mod middleware;
mod notes;
mod reading;
mod results;
mod shelf;
mod syncing;
mod templates;
mod tools;
mod writing;

use std::path::PathBuf;

use crate::engine::Engine;
use crate::toolbox::files::FileTools;

pub(crate) use middleware::EndedCall;
pub use notes::Note;
pub use reading::Document;
pub use writing::{Beginning, Begun, Edited};

/// Where copies of workbooks are kept for people.
#[derive(Debug, Clone, Default)]
pub(crate) enum Copies {
    /// Beside the files of whatever agent works with the engine; without an agent, nowhere.
    #[default]
    BesideFiles,
    Nowhere,
    In(WorkbookFolders),
}

/// Where the engine finds the files that belong to sessions.
#[derive(Debug, Clone)]
pub struct WorkbookFolders {
    /// The folders of all sessions; a workbook lies beside a session's files.
    pub files: FileTools,
    /// Where a person may have templates of their own.
    pub templates: Option<PathBuf>,
}

impl Engine {
    /// The same engine with copies of workbooks on disk.
    pub fn with_workbook_folders(mut self, folders: WorkbookFolders) -> Self {
        self.workbook_copies = Copies::In(folders);
        self
    }

    /// The same engine with workbooks in the ledger alone.
    pub fn without_workbook_folders(mut self) -> Self {
        self.workbook_copies = Copies::Nowhere;
        self
    }

    /// The same, beside these files, unless it is known already where copies are.
    pub(crate) fn with_workbook_beside(self, files: &FileTools) -> Self {
        match self.workbook_copies {
            Copies::BesideFiles => {
                self.with_workbook_folders(WorkbookFolders { files: files.clone(), templates: None })
            }
            Copies::Nowhere | Copies::In(_) => self,
        }
    }

    fn workbook_folders(&self) -> Option<&WorkbookFolders> {
        match &self.workbook_copies {
            Copies::In(folders) => Some(folders),
            Copies::BesideFiles | Copies::Nowhere => None,
        }
    }
}
