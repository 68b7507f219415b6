//! Changes of a workbook: begin, edit and clear. Each is made from the newest version, or not at all.

use planwright_core::command::Command;
use planwright_core::event::{Event, WorkbookEvent};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::template::fresh;
use planwright_core::workbook::{DocumentKind, Documents, Workbook, WorkbookCommand, WriteOrigin};

use super::document::{DocumentReader, none_yet};
use super::notes::Note;
use super::sync::{FileSync, SyncReport, WorkbookFiles};
use super::templates;
use crate::ledger::{Committed, LedgerError, LedgerResult};
use crate::submitter::{SubmitRequest, Submitter};

/// The number of times that a change is tried while other writers are faster.
const MAX_ATTEMPTS: u32 = 16;

/// A workbook to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWorkbook {
    pub title: String,
    /// Archives the current workbook even if it is not complete.
    pub force_new: bool,
}

/// The result of asking for a workbook.
#[derive(Debug, Clone)]
pub struct InitOutcome {
    /// The current workbook.
    pub workbook: Workbook,
    /// False if the current workbook is not complete: nothing was changed.
    pub is_new: bool,
    /// The name under which the one before it was archived.
    pub archived: Option<String>,
    pub notes: Vec<Note>,
    pub committed: Option<Committed>,
}

/// The result of an edit.
#[derive(Debug, Clone)]
pub struct EditOutcome {
    pub version: u32,
    /// Whether the text differs from the one before.
    pub changed: bool,
    pub bytes: usize,
    pub notes: Vec<Note>,
    pub committed: Option<Committed>,
}

/// Changes workbooks in the ledger and then brings the files up to date.
#[derive(Debug, Clone)]
pub(super) struct WorkbookEditor {
    submitter: Submitter,
    reader: DocumentReader,
    files: FileSync,
}

impl WorkbookEditor {
    pub(super) fn new(submitter: Submitter, reader: DocumentReader, files: FileSync) -> Self {
        Self { submitter, reader, files }
    }

    /// Begins a workbook, unless the current one is not complete. A complete one is archived first.
    /// A document that `texts` has is begun with that, every other one with its template.
    pub(super) async fn init(
        &self,
        request: SubmitRequest<'_>,
        new: &NewWorkbook,
        texts: &Documents<Option<String>>,
    ) -> LedgerResult<InitOutcome> {
        let session = request.session;
        let workbook_files = self.files.open(session).await;
        let mut notes = self.files.sync(session, &workbook_files).await?.notes;
        let (templates, broken) = templates::load(self.files.folders(), self.submitter.policy()).await;
        for attempt in 1.. {
            let current = self.reader.current(session).await?;
            if let Some(workbook) = &current
                && !new.force_new
                && !self.reader.is_complete(session, workbook).await?
            {
                let workbook = workbook.clone();
                return Ok(InitOutcome { workbook, is_new: false, archived: None, notes, committed: None });
            }
            let begin = WorkbookCommand::Begin {
                title: new.title.clone(),
                documents: Documents::each(|which| {
                    let made = || fresh(which, &new.title, self.submitter.now(), &templates);
                    texts.get(which).clone().unwrap_or_else(made)
                }),
                replaces: current.as_ref().map(Workbook::versions),
                taken: workbook_files.archive_names().await,
            };
            match self.submitter.submit_as(request.clone(), Command::Workbook(begin)).await {
                Err(LedgerError::Refused(refusal)) if again(&refusal, attempt) => {
                    notes.extend(self.files.sync(session, &workbook_files).await?.notes);
                }
                Err(error) => return Err(error),
                Ok(committed) => {
                    notes.extend(broken);
                    let archived = committed.events.iter().find_map(|event| match event {
                        Event::Workbook(WorkbookEvent::Archived { name }) => Some(name.clone()),
                        _ => None,
                    });
                    let committed = self.written_out(session, &workbook_files, committed, &mut notes).await?;
                    let workbook = workbook_of(&committed)?;
                    return Ok(InitOutcome { workbook, is_new: true, archived, notes, committed: Some(committed) });
                }
            }
        }
        Err(none_yet())
    }

