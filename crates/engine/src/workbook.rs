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
//! - `templates`: the text of a new document, from the person's templates if there are any
//! - `middleware`: notes that are taken without the model asking, and the hint in the prompt
//! - `export`: a copy among the person's own files

mod document;
mod edit;
mod export;
mod middleware;
mod notes;
mod sync;
mod templates;

use std::path::PathBuf;

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::{Archive, DocumentKind, Documents, Workbook, WorkbookCommand, WriteOrigin, archive};
use serde_json::Value;

use crate::ledger::{Committed, LedgerResult};
use crate::lookup;
use crate::submitter::{SubmitRequest, Submitter};
use crate::workbook_dir::WorkbookLocation;

use document::none_yet;
use edit::WorkbookEditor;
use sync::FileSync;

pub use crate::workbook_dir::WorkbookFolders;
pub use document::DocumentReader;
pub use document::DocumentVersion;
pub use edit::{EditOutcome, InitOutcome, NewWorkbook};
pub use middleware::{EndedCall, WorkbookMiddleware};
pub use notes::Note;

/// How many archives are listed.
const LISTED_ARCHIVES: usize = 20;

#[derive(Debug, Clone)]
pub struct Workbooks {
    submitter: Submitter,
    reader: DocumentReader,
    files: FileSync,
    editor: WorkbookEditor,
}

/// The workbooks of a session.
#[derive(Debug, Clone)]
pub struct WorkbookList {
    pub current: Option<Workbook>,
    /// Whether the current workbook says that it is complete.
    pub is_complete: bool,
    /// In the order in which they were archived.
    pub archives: Vec<Archive>,
    pub notes: Vec<Note>,
}

impl WorkbookList {
    /// The archives that are listed, the newest first; the rest is counted.
    pub fn latest_archives(&self) -> impl Iterator<Item = &Archive> {
        self.archives.iter().rev().take(LISTED_ARCHIVES)
    }
}

impl Workbooks {
    pub(crate) fn new(submitter: Submitter, location: &WorkbookLocation) -> Self {
        let reader = DocumentReader::new(submitter.ledger().clone());
        let files = FileSync::new(submitter.clone(), reader.clone(), location);
        let editor = WorkbookEditor::new(submitter.clone(), reader.clone(), files.clone());
        Self { submitter, reader, files, editor }
    }

    /// `/plan files on|off`
    pub async fn switch_planning_files(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        on: bool,
    ) -> LedgerResult<Committed> {
        self.submitter.submit(session, by, Command::Workbook(WorkbookCommand::Switch { on })).await
    }

    /// Begins a workbook, unless the current one is not complete. A complete one is archived first.
    pub async fn init(&self, session: &SessionIdentity, by: &Actor, new: &NewWorkbook) -> LedgerResult<InitOutcome> {
        self.init_as(self.submitter.request(session, by), new).await
    }

    pub async fn init_as(&self, request: SubmitRequest<'_>, new: &NewWorkbook) -> LedgerResult<InitOutcome> {
        self.editor.init(request, new, &Documents::default()).await
    }

    /// Begins a workbook with documents that were written elsewhere. What is missing begins with its template.
    pub async fn adopt(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        new: &NewWorkbook,
        texts: &Documents<Option<String>>,
    ) -> LedgerResult<InitOutcome> {
        self.editor.init(self.submitter.request(session, by), new, texts).await
    }

    /// Changes a document: `edit` maps its text to the new one. It may be called more than once, because the change is
    /// made from the newest version or not at all.
    pub async fn edit(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        which: DocumentKind,
        why: WriteOrigin,
        edit: impl FnMut(&str) -> Result<String, Refusal> + Send,
    ) -> LedgerResult<EditOutcome> {
        self.edit_as(self.submitter.request(session, by), which, why, edit).await
    }

    pub async fn edit_as(
        &self,
        request: SubmitRequest<'_>,
        which: DocumentKind,
        why: WriteOrigin,
        edit: impl FnMut(&str) -> Result<String, Refusal> + Send,
    ) -> LedgerResult<EditOutcome> {
        self.editor.edit(request, which, why, edit).await
    }

