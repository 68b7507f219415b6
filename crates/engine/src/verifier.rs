//! Checks every journal, and the stored projections against it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::journal::{Damage, Entry, Head};
use planwright_core::memory::MemoryScope;
use planwright_core::plan::Plan;
use planwright_core::presence::{ActSignature, Presence};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::{CommandContext, Snapshot};

use crate::ledger::{DamagedRow, EntryKeys, Ledger, LedgerError, LedgerResult, StoredSession};
use crate::version_index::{VersionIndexEntry, apply_and_index};

const PAGE: u32 = 500;
/// The number of times that the check of a session is repeated while other callers write to it.
const MAX_ATTEMPTS: u32 = 10;
/// The entries of a session that are named.
const MAX_NAMED: usize = 10;

#[derive(Debug, Clone, Default)]
pub struct VerifyReport {
    pub chains: Vec<ChainReport>,
    /// Sessions whose own row cannot be read, and rows that belong to no session.
    pub damaged: Vec<DamagedRow>,
    /// The number of sessions that were checked, damaged ones included.
    pub checked: u64,
    /// The number of sessions in the store. While others open and delete sessions it is the smaller one of the numbers
    /// before and after the check.
    pub total: u64,
}

#[derive(Debug, Clone)]
pub struct ChainReport {
    pub session: SessionIdentity,
    /// The number of entries that were checked and are whole.
    pub entries: u64,
    /// The first damage in the journal, in words that name the entry.
    pub damage: Option<String>,
    /// Stored projections that do not agree with the journal.
    pub disagreements: Vec<DamagedRow>,
}

impl ChainReport {
    pub fn is_whole(&self) -> bool {
        self.damage.is_none() && self.disagreements.is_empty()
    }
}

impl VerifyReport {
    /// Every session was checked and nothing is damaged.
    pub fn is_whole(&self) -> bool {
        self.is_complete() && self.damaged.is_empty() && self.chains.iter().all(ChainReport::is_whole)
    }

    /// No session was left out.
    pub fn is_complete(&self) -> bool {
        self.checked >= self.total
    }
}

#[derive(Debug, Clone)]
pub struct Verifier {
    ledger: Arc<dyn Ledger>,
}

impl Verifier {
    pub(crate) fn new(ledger: Arc<dyn Ledger>) -> Self {
        Self { ledger }
    }

