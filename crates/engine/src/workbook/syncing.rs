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
use super::shelf::{OnDisk, Put, Shelf, Written, WrittenDocument};
use crate::engine::Engine;
use crate::ledger::{Committed, LedgerError, LedgerResult};

/// How often everything is looked at again because somebody was faster. A person does not type more often than that.
const MOST_LOOKS: u32 = 8;

/// Where a person's edits come through.
pub(super) const DISK: &str = "disk";

/// What was found out about the files, and what the ledger has since.
#[derive(Debug, Default)]
pub(super) struct Synced {
    pub(super) notes: Vec<Note>,
    /// What was written into the ledger last, if something was.
    pub(super) committed: Option<Committed>,
}

/// The files of one session while an operation is under way.
#[derive(Debug)]
pub(super) struct Desktop {
    shelf: Option<Arc<Shelf>>,
    /// Why there are none, if they cannot be used.
    trouble: Option<Refusal>,
}

/// Whether everything has to be looked at again.
enum Look {
    Done,
    Again,
}

impl Engine {
    /// Takes in what a person wrote and mends what a crash left. It costs next to nothing where there is no workbook.
    pub async fn sync_workbook(&self, session: &SessionIdentity) -> LedgerResult<Vec<Note>> {
        let desktop = self.desktop(session).await;
        Ok(self.sync(session, &desktop).await?.notes)
    }

    /// The session's files, for this operation alone. Nothing is made.
    pub(super) async fn desktop(&self, session: &SessionIdentity) -> Desktop {
        let most = self.policy().limits.document_bytes;
        let Some(folders) = self.workbook_folders() else { return Desktop { shelf: None, trouble: None } };
        let folder = folders.files.whole_folder(session);
        match blocking(move || Shelf::open(&folder, most)).await {
            Ok(shelf) => Desktop { shelf: shelf.map(Arc::new), trouble: None },
            Err(trouble) => Desktop { shelf: None, trouble: Some(trouble) },
        }
    }

    /// The same, and the session has a folder afterwards.
    async fn desktop_made(&self, session: &SessionIdentity, desktop: &Desktop) -> Result<Option<Arc<Shelf>>, Refusal> {
        if let Some(trouble) = &desktop.trouble {
            return Err(trouble.clone());
        }
        let (None, Some(folders)) = (&desktop.shelf, self.workbook_folders()) else { return Ok(desktop.shelf.clone()) };
        let (folder, most) = (folders.files.whole_folder(session), self.policy().limits.document_bytes);
        Ok(Some(Arc::new(blocking(move || Shelf::make(&folder, most)).await?)))
    }

    /// Trouble with the files is told and fails nothing: the ledger has everything.
    pub(super) async fn sync(&self, session: &SessionIdentity, desktop: &Desktop) -> LedgerResult<Synced> {
        let mut synced = Synced::default();
        for _ in 0..MOST_LOOKS {
            match self.sync_once(session, desktop, &mut synced).await {
                Ok(Look::Done) => break,
                Ok(Look::Again) => {}
                Err(Failed::Ledger(error)) => return Err(error),
                Err(Failed::Files(refusal)) => {
                    tracing::warn!(session_identity = %session, event = "planning_files", %refusal);
                    synced.notes.push(Note::Trouble { reason: refusal.message });
                    break;
                }
            }
        }
        Ok(synced)
    }

    async fn sync_once(
        &self,
        session: &SessionIdentity,
        desktop: &Desktop,
        synced: &mut Synced,
    ) -> Result<Look, Failed> {
        if self.workbook_folders().is_none() {
            return Ok(Look::Done);
        }
        let Some(state) = self.session(session).await?.workbook else { return Ok(Look::Done) };
        let nothing_kept = state.current.is_none() && state.archives.is_empty();
        let shelf = if nothing_kept { desktop.shelf.clone() } else { self.desktop_made(session, desktop).await? };
        let Some(shelf) = shelf else { return Ok(Look::Done) };
        let (found, mut written) = {
            let shelf = Arc::clone(&shelf);
            blocking(move || Ok((shelf.look()?, shelf.written()))).await?
        };
        let before = written.clone();
        let look = match &state.current {
            Some(workbook) => {
                let taken_in = self.take_in(session, workbook, &shelf, &found, &written, synced).await?;
                match taken_in {
                    Look::Again => return Ok(Look::Again),
                    Look::Done => self.write_out(session, workbook, &shelf, &found, &mut written).await?,
                }
            }
            None => clear_away(&shelf, &found, &mut written, synced).await?,
        };
        self.write_archives(session, &state.archives, &shelf, &mut written).await?;
        if written != before {
            blocking(move || shelf.note_written(&written)).await?;
        }
        Ok(look)
    }

