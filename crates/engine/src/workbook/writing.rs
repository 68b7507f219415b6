//! Beginning a workbook, editing its documents, clearing it, and switching planning files on and off.

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::event::{Event, WorkbookEvent};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::template::fresh;
use planwright_core::workbook::{DocumentKind, Documents, Workbook, WorkbookCommand, WriteOrigin, completion};

use super::notes::Note;
use super::reading::none_yet;
use super::syncing::{Desktop, Synced};
use crate::engine::{Asking, Engine};
use crate::ledger::{Committed, Leasing, LedgerError, LedgerResult};

/// How often a change is made again because somebody was faster.
const ATTEMPTS: u32 = 16;

/// The workbook that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    pub title: String,
    /// Puts a workbook away that is not complete.
    pub force_new: bool,
}

/// What asking for a workbook came to.
#[derive(Debug, Clone)]
pub struct Begun {
    /// The workbook there is now.
    pub workbook: Workbook,
    /// Whether it began with this; otherwise one is being worked with, and nothing was changed.
    pub is_new: bool,
    /// The name under which the one before it was archived.
    pub archived: Option<String>,
    pub notes: Vec<Note>,
    pub(crate) committed: Option<Committed>,
}

/// What an edit came to.
#[derive(Debug, Clone)]
pub struct Edited {
    pub version: u32,
    /// Whether there is another text than before.
    pub changed: bool,
    pub bytes: usize,
    pub notes: Vec<Note>,
    pub(crate) committed: Option<Committed>,
}

impl Engine {
    /// `/plan files on|off`
    pub async fn switch_planning_files(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        on: bool,
    ) -> LedgerResult<Committed> {
        self.submit(session, by, Command::Workbook(WorkbookCommand::Switch { on })).await
    }

    /// Begins a workbook, unless one is being worked with. A complete one is archived first.
    pub async fn init_workbook(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        beginning: &Beginning,
    ) -> LedgerResult<Begun> {
        self.init_workbook_as(self.asked_by(session, by), beginning).await
    }

    pub(crate) async fn init_workbook_as(&self, asking: Asking<'_>, beginning: &Beginning) -> LedgerResult<Begun> {
        let session = asking.session;
        let desktop = self.desktop(session).await;
        let mut notes = self.sync(session, &desktop).await?.notes;
        let (templates, broken) = self.templates().await;
        for attempt in 1.. {
            let current = self.current_workbook(session).await?;
            if let Some(workbook) = &current
                && !beginning.force_new
                && !self.is_complete(session, workbook).await?
            {
                let workbook = workbook.clone();
                return Ok(Begun { workbook, is_new: false, archived: None, notes, committed: None });
            }
            let begin = WorkbookCommand::Begin {
                title: beginning.title.clone(),
                documents: Documents::each(|which| fresh(which, &beginning.title, self.now(), &templates)),
                replaces: current.as_ref().map(Workbook::versions),
                taken: self.archive_names(&desktop).await,
            };
            match self.submit_as(asking.clone(), Command::Workbook(begin)).await {
                Err(LedgerError::Refused(refusal)) if again(&refusal, attempt) => {
                    notes.extend(self.sync(session, &desktop).await?.notes);
                }
                Err(error) => return Err(error),
                Ok(committed) => {
                    notes.extend(broken);
                    let archived = committed.events.iter().find_map(|event| match event {
                        Event::Workbook(WorkbookEvent::Archived { name }) => Some(name.clone()),
                        _ => None,
                    });
                    let committed = self.written_out(session, &desktop, committed, &mut notes).await?;
                    let workbook = workbook_of(&committed)?;
                    return Ok(Begun { workbook, is_new: true, archived, notes, committed: Some(committed) });
                }
            }
        }
        Err(none_yet())
    }

    /// Whether the task plan says that it is complete.
    pub async fn is_complete(&self, session: &SessionIdentity, workbook: &Workbook) -> LedgerResult<bool> {
        let task_plan =
            self.version(session, DocumentKind::TaskPlan, workbook.document(DocumentKind::TaskPlan)).await?;
        Ok(completion::is_complete(&task_plan.text))
    }

