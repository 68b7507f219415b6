//! The sync between the ledger and the files. A person's edit goes into the ledger first; then the files are written from
//! the ledger.
//!
//! A file is stale if its text is one that the ledger had before: the process ended between the commit and the file, or
//! another machine wrote. Every other text is a person's. It was made from the version that was last put there; if the
//! ledger has a newer one by now, both are kept.

use std::sync::Arc;

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::Command;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::{Archive, DocumentKind, Documents, Workbook, WorkbookCommand, WriteOrigin, archive};

use super::document::DocumentReader;
use super::notes::Note;
use crate::ledger::{Committed, LedgerError, LedgerResult};
use crate::lookup;
use crate::submitter::Submitter;
use crate::workbook_dir::{
    OnDisk, WorkbookDir, WorkbookFolders, WorkbookLocation, WriteRecord, WriteResult, WrittenVersion,
};

/// How often a sync starts over because a file or the ledger changed meanwhile. A person does not save more often.
const MAX_ROUNDS: u32 = 8;

/// The channel of edits that a person makes in the files.
pub(super) const DISK: &str = "disk";

/// Notes about the files, and the last commit of a sync.
#[derive(Debug, Default)]
pub(super) struct SyncReport {
    pub(super) notes: Vec<Note>,
    /// The last commit, if there was one.
    pub(super) committed: Option<Committed>,
}

/// The files of one session while an operation is under way.
#[derive(Debug)]
pub(super) struct WorkbookFiles {
    dir: Option<Arc<WorkbookDir>>,
    /// Why the files cannot be used.
    error: Option<Refusal>,
}

impl WorkbookFiles {
    /// The names that archives on disk have.
    pub(super) async fn archive_names(&self) -> Vec<String> {
        let Some(dir) = self.dir.clone() else { return Vec::new() };
        blocking(move || Ok(dir.archive_names())).await.unwrap_or_default()
    }
}

/// Whether the sync has to start over.
enum SyncStep {
    Done,
    Repeat,
}

/// Keeps the files of workbooks and the ledger the same.
#[derive(Debug, Clone)]
pub(super) struct FileSync {
    submitter: Submitter,
    reader: DocumentReader,
    folders: Option<WorkbookFolders>,
}

impl FileSync {
    pub(super) fn new(submitter: Submitter, reader: DocumentReader, location: &WorkbookLocation) -> Self {
        let folders = match location {
            WorkbookLocation::In(folders) => Some(folders.clone()),
            WorkbookLocation::BesideFiles | WorkbookLocation::Nowhere => None,
        };
        Self { submitter, reader, folders }
    }

    /// `None` if workbooks are in the ledger only.
    pub(super) fn folders(&self) -> Option<&WorkbookFolders> {
        self.folders.as_ref()
    }

    /// The session's files, locked for one operation. No folder is created.
    pub(super) async fn open(&self, session: &SessionIdentity) -> WorkbookFiles {
        let most = self.submitter.policy().limits.document_bytes;
        let Some(folders) = self.folders() else { return WorkbookFiles { dir: None, error: None } };
        let (files, session) = (Arc::clone(&folders.files), session.clone());
        match blocking(move || files.open_folder(&session)?.map(|own| WorkbookDir::lock(own, most)).transpose()).await {
            Ok(dir) => WorkbookFiles { dir: dir.map(Arc::new), error: None },
            Err(error) => WorkbookFiles { dir: None, error: Some(error) },
        }
    }

    /// The workbook's folder, created if it does not exist.
    async fn created_dir(
        &self,
        session: &SessionIdentity,
        workbook_files: &WorkbookFiles,
    ) -> Result<Option<Arc<WorkbookDir>>, Refusal> {
        if let Some(error) = &workbook_files.error {
            return Err(error.clone());
        }
        let (None, Some(folders)) = (&workbook_files.dir, self.folders()) else {
            return Ok(workbook_files.dir.clone());
        };
        let (files, session) = (Arc::clone(&folders.files), session.clone());
        let most = self.submitter.policy().limits.document_bytes;
        Ok(Some(Arc::new(blocking(move || WorkbookDir::lock(files.make_folder(&session)?, most)).await?)))
    }