    /// Takes in what a person wrote. Afterwards the ledger has another version, and everything is looked at again.
    async fn take_in(
        &self,
        session: &SessionIdentity,
        workbook: &Workbook,
        shelf: &Arc<Shelf>,
        found: &Documents<OnDisk>,
        written: &Written,
        synced: &mut Synced,
    ) -> Result<Look, Failed> {
        let mut look = Look::Done;
        for which in DocumentKind::ALL {
            let state = *workbook.document(which);
            let base = written.documents.get(&which).copied();
            let text = match found.get(which) {
                OnDisk::Nothing => continue,
                OnDisk::Unusable(reason) => {
                    let shelf = Arc::clone(shelf);
                    let kept_as = blocking(move || shelf.set_aside(which, state.version)).await?;
                    synced.notes.push(Note::SetAside { which, kept_as, reason: (*reason).to_owned() });
                    look = Look::Again;
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
                let shelf = Arc::clone(shelf);
                let kept_as = blocking(move || shelf.keep_beside(which, state.version, &other)).await?;
                Note::Conflict { which, version: state.version + 1, kept_as }
            };
            let why = if matches!(note, Note::TakenIn { .. }) { WriteOrigin::User } else { WriteOrigin::Conflict };
            let write = WorkbookCommand::Write { which, base_version: state.version, content: text, why };
            match self.submit(session, &Actor::person("the user", DISK), Command::Workbook(write)).await {
                Ok(committed) => {
                    synced.committed = Some(committed);
                    synced.notes.push(note);
                }
                // Somebody was faster; with the next look it is made from their version.
                Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {}
                Err(error) => return Err(error.into()),
            }
            look = Look::Again;
        }
        Ok(look)
    }

    /// Writes the files that are not as the ledger has them.
    async fn write_out(
        &self,
        session: &SessionIdentity,
        workbook: &Workbook,
        shelf: &Arc<Shelf>,
        found: &Documents<OnDisk>,
        written: &mut Written,
    ) -> Result<Look, Failed> {
        for which in DocumentKind::ALL {
            let state = *workbook.document(which);
            let there = found.get(which).clone();
            if there.digest() != Some(state.digest) {
                let text = self.version(session, which, &state).await?.text;
                let shelf = Arc::clone(shelf);
                if blocking(move || shelf.put(which, &text, &there)).await? == Put::Changed {
                    return Ok(Look::Again);
                }
            }
            written.documents.insert(which, WrittenDocument { version: state.version, digest: state.digest });
        }
        Ok(Look::Done)
    }

    async fn write_archives(
        &self,
        session: &SessionIdentity,
        archives: &[Archive],
        shelf: &Arc<Shelf>,
        written: &mut Written,
    ) -> Result<(), Failed> {
        for put_away in archives {
            if written.archives.contains(&put_away.name) {
                continue;
            }
            let texts = self.texts(session, &put_away.seqs).await?;
            let text = archive::text(&put_away.title, put_away.at, &texts);
            let (shelf, name) = (Arc::clone(shelf), put_away.name.clone());
            blocking(move || shelf.put_archive(&name, &text)).await?;
            written.archives.insert(put_away.name.clone());
        }
        Ok(())
    }

    /// The names that archives on disk have.
    pub(super) async fn archive_names(&self, desktop: &Desktop) -> Vec<String> {
        let Some(shelf) = desktop.shelf.clone() else { return Vec::new() };
        blocking(move || Ok(shelf.archive_names())).await.unwrap_or_default()
    }
}

/// Takes the files of a workbook away that was cleared. What a person changed since stays, under another name.
async fn clear_away(
    shelf: &Arc<Shelf>,
    found: &Documents<OnDisk>,
    written: &mut Written,
    synced: &mut Synced,
) -> Result<Look, Failed> {
    for (which, base) in std::mem::take(&mut written.documents) {
        let there = found.get(which);
        let untouched = *there == OnDisk::Nothing || there.digest() == Some(base.digest);
        let shelf = Arc::clone(shelf);
        if untouched {
            blocking(move || shelf.remove(which)).await?;
        } else {
            let kept_as = blocking(move || shelf.set_aside(which, base.version)).await?;
            let reason = "it was edited while the workbook was cleared".to_owned();
            synced.notes.push(Note::SetAside { which, kept_as, reason });
        }
    }
    Ok(Look::Done)
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