    /// Changes a document: `edit` is given its text and says what it is to be. It may be asked more than once, because
    /// the change is made from the newest version or not at all.
    pub async fn edit_document(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        which: DocumentKind,
        why: WriteOrigin,
        edit: impl FnMut(&str) -> Result<String, Refusal> + Send,
    ) -> LedgerResult<Edited> {
        self.edit_document_as(self.asked_by(session, by), which, why, edit).await
    }

    pub(crate) async fn edit_document_as(
        &self,
        asking: Asking<'_>,
        which: DocumentKind,
        why: WriteOrigin,
        mut edit: impl FnMut(&str) -> Result<String, Refusal> + Send,
    ) -> LedgerResult<Edited> {
        let session = asking.session;
        let desktop = self.desktop(session).await;
        let Synced { mut notes, mut committed } = self.sync(session, &desktop).await?;
        for attempt in 1.. {
            let before = self.document(session, which).await?;
            let content = edit(&before.text)?;
            let bytes = content.len();
            if content == before.text {
                return Ok(Edited { version: before.version, changed: false, bytes, notes, committed });
            }
            let write = WorkbookCommand::Write { which, base_version: before.version, content, why };
            match self.submit_as(asking.clone(), Command::Workbook(write)).await {
                Err(LedgerError::Refused(refusal)) if again(&refusal, attempt) => {
                    let synced = self.sync(session, &desktop).await?;
                    notes.extend(synced.notes);
                    committed = synced.committed.or(committed);
                }
                Err(error) => return Err(error),
                Ok(committed) => {
                    let version = version_in(&committed, which).unwrap_or(before.version + 1);
                    let committed = self.written_out(session, &desktop, committed, &mut notes).await?;
                    return Ok(Edited { version, changed: true, bytes, notes, committed: Some(committed) });
                }
            }
        }
        Err(none_yet())
    }

    /// Takes the documents away; archives and the history stay.
    pub async fn clear_workbook(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<Vec<Note>> {
        Ok(self.clear_workbook_as(self.asked_by(session, by)).await?.0)
    }

    pub(crate) async fn clear_workbook_as(&self, asking: Asking<'_>) -> LedgerResult<(Vec<Note>, Committed)> {
        let session = asking.session;
        let desktop = self.desktop(session).await;
        let mut notes = self.sync(session, &desktop).await?.notes;
        for attempt in 1.. {
            let workbook = self.current_workbook(session).await?.ok_or_else(none_yet)?;
            let clear = WorkbookCommand::Clear { base_versions: workbook.versions() };
            match self.submit_as(asking.clone(), Command::Workbook(clear)).await {
                Err(LedgerError::Refused(refusal)) if again(&refusal, attempt) => {
                    notes.extend(self.sync(session, &desktop).await?.notes);
                }
                Err(error) => return Err(error),
                Ok(committed) => {
                    let committed = self.written_out(session, &desktop, committed, &mut notes).await?;
                    return Ok((notes, committed));
                }
            }
        }
        Err(none_yet())
    }

    /// The files after a commit, and what the ledger has after that: a person may have written meanwhile.
    async fn written_out(
        &self,
        session: &SessionIdentity,
        desktop: &Desktop,
        committed: Committed,
        notes: &mut Vec<Note>,
    ) -> LedgerResult<Committed> {
        let synced = self.sync(session, desktop).await?;
        notes.extend(synced.notes);
        Ok(synced.committed.unwrap_or(committed))
    }

    fn asked_by<'a>(&self, session: &'a SessionIdentity, by: &'a Actor) -> Asking<'a> {
        Asking { session, by, request: self.next_request(), leasing: Leasing::None, turn: None }
    }
}

fn again(refusal: &Refusal, attempt: u32) -> bool {
    refusal.code == RefusalCode::Conflict && attempt < ATTEMPTS
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