    /// A problem with the files becomes a note and not an error, because the ledger has every document.
    pub(super) async fn sync(
        &self,
        session: &SessionIdentity,
        workbook_files: &WorkbookFiles,
    ) -> LedgerResult<SyncReport> {
        let mut report = SyncReport::default();
        for _ in 0..MAX_ROUNDS {
            match self.sync_once(session, workbook_files, &mut report).await {
                Ok(SyncStep::Done) => break,
                Ok(SyncStep::Repeat) => {}
                Err(Failed::Ledger(error)) => return Err(error),
                Err(Failed::Files(refusal)) => {
                    tracing::warn!(session_identity = %session, event = "planning_files", %refusal);
                    report.notes.push(Note::Trouble { reason: refusal.message });
                    break;
                }
            }
        }
        Ok(report)
    }

    async fn sync_once(
        &self,
        session: &SessionIdentity,
        workbook_files: &WorkbookFiles,
        report: &mut SyncReport,
    ) -> Result<SyncStep, Failed> {
        if self.folders().is_none() {
            return Ok(SyncStep::Done);
        }
        let Some(state) = lookup::session(self.submitter.ledger().as_ref(), session).await?.workbook else {
            return Ok(SyncStep::Done);
        };
        let nothing_kept = state.current.is_none() && state.archives.is_empty();
        let dir =
            if nothing_kept { workbook_files.dir.clone() } else { self.created_dir(session, workbook_files).await? };
        let Some(dir) = dir else { return Ok(SyncStep::Done) };
        let (found, mut written) = {
            let dir = Arc::clone(&dir);
            blocking(move || Ok((dir.read_all()?, dir.write_record()))).await?
        };
        let before = written.clone();
        let look = match &state.current {
            Some(workbook) => {
                let applied = self.apply_edits(session, workbook, &dir, &found, &written, report).await?;
                match applied {
                    SyncStep::Repeat => return Ok(SyncStep::Repeat),
                    SyncStep::Done => self.write_out(session, workbook, &dir, &found, &mut written).await?,
                }
            }
            None => clear_away(&dir, &found, &mut written, report).await?,
        };
        self.write_archives(session, &state.archives, &dir, &mut written).await?;
        if written != before {
            blocking(move || dir.save_write_record(&written)).await?;
        }
        Ok(look)
    }

    /// Submits a person's edits of the files. The ledger has a newer version afterwards, so the sync starts over.
    async fn apply_edits(
        &self,
        session: &SessionIdentity,
        workbook: &Workbook,
        dir: &Arc<WorkbookDir>,
        found: &Documents<OnDisk>,
        written: &WriteRecord,
        report: &mut SyncReport,
    ) -> Result<SyncStep, Failed> {
        let mut look = SyncStep::Done;
        for which in DocumentKind::ALL {
            let state = *workbook.document(which);
            let base = written.documents.get(&which).copied();
            let text = match found.get(which) {
                OnDisk::Missing => continue,
                OnDisk::Unusable(reason) => {
                    let dir = Arc::clone(dir);
                    let kept_as = blocking(move || dir.set_aside(which, state.version)).await?;
                    report.notes.push(Note::SetAside { which, kept_as, reason: (*reason).to_owned() });
                    look = SyncStep::Repeat;
                    continue;
                }
                OnDisk::Text(text) => text.clone(),
            };
            let digest = found.get(which).digest();
            if digest == Some(state.digest) || digest == base.map(|base| base.digest) {
                continue;
            }
            let since = base.map(|base| base.version);
            if let Some(digest) = digest
                && self.reader.was_version(session, which, &state, digest, since).await?
            {
                continue;
            }
            let note = if since == Some(state.version) {
                Note::TakenIn { which, version: state.version + 1 }
            } else {
                let other = self.reader.version(session, which, &state).await?.text;
                let dir = Arc::clone(dir);
                let kept_as = blocking(move || dir.keep_beside(which, state.version, &other)).await?;
                Note::Conflict { which, version: state.version + 1, kept_as }
            };
            let why = if matches!(note, Note::TakenIn { .. }) { WriteOrigin::User } else { WriteOrigin::Conflict };
            let write = WorkbookCommand::Write { which, base_version: state.version, content: text, why };
            match self.submitter.submit(session, &edit_of_file(), Command::Workbook(write)).await {
                Ok(committed) => {
                    report.committed = Some(committed);
                    report.notes.push(note);
                }
                // Another writer was faster; the next round starts from their version.
                Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {}
                Err(error) => return Err(error.into()),
            }
            look = SyncStep::Repeat;
        }
        Ok(look)
    }

