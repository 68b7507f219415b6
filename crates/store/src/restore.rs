//! A session from its journal alone: everything that is stored beside the journal follows from it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::journal::{EntryHash, Head, SealedEntry};
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::version_index::apply_and_index;

/// What is to be written of a session that comes back.
#[derive(Debug)]
pub(crate) struct RestoredSession {
    pub(crate) identity: SessionIdentity,
    pub(crate) session: Session,
    /// The snapshot with all of its plans.
    pub(crate) snapshot: Snapshot,
    pub(crate) head: Head,
    pub(crate) last_active: Timestamp,
    pub(crate) entries: Vec<RestoredEntry>,
    /// The last entry about each plan.
    pub(crate) last_about: BTreeMap<PlanId, u64>,
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
pub(crate) fn replay_journal(session: &SessionIdentity, sealed: &[SealedEntry]) -> LedgerResult<RestoredSession> {
    let what = || format!("the journal of session {session}");
    let (mut head, mut snapshot) = (Head::START, Snapshot::new(session.clone()));
    let (mut entries, mut last_about) = (Vec::with_capacity(sealed.len()), BTreeMap::new());
    let (mut request_before, mut last_active) = (None, None);
    for sealed in sealed {
        let entry = head.check(session, sealed).map_err(|damage| LedgerError::damaged(what(), damage))?;
        let made = apply_and_index(&mut snapshot, &entry.event, &entry.context(), entry.seq);
        let plan = entry.event.plan().cloned();
        if let Some(plan) = &plan {
            last_about.insert(plan.clone(), entry.seq);
        }
        let request = (request_before.as_ref() != Some(&entry.request)).then(|| entry.request.clone());
        request_before = Some(entry.request);
        last_active = Some(entry.at);
        let (version, body) = (made.map(|made| made.version), sealed.body.clone());
        entries.push(RestoredEntry { seq: sealed.seq, plan, request, version, body, hash: sealed.hash });
    }
    match (snapshot.session.clone(), last_active) {
        (Some(opened), Some(last_active)) => {
            let identity = session.clone();
            Ok(RestoredSession { identity, session: opened, snapshot, head, last_active, entries, last_about })
        }
        (None, _) | (_, None) => Err(LedgerError::damaged(what(), "it does not begin with the opening of a session")),
    }
}
