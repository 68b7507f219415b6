//! The ledger and the files, brought together. A person's edit is taken in first; then the files are written as the
//! ledger has them.
//!
//! A file is stale if its text is one that the ledger had before: the process ended between the commit and the file, or
//! another machine wrote. Every other text is a person's. It was made from the version that was last put there; if the
//! ledger has a newer one by now, both are kept.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::{Archive, DocumentKind, Documents, Workbook, WorkbookCommand, WriteOrigin, archive};

use super::notes::Note;
use crate::engine::Engine;
use crate::ledger::{Committed, LedgerError, LedgerResult};
use crate::workbook_dir::{OnDisk, WorkbookDir, WriteRecord, WriteResult, WrittenVersion};

/// How often a sync starts over because a file or the ledger changed meanwhile. A person does not save more often.
const MAX_ROUNDS: u32 = 8;

/// Where a person's edits come through.
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

/// Whether the sync has to start over.
enum SyncStep {
    Done,
    Repeat,
}

impl Engine {
    /// Takes in what a person wrote and mends what a crash left. It costs next to nothing where there is no workbook.
    pub async fn sync_workbook(&self, session: &SessionIdentity) -> LedgerResult<Vec<Note>> {
        let workbook_files = self.workbook_files(session).await;
        Ok(self.sync(session, &workbook_files).await?.notes)
    }

    /// The session's files, for this operation alone. Nothing is made.
    pub(super) async fn workbook_files(&self, session: &SessionIdentity) -> WorkbookFiles {
        let most = self.policy().limits.document_bytes;
        let Some(folders) = self.workbook_folders() else { return WorkbookFiles { dir: None, error: None } };
        let folder = folders.files.whole_folder(session);
        match blocking(move || WorkbookDir::open(&folder, most)).await {
            Ok(dir) => WorkbookFiles { dir: dir.map(Arc::new), error: None },
            Err(error) => WorkbookFiles { dir: None, error: Some(error) },
        }
    }

    /// The same, and the session has a folder afterwards.
    async fn created_dir(
        &self,
        session: &SessionIdentity,
        workbook_files: &WorkbookFiles,
    ) -> Result<Option<Arc<WorkbookDir>>, Refusal> {
        if let Some(error) = &workbook_files.error {
            return Err(error.clone());
        }
        let (None, Some(folders)) = (&workbook_files.dir, self.workbook_folders()) else {
            return Ok(workbook_files.dir.clone());
        };
        let (folder, most) = (folders.files.whole_folder(session), self.policy().limits.document_bytes);
        Ok(Some(Arc::new(blocking(move || WorkbookDir::create(&folder, most)).await?)))
    }

    /// Trouble with the files is told and fails nothing: the ledger has everything.
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
        if self.workbook_folders().is_none() {
            return Ok(SyncStep::Done);
        }
        let Some(state) = self.session(session).await?.workbook else { return Ok(SyncStep::Done) };
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
                let taken_in = self.take_in(session, workbook, &dir, &found, &written, report).await?;
                match taken_in {
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

    /// Takes in what a person wrote. Afterwards the ledger has another version, and everything is looked at again.
    async fn take_in(
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
                && self.was_version(session, which, &state, digest, since).await?
            {
                continue;
            }
            let note = if since == Some(state.version) {
                Note::TakenIn { which, version: state.version + 1 }
            } else {
                let other = self.version(session, which, &state).await?.text;
                let dir = Arc::clone(dir);
                let kept_as = blocking(move || dir.keep_beside(which, state.version, &other)).await?;
                Note::Conflict { which, version: state.version + 1, kept_as }
            };
            let why = if matches!(note, Note::TakenIn { .. }) { WriteOrigin::User } else { WriteOrigin::Conflict };
            let write = WorkbookCommand::Write { which, base_version: state.version, content: text, why };
            match self.submit(session, &Actor::person("the user", DISK), Command::Workbook(write)).await {
                Ok(committed) => {
                    report.committed = Some(committed);
                    report.notes.push(note);
                }
                // Somebody was faster; with the next look it is made from their version.
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
                let text = self.version(session, which, &state).await?.text;
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
            let texts = self.texts(session, &put_away.seqs).await?;
            let text = archive::text(&put_away.title, put_away.at, &texts);
            let (dir, name) = (Arc::clone(dir), put_away.name.clone());
            blocking(move || dir.write_archive(&name, &text)).await?;
            written.archives.insert(put_away.name.clone());
        }
        Ok(())
    }

    /// The names that archives on disk have.
    pub(super) async fn archive_names(&self, workbook_files: &WorkbookFiles) -> Vec<String> {
        let Some(dir) = workbook_files.dir.clone() else { return Vec::new() };
        blocking(move || Ok(dir.archive_names())).await.unwrap_or_default()
    }
}

/// Takes the files of a workbook away that was cleared. What a person changed since stays, under another name.
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
    let broke_off = |_| Err(Refusal::new(RefusalCode::Internal, "Work on the planning files broke off."));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(broke_off)
}
