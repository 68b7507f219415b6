//! A document of the workbook as the ledger has it.

use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::event::{Event, WorkbookEvent};
use planwright_core::journal::Entry;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::{DocumentKind, DocumentState, Documents, TextDigest, Workbook, completion};

use crate::ledger::{Ledger, LedgerError, LedgerResult};
use crate::lookup;

/// One version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentVersion {
    pub which: DocumentKind,
    pub version: u32,
    pub text: String,
    pub by: Actor,
    pub at: Timestamp,
}

/// Reads documents from the journal.
#[derive(Debug, Clone)]
pub struct DocumentReader {
    ledger: Arc<dyn Ledger>,
}

impl DocumentReader {
    pub fn new(ledger: Arc<dyn Ledger>) -> Self {
        Self { ledger }
    }

    /// The current workbook, without its texts.
    pub(super) async fn current(&self, session: &SessionIdentity) -> LedgerResult<Option<Workbook>> {
        Ok(lookup::session(self.ledger.as_ref(), session).await?.current_workbook().cloned())
    }

    /// The newest version of a document.
    pub(super) async fn document(
        &self,
        session: &SessionIdentity,
        which: DocumentKind,
    ) -> LedgerResult<DocumentVersion> {
        let workbook = self.current(session).await?.ok_or_else(none_yet)?;
        self.version(session, which, workbook.document(which)).await
    }

    /// The version of a document that the session's state names.
    pub async fn version(
        &self,
        session: &SessionIdentity,
        which: DocumentKind,
        state: &DocumentState,
    ) -> LedgerResult<DocumentVersion> {
        let entry = self.entry(session, state.seq).await?;
        let text = entry.event.document(which).filter(|text| TextDigest::of(text) == state.digest);
        let Some(text) = text.map(str::to_owned) else { return Err(not_there(session, which, state.seq)) };
        Ok(DocumentVersion { which, version: state.version, text, by: entry.by, at: entry.at })
    }

    /// Whether the task plan says that it is complete.
    pub(super) async fn is_complete(&self, session: &SessionIdentity, workbook: &Workbook) -> LedgerResult<bool> {
        let task_plan =
            self.version(session, DocumentKind::TaskPlan, workbook.document(DocumentKind::TaskPlan)).await?;
        Ok(completion::is_complete(&task_plan.text))
    }

    /// The texts that these entries have.
    pub async fn texts(&self, session: &SessionIdentity, seqs: &Documents<u64>) -> LedgerResult<Documents<String>> {
        let mut texts = Documents::<String>::default();
        for which in DocumentKind::ALL {
            let seq = *seqs.get(which);
            let entry = self.entry(session, seq).await?;
            let text = entry.event.document(which).ok_or_else(|| not_there(session, which, seq))?;
            texts.get_mut(which).push_str(text);
        }
        Ok(texts)
    }

    /// Whether a text is a version of this document that came after the one numbered `since`.
    pub(super) async fn was_version(
        &self,
        session: &SessionIdentity,
        which: DocumentKind,
        newest: &DocumentState,
        text: TextDigest,
        since: Option<u32>,
    ) -> LedgerResult<bool> {
        let mut seq = newest.seq;
        loop {
            let event = self.entry(session, seq).await?.event;
            if event.document(which).is_some_and(|known| TextDigest::of(known) == text) {
                return Ok(true);
            }
            match event {
                Event::Workbook(WorkbookEvent::Written { version, follows, .. })
                    if since.is_none_or(|since| version > since + 1) =>
                {
                    seq = follows;
                }
                _ => return Ok(false),
            }
        }
    }

    async fn entry(&self, session: &SessionIdentity, seq: u64) -> LedgerResult<Entry> {
        let found = self.ledger.journal(session, seq.saturating_sub(1), 1).await?;
        let what = || format!("entry {seq} of session {session}");
        let sealed = found.into_iter().find(|sealed| sealed.seq == seq);
        let sealed = sealed.ok_or_else(|| LedgerError::damaged(what(), "it is missing"))?;
        serde_json::from_str(&sealed.body).map_err(|error| LedgerError::damaged(what(), error))
    }
}

pub(super) fn none_yet() -> LedgerError {
    Refusal::not_found("There is no workbook in this session yet; init_plan begins one.").into()
}

fn not_there(session: &SessionIdentity, which: DocumentKind, seq: u64) -> LedgerError {
    LedgerError::damaged(format!("entry {seq} of session {session}"), format!("it has not the text of {which}"))
}
