//! A session from its journal alone: everything that is stored beside the journal follows from it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use planwright_core::event::MemoryEvent;
use planwright_core::ids::{MemoryId, PlanId, RequestId};
use planwright_core::journal::{EntryHash, Head, SealedEntry};
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{JournalEntries, JournalSource, LedgerError, LedgerResult};
use planwright_engine::version_index::apply_and_index;

use crate::memory_rows::MemoryRowChange;

/// What is to be written of a session that comes back, besides its entries.
#[derive(Debug)]
pub(crate) struct RestoredSession {
    pub(crate) identity: SessionIdentity,
    pub(crate) session: Session,
    /// The snapshot with all of its plans.
    pub(crate) snapshot: Snapshot,
    pub(crate) head: Head,
    pub(crate) last_active: Timestamp,
    /// The last entry about each plan.
    pub(crate) last_about: BTreeMap<PlanId, u64>,
    /// The memories in the order they were saved in.
    memory_order: Vec<MemoryId>,
}

#[derive(Debug)]
pub(crate) struct RestoredEntry {
    pub(crate) seq: u64,
    pub(crate) plan: Option<PlanId>,
    /// Set on the first entry that a request led to.
    pub(crate) request: Option<RequestId>,
    /// The version of its plan that the entry made, if it made one.
    pub(crate) version: Option<u32>,
    pub(crate) body: String,
    pub(crate) hash: EntryHash,
}

/// Goes through a journal from its beginning, checking and replaying.
pub(crate) fn replay_journal(session: &SessionIdentity, journal: &dyn JournalSource) -> LedgerResult<RestoredSession> {
    let mut replay = JournalReplay::new(session, journal)?;
    replay.by_ref().try_for_each(|entry| entry.map(drop))?;
    replay.finish()
}

/// The entries of a journal as they are to be written, one after the other.
pub(crate) struct JournalReplay<'a> {
    session: &'a SessionIdentity,
    sealed: JournalEntries<'a>,
    head: Head,
    snapshot: Snapshot,
    request_before: Option<RequestId>,
    last_active: Option<Timestamp>,
    last_about: BTreeMap<PlanId, u64>,
    memory_order: Vec<MemoryId>,
}

impl RestoredSession {
    /// What is written of its memories, in the order they were saved in. A memory that another session has is left to it.
    pub(crate) fn memories(&self) -> impl Iterator<Item = MemoryRowChange> {
        self.memory_order.iter().filter_map(|id| self.snapshot.memories.get(id)).flat_map(MemoryRowChange::of_restored)
    }
}

impl<'a> JournalReplay<'a> {
    pub(crate) fn new(session: &'a SessionIdentity, journal: &'a dyn JournalSource) -> LedgerResult<Self> {
        Ok(Self {
            session,
            sealed: journal.read()?,
            head: Head::START,
            snapshot: Snapshot::new(session.clone()),
            request_before: None,
            last_active: None,
            last_about: BTreeMap::new(),
            memory_order: Vec::new(),
        })
    }

    fn what(&self) -> String {
        format!("the journal of session {}", self.session)
    }

    fn restored(&mut self, sealed: SealedEntry) -> LedgerResult<RestoredEntry> {
        let checked = self.head.check(self.session, &sealed);
        let entry = checked.map_err(|damage| LedgerError::damaged(self.what(), damage))?;
        let made = apply_and_index(&mut self.snapshot, &entry.event, &entry.context(), entry.seq);
        let added = entry.event.memory_event().and_then(MemoryEvent::added);
        self.memory_order.extend(added.map(|item| item.id.clone()));
        let plan = entry.event.plan().cloned();
        if let Some(plan) = &plan {
            self.last_about.insert(plan.clone(), entry.seq);
        }
        let request = (self.request_before.as_ref() != Some(&entry.request)).then(|| entry.request.clone());
        self.request_before = Some(entry.request);
        self.last_active = Some(entry.at);
        let SealedEntry { seq, body, hash } = sealed;
        Ok(RestoredEntry { seq, plan, request, version: made.map(|made| made.version), body, hash })
    }

    /// Whether the entries led to this very journal.
    pub(crate) fn check_end(&self, end: &Head) -> LedgerResult<()> {
        if self.head == *end {
            return Ok(());
        }
        Err(LedgerError::damaged(self.what(), "it changed while it was read"))
    }

    fn finish(self) -> LedgerResult<RestoredSession> {
        let what = self.what();
        let Self { session, head, snapshot, last_active, last_about, memory_order, .. } = self;
        match (snapshot.session.as_deref().cloned(), last_active) {
            (Some(opened), Some(last_active)) => {
                let identity = session.clone();
                Ok(RestoredSession { identity, session: opened, snapshot, head, last_active, last_about, memory_order })
            }
            (None, _) | (_, None) => Err(LedgerError::damaged(what, "it does not begin with the opening of a session")),
        }
    }
}

impl Iterator for JournalReplay<'_> {
    type Item = LedgerResult<RestoredEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        let sealed = self.sealed.next()?;
        Some(sealed.and_then(|sealed| self.restored(sealed)))
    }
}