    /// Writes the files that are not as the ledger has them.
    async fn write_out(
        &self,
        session: &SessionIdentity,
        workbook: &Workbook,
        dir: &Arc<WorkbookDir>,
        found: &Documents<OnDisk>,
        written: &mut WriteRecord,
    ) -> Result<SyncStep, Failed> {
        for which in DocumentKind::ALL {
            let state = *workbook.document(which);
            let there = found.get(which).clone();
            if there.digest() != Some(state.digest) {
                let text = self.reader.version(session, which, &state).await?.text;
                let dir = Arc::clone(dir);
                if blocking(move || dir.write(which, &text, &there)).await? == WriteResult::Changed {
                    return Ok(SyncStep::Repeat);
                }
            }
            written.documents.insert(which, WrittenVersion { version: state.version, digest: state.digest });
        }
        Ok(SyncStep::Done)
    }

    async fn write_archives(
        &self,
        session: &SessionIdentity,
        archives: &[Archive],
        dir: &Arc<WorkbookDir>,
        written: &mut WriteRecord,
    ) -> Result<(), Failed> {
        for put_away in archives {
            if written.archives.contains(&put_away.name) {
                continue;
            }
            let texts = self.reader.texts(session, &put_away.seqs).await?;
            let text = archive::text(&put_away.title, put_away.at, &texts);
            let (dir, name) = (Arc::clone(dir), put_away.name.clone());
            blocking(move || dir.write_archive(&name, &text)).await?;
            written.archives.insert(put_away.name.clone());
        }
        Ok(())
    }
}

/// Removes the files of a cleared workbook. A file that a person edited meanwhile is kept under another name.
async fn clear_away(
    dir: &Arc<WorkbookDir>,
    found: &Documents<OnDisk>,
    written: &mut WriteRecord,
    report: &mut SyncReport,
) -> Result<SyncStep, Failed> {
    for (which, base) in std::mem::take(&mut written.documents) {
        let there = found.get(which);
        let untouched = *there == OnDisk::Missing || there.digest() == Some(base.digest);
        let dir = Arc::clone(dir);
        if untouched {
            blocking(move || dir.remove(which)).await?;
        } else {
            let kept_as = blocking(move || dir.set_aside(which, base.version)).await?;
            let reason = "it was edited while the workbook was cleared".to_owned();
            report.notes.push(Note::SetAside { which, kept_as, reason });
        }
    }
    Ok(SyncStep::Done)
}

/// Who wrote into the file is not known: an agent with a shell can do it, too.
fn edit_of_file() -> Actor {
    Actor::new(ActorKind::System, "an edit of the file", DISK)
}

enum Failed {
    Ledger(LedgerError),
    Files(Refusal),
}

impl From<LedgerError> for Failed {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Files(refusal)
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Refusal> + Send + 'static) -> Result<T, Refusal> {
    let broke_off = |_| Err(Refusal::new(RefusalCode::Internal, "Work on the planning files was interrupted."));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(broke_off)
}