    /// Replaces a document by what a person wrote from this version of it. If it is not the newest version any more, nothing is
    /// changed and the answer is a conflict, unless the newest version says the same.
    pub async fn write(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        which: DocumentKind,
        base_version: u32,
        content: String,
    ) -> LedgerResult<EditOutcome> {
        self.editor.write(self.submitter.request(session, by), which, base_version, content).await
    }

    /// Removes the documents; archives and the history stay.
    pub async fn clear(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Vec<Note>> {
        Ok(self.clear_as(self.submitter.request(session, by)).await?.0)
    }

    pub async fn clear_as(&self, request: SubmitRequest<'_>) -> LedgerResult<(Vec<Note>, Committed)> {
        self.editor.clear(request).await
    }

    /// Takes in the edits of a person and restores files that a crash left incomplete. Without a workbook it costs one
    /// read.
    pub async fn sync(&self, session: &SessionIdentity) -> LedgerResult<Vec<Note>> {
        let files = self.files.open(session).await;
        Ok(self.files.sync(session, &files).await?.notes)
    }

    /// The current workbook, without its texts.
    pub async fn current(&self, session: &SessionIdentity) -> LedgerResult<Option<Workbook>> {
        self.reader.current(session).await
    }

    /// The newest version of a document.
    pub async fn document(&self, session: &SessionIdentity, which: DocumentKind) -> LedgerResult<DocumentVersion> {
        self.reader.document(session, which).await
    }

    /// The version of a document that belongs to this state of the workbook.
    async fn version(
        &self,
        session: &SessionIdentity,
        which: DocumentKind,
        workbook: &Workbook,
    ) -> LedgerResult<DocumentVersion> {
        self.reader.version(session, which, workbook.document(which)).await
    }

    /// Whether the task plan says that it is complete.
    pub async fn is_complete(&self, session: &SessionIdentity, workbook: &Workbook) -> LedgerResult<bool> {
        self.reader.is_complete(session, workbook).await
    }

    /// The newest version of a document and its workbook, after the edits of a person are taken in.
    pub async fn read(
        &self,
        session: &SessionIdentity,
        which: DocumentKind,
    ) -> LedgerResult<(DocumentVersion, Workbook, Vec<Note>)> {
        let notes = self.sync(session).await?;
        let workbook = self.current(session).await?.ok_or_else(none_yet)?;
        Ok((self.version(session, which, &workbook).await?, workbook, notes))
    }

    /// The current workbook and the archived ones.
    pub async fn list(&self, session: &SessionIdentity) -> LedgerResult<WorkbookList> {
        let notes = self.sync(session).await?;
        let state = lookup::session(self.submitter.ledger().as_ref(), session).await?.workbook.unwrap_or_default();
        let is_complete = match &state.current {
            Some(workbook) => self.is_complete(session, workbook).await?,
            None => false,
        };
        Ok(WorkbookList { current: state.current, is_complete, archives: state.archives, notes })
    }

    /// Where the person's files of a session are; copies of documents go there.
    pub fn files_path(&self, session: &SessionIdentity) -> Option<PathBuf> {
        self.files.folders().map(|folders| folders.files.files_path(session))
    }

    /// Copies one document, or all three in one file, to the person's files. Returns the path among them and the size of the
    /// copy.
    pub async fn export(
        &self,
        session: &SessionIdentity,
        which: Option<DocumentKind>,
        path: Option<&str>,
    ) -> LedgerResult<(Value, Vec<Note>)> {
        let notes = self.sync(session).await?;
        let Some(folders) = self.files.folders() else {
            return Err(Refusal::new(RefusalCode::Unavailable, "There are no files of the person here.").into());
        };
        let text = match which {
            Some(which) => self.document(session, which).await?.text,
            None => {
                let workbook = self.current(session).await?.ok_or_else(none_yet)?;
                let texts = self.reader.texts(session, &workbook.documents.map(|document| document.seq)).await?;
                archive::text(&workbook.title, self.submitter.now(), &texts)
            }
        };
        Ok((export::write(folders, session, which, path, text).await?, notes))
    }
}