    /// Checks every session. `progress` is called after each one.
    pub async fn verify_all(&self, mut progress: impl FnMut(&ChainReport)) -> LedgerResult<VerifyReport> {
        let mut damaged = match self.ledger.damaged_pages().await {
            Ok(found) => found,
            Err(LedgerError::Damaged { what, reason }) => vec![DamagedRow { what, reason }],
            Err(error) => return Err(error),
        };
        let total = self.ledger.count_sessions().await?;
        damaged.extend(self.ledger.orphans().await?);
        let mut report = VerifyReport { damaged, ..VerifyReport::default() };
        let mut after = None;
        loop {
            let page = self.ledger.walk_sessions(after, PAGE).await?;
            self.verify_page(page.items, page.damaged, &mut report, &mut progress).await?;
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        report.total = total.min(self.ledger.count_sessions().await?);
        Ok(report)
    }

    /// Checks the sessions that were active last.
    pub async fn verify_newest(&self, number: u32) -> LedgerResult<VerifyReport> {
        let page = self.ledger.sessions(None, number).await?;
        let mut report = VerifyReport::default();
        self.verify_page(page.items, page.damaged, &mut report, &mut |_| {}).await?;
        report.total = report.checked;
        Ok(report)
    }

    /// Checks one session; `None` if it does not exist.
    pub async fn verify_one(&self, session: &SessionIdentity) -> LedgerResult<Option<ChainReport>> {
        match self.ledger.session(session).await? {
            Some(stored) => self.verify_session(&stored).await,
            None => Ok(None),
        }
    }

    async fn verify_page(
        &self,
        sessions: Vec<StoredSession>,
        damaged: Vec<DamagedRow>,
        report: &mut VerifyReport,
        progress: &mut impl FnMut(&ChainReport),
    ) -> LedgerResult<()> {
        report.checked += (sessions.len() + damaged.len()) as u64;
        report.damaged.extend(damaged);
        for stored in sessions {
            match self.verify_session(&stored).await {
                Ok(Some(chain)) => {
                    progress(&chain);
                    report.chains.push(chain);
                }
                // The session was deleted meanwhile.
                Ok(None) => {}
                // A session that cannot be read does not keep the others from being checked.
                Err(LedgerError::Damaged { what, reason }) => report.damaged.push(DamagedRow { what, reason }),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// `None` if the session was deleted meanwhile.
    async fn verify_session(&self, stored: &StoredSession) -> LedgerResult<Option<ChainReport>> {
        let identity = &stored.session.identity;
        let mut walk = Walk::new(identity);
        // Another caller may write meanwhile, so what is stored is only compared with a journal that stood still.
        let mut promised = None;
        for _ in 0..MAX_ATTEMPTS {
            let walked = self.walk_on(&mut walk).await?;
            let Some(now) = self.ledger.session(identity).await? else { return Ok(None) };
            if now.session.opened_at != stored.session.opened_at {
                return Ok(None);
            }
            if let Err(damage) = walked {
                return self.report(&walk, Some(damage)).await.map(Some);
            }
            let end = now.head;
            // More may have been written since; what was promised before the walk and is still not there is cut off.
            if walk.head.seq < end.seq && promised != Some(end) {
                promised = Some(end);
                continue;
            }
            if let Err(damage) = walk.head.check_end(&end).and_then(|()| reaches(&walk.head, &stored.head)) {
                return self.report(&walk, Some(damage)).await.map(Some);
            }
            let report = self.report(&walk, None).await?;
            let after = self.ledger.session(identity).await?;
            if report.is_whole() || after.map(|after| after.head) == Some(walk.head) {
                return Ok(Some(report));
            }
        }
        // It never stood still; its chain is whole as far as it was walked.
        let (session, entries) = (identity.clone(), walk.head.seq);
        Ok(Some(ChainReport { session, entries, damage: None, disagreements: Vec::new() }))
    }

    /// Walks to the end of the journal, checking and replaying.
    async fn walk_on(&self, walk: &mut Walk) -> LedgerResult<Result<(), Damage>> {
        loop {
            let entries = self.ledger.journal(&walk.snapshot.identity, walk.head.seq, PAGE).await?;
            if entries.is_empty() {
                return Ok(Ok(()));
            }
            let count = u32::try_from(entries.len()).unwrap_or(PAGE);
            let columns = self.ledger.entry_keys(&walk.snapshot.identity, walk.head.seq, count).await?;
            let mut columns = columns.into_iter();
            for sealed in entries {
                match walk.head.check(&walk.snapshot.identity, &sealed) {
                    Ok(entry) => walk.push(entry, columns.next().as_ref()),
                    Err(damage) => return Ok(Err(damage)),
                }
            }
        }
    }

    /// Compares the stored projections with the replayed journal.
    async fn report(&self, walk: &Walk, damage: Option<Damage>) -> LedgerResult<ChainReport> {
        let session = &walk.snapshot.identity;
        let (plans, unreadable) = self.ledger.stored_plans(session).await?;
        let mut disagreements = unreadable;
        // A broken chain cannot be replayed to its end, so there is nothing sound to compare with.
        if damage.is_none() {
            disagreements.extend(walk.columns.iter().cloned());
            let stored = self.ledger.session(session).await?;
            let last_active = stored.as_ref().map(|stored| stored.last_active.as_microsecond());
            let is_same = stored.as_ref().map(|stored| &stored.session) == walk.snapshot.session.as_deref();
            if !is_same || last_active != walk.last_at.map(Timestamp::as_microsecond) {
                disagreements.push(disagreement(format!("session {session}")));
            }
            disagreements.extend(compare(&walk.snapshot.plans, &plans, &disagreements, session));
            // A version that is missing from the index costs time only: it is found by replaying the journal.
            let indexed = self.ledger.version_index(session).await?;
            let wrong = indexed.difference(&walk.versions);
            disagreements.extend(wrong.map(|wrong| {
                disagreement(format!("the index of version {} of plan {} of {session}", wrong.version, wrong.plan))
            }));
            // Plans that are not what they should be are not in the right lists either.
            let plans_agree = disagreements.is_empty();
            disagreements.extend(self.compare_derived_rows(&walk.snapshot, plans_agree).await?);
            disagreements.extend(self.check_acts(walk).await?);
        }
        let damage = damage.map(|damage| damage.to_string());
        Ok(ChainReport { session: session.clone(), entries: walk.head.seq, damage, disagreements })
    }
}

impl Verifier {
    /// The signatures on acts that no approver made. What was done before a restore is history.
    async fn check_acts(&self, walk: &Walk) -> LedgerResult<Vec<DamagedRow>> {
        let session = &walk.snapshot.identity;
        if walk.signed.is_empty() {
            return Ok(Vec::new());
        }
        // Records that cannot be read are found by the check of the approvers.
        let Ok(known) = crate::approval_records::state(self.ledger.as_ref()).await.map(|state| state.enrolled_ever)
        else {
            return Ok(Vec::new());
        };
        let restored = walk.snapshot.session.as_ref().and_then(|session| session.restored_at);
        let counts = |entry: &&SignedEntry| restored.is_none_or(|restored| entry.at > restored);
        let wrong = walk.signed.iter().filter(counts).filter_map(|entry| {
            let reason = entry.signature.check(Some(session), &entry.approver, &known).err()?;
            Some(DamagedRow { what: format!("entry {} of {session}", entry.seq), reason })
        });
        Ok(wrong.collect())
    }

    /// Compares the memories, their index, the row of schedules and runs and the lists of plans with the replayed journal.
    async fn compare_derived_rows(&self, replayed: &Snapshot, plans_agree: bool) -> LedgerResult<Vec<DamagedRow>> {
        let copies = replayed.memories.iter().filter(|(_, record)| record.item.scope == MemoryScope::Global);
        let copies: Vec<_> = copies.map(|(id, _)| id.clone()).collect();
        let rows = self.ledger.derived_rows(&replayed.identity, &copies).await?;
        let known = |what: &String| rows.damaged.iter().any(|row| what.starts_with(&row.what));
        let lists = if plans_agree { rows.wrong_lists(replayed) } else { Vec::new() };
        let wrong = rows.disagreements(replayed).into_iter().filter(|what| !known(what)).chain(lists).map(disagreement);
        Ok(rows.damaged.iter().cloned().chain(wrong).collect())
    }
}

/// The position of a walk through a journal, and the state up to there.
struct Walk {
    head: Head,
    snapshot: Snapshot,
    versions: BTreeSet<VersionIndexEntry>,
    signed: Vec<SignedEntry>,
    last_at: Option<Timestamp>,
    request_before: Option<RequestId>,
    /// The first entries beside which something else stands than what they say.
    columns: Vec<DamagedRow>,
}

impl Walk {
    fn new(session: &SessionIdentity) -> Self {
        let (versions, signed, columns) = Default::default();
        let snapshot = Snapshot::new(session.clone());
        Self { head: Head::START, snapshot, versions, signed, last_at: None, request_before: None, columns }
    }

    fn push(&mut self, entry: Entry, stored: Option<&EntryKeys>) {
        let expected = EntryKeys::of(&entry, self.request_before.as_ref());
        if stored != Some(&expected) && self.columns.len() < MAX_NAMED {
            self.columns.push(disagreement(format!("the row of entry {} of {}", entry.seq, entry.session)));
        }
        let context = entry.context();
        self.versions.extend(apply_and_index(&mut self.snapshot, &entry.event, &context, entry.seq));
        self.signed.extend(SignedEntry::of(entry.seq, &context));
        self.last_at = Some(entry.at);
        self.request_before = Some(entry.request);
    }
}

/// An entry whose act an approver signed.
struct SignedEntry {
    seq: u64,
    at: Timestamp,
    approver: String,
    signature: ActSignature,
}

impl SignedEntry {
    fn of(seq: u64, context: &CommandContext) -> Option<Self> {
        let Some(Presence::Verified { approver, signed: Some(signed), .. }) = &context.by.presence else { return None };
        Some(Self { seq, at: context.at, approver: approver.clone(), signature: (**signed).clone() })
    }
}

/// Fails if entries that existed when the walk began are missing.
fn reaches(walked: &Head, known: &Head) -> Result<(), Damage> {
    if walked.seq < known.seq { walked.check_end(known) } else { Ok(()) }
}

fn compare(
    replayed: &BTreeMap<PlanId, Arc<Plan>>,
    stored: &BTreeMap<PlanId, Plan>,
    unreadable: &[DamagedRow],
    session: &SessionIdentity,
) -> Vec<DamagedRow> {
    let name = |number: u32| format!("plan {number} of {session}");
    let mut found = Vec::new();
    for (id, plan) in replayed {
        let what = name(plan.number);
        let known = unreadable.iter().any(|row| row.what == what);
        if stored.get(id) != Some(plan.as_ref()) && !known {
            found.push(disagreement(what));
        }
    }
    found.extend(
        stored.iter().filter(|(id, _)| !replayed.contains_key(*id)).map(|(_, plan)| disagreement(name(plan.number))),
    );
    found
}

fn disagreement(what: String) -> DamagedRow {
    DamagedRow { what, reason: "what is stored is not what the journal says".to_owned() }
}