    /// Changes a document: `edit` maps its text to the new one. It is called again if another writer was faster.
    pub(super) async fn edit(
        &self,
        request: SubmitRequest<'_>,
        which: DocumentKind,
        why: WriteOrigin,
        mut edit: impl FnMut(&str) -> Result<String, Refusal> + Send,
    ) -> LedgerResult<EditOutcome> {
        let session = request.session;
        let workbook_files = self.files.open(session).await;
        let SyncReport { mut notes, mut committed } = self.files.sync(session, &workbook_files).await?;
        for attempt in 1.. {
            let before = self.reader.document(session, which).await?;
            let content = edit(&before.text)?;
            let bytes = content.len();
            if content == before.text {
                return Ok(EditOutcome { version: before.version, changed: false, bytes, notes, committed });
            }
            let write = WorkbookCommand::Write { which, base_version: before.version, content, why };
            match self.submitter.submit_as(request.clone(), Command::Workbook(write)).await {
                Err(LedgerError::Refused(refusal)) if again(&refusal, attempt) => {
                    let report = self.files.sync(session, &workbook_files).await?;
                    notes.extend(report.notes);
                    committed = report.committed.or(committed);
                }
                Err(error) => return Err(error),
                Ok(committed) => {
                    let version = version_in(&committed, which).unwrap_or(before.version + 1);
                    let committed = self.written_out(session, &workbook_files, committed, &mut notes).await?;
                    return Ok(EditOutcome { version, changed: true, bytes, notes, committed: Some(committed) });
                }
            }
        }
        Err(none_yet())
    }

    /// Replaces a document by what a person wrote from this version of it. If it is not the newest version any more, nothing is
    /// changed and the answer is a conflict, unless the newest version says the same.
    pub(super) async fn write(
        &self,
        request: SubmitRequest<'_>,
        which: DocumentKind,
        base_version: u32,
        content: String,
    ) -> LedgerResult<EditOutcome> {
        let session = request.session;
        let workbook_files = self.files.open(session).await;
        let SyncReport { mut notes, committed } = self.files.sync(session, &workbook_files).await?;
        let before = self.reader.document(session, which).await?;
        let bytes = content.len();
        if content == before.text {
            return Ok(EditOutcome { version: before.version, changed: false, bytes, notes, committed });
        }
        let write = WorkbookCommand::Write { which, base_version, content, why: WriteOrigin::User };
        let committed = self.submitter.submit_as(request, Command::Workbook(write)).await?;
        let version = version_in(&committed, which).unwrap_or(base_version + 1);
        let committed = self.written_out(session, &workbook_files, committed, &mut notes).await?;
        Ok(EditOutcome { version, changed: true, bytes, notes, committed: Some(committed) })
    }

    /// Removes the documents; archives and the history stay.
    pub(super) async fn clear(&self, request: SubmitRequest<'_>) -> LedgerResult<(Vec<Note>, Committed)> {
        let session = request.session;
        let workbook_files = self.files.open(session).await;
        let mut notes = self.files.sync(session, &workbook_files).await?.notes;
        for attempt in 1.. {
            let workbook = self.reader.current(session).await?.ok_or_else(none_yet)?;
            let clear = WorkbookCommand::Clear { base_versions: workbook.versions() };
            match self.submitter.submit_as(request.clone(), Command::Workbook(clear)).await {
                Err(LedgerError::Refused(refusal)) if again(&refusal, attempt) => {
                    notes.extend(self.files.sync(session, &workbook_files).await?.notes);
                }
                Err(error) => return Err(error),
                Ok(committed) => {
                    let committed = self.written_out(session, &workbook_files, committed, &mut notes).await?;
                    return Ok((notes, committed));
                }
            }
        }
        Err(none_yet())
    }

    /// Updates the files after a commit. A person may have edited them meanwhile, so there may be a newer commit.
    async fn written_out(
        &self,
        session: &SessionIdentity,
        workbook_files: &WorkbookFiles,
        committed: Committed,
        notes: &mut Vec<Note>,
    ) -> LedgerResult<Committed> {
        let report = self.files.sync(session, workbook_files).await?;
        notes.extend(report.notes);
        Ok(report.committed.unwrap_or(committed))
    }
}

fn again(refusal: &Refusal, attempt: u32) -> bool {
    refusal.code == RefusalCode::Conflict && attempt < MAX_ATTEMPTS
}

fn version_in(committed: &Committed, wanted: DocumentKind) -> Option<u32> {
    committed.events.iter().find_map(|event| match event {
        Event::Workbook(WorkbookEvent::Written { which, version, .. }) if *which == wanted => Some(*version),
        _ => None,
    })
}

fn workbook_of(committed: &Committed) -> LedgerResult<Workbook> {
    let session = committed.snapshot.session.as_ref();
    session.and_then(|session| session.current_workbook().cloned()).ok_or_else(none_yet)
}
