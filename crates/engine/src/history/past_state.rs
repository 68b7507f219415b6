//! The session as it was after an earlier entry of its journal, and which entry a time means.

use jiff::Timestamp;
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::refusal::Refusal;
use planwright_core::replay::SessionReplay;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use serde::Deserialize;

use super::History;
use crate::ledger::{DamagedRow, LedgerResult};
use crate::lookup;

/// Entries are read a few at a time: one of them may be a megabyte.
const PAGE: u32 = 64;
/// A journal is replayed no further than this. It takes a few seconds.
const MAX_ENTRIES: u64 = 200_000;
/// The size of the entries that are replayed.
const MAX_BYTES: usize = 512 * 1024 * 1024;
/// How many damaged entries are named.
const MAX_NAMED: usize = 100;

/// A session as it was.
#[derive(Debug, Clone)]
pub struct PastState {
    /// The last entry that happened by then.
    pub seq: u64,
    /// The time of that entry; `None` if no entry up to it can be read.
    pub at: Option<Timestamp>,
    /// With every plan that the session had.
    pub snapshot: Snapshot,
    /// Entries that cannot be read. What they did is missing in the snapshot.
    pub damaged: Vec<DamagedRow>,
}

/// The part of an entry that says when it happened.
#[derive(Deserialize)]
struct EntryTime {
    at: Timestamp,
}

impl History {
    /// The session after the entry with this number; as it is now for `None`.
    pub async fn state_at(&self, session: &SessionIdentity, seq: Option<u64>) -> LedgerResult<PastState> {
        let head = lookup::stored_session(self.ledger(), session).await?.head.seq;
        let seq = seq.unwrap_or(head);
        if seq == 0 || seq > head {
            let message = format!("The journal of {session} has no entry {seq}; it has entries 1 to {head}.");
            return Err(Refusal::not_found(message).into());
        }
        if seq > MAX_ENTRIES {
            return Err(too_long().into());
        }
        let mut replay = SessionReplay::new(session.clone());
        let (mut damaged, mut read, mut bytes) = (Vec::new(), 0, 0);
        while read < seq {
            let page = self.ledger().journal(session, read, PAGE).await?;
            let Some(last) = page.last().map(|sealed| sealed.seq) else { break };
            for sealed in page.iter().take_while(|sealed| sealed.seq <= seq) {
                bytes += sealed.body.len();
                if bytes > MAX_BYTES {
                    return Err(too_long().into());
                }
                if sealed.seq > read + 1 {
                    note(&mut damaged, session, read + 1, "it is missing");
                }
                match serde_json::from_str::<Entry>(&sealed.body) {
                    Ok(entry) => replay.apply(&entry),
                    Err(error) => note(&mut damaged, session, sealed.seq, &error),
                }
                read = sealed.seq;
            }
            read = read.max(last);
        }
        Ok(PastState { seq, at: replay.at(), snapshot: replay.snapshot().clone(), damaged })
    }

    /// The last entry that was written by `at`; 0 if there is none. The times of a journal grow with its numbers.
    pub async fn last_entry_until(&self, session: &SessionIdentity, at: Timestamp) -> LedgerResult<u64> {
        let head = lookup::stored_session(self.ledger(), session).await?.head.seq;
        // Every entry up to `known` is early enough, and no entry from `late` on.
        let (mut known, mut late) = (0, head + 1);
        while late - known > 1 {
            let middle = known + (late - known) / 2;
            match self.first_readable(session, middle, late).await? {
                Some((seq, time)) if time <= at => known = seq,
                Some(_) | None => late = middle,
            }
        }
        Ok(known)
    }

    /// The first entry from `from` on and before `end` whose time can be read.
    async fn first_readable(
        &self,
        session: &SessionIdentity,
        from: u64,
        end: u64,
    ) -> LedgerResult<Option<(u64, Timestamp)>> {
        let mut after = from - 1;
        while after + 1 < end {
            let found = self.ledger().journal(session, after, 1).await?;
            let Some(sealed) = found.first().filter(|sealed| sealed.seq < end) else { return Ok(None) };
            if let Some(time) = time_of(sealed) {
                return Ok(Some((sealed.seq, time)));
            }
            after = sealed.seq;
        }
        Ok(None)
    }
}

fn time_of(sealed: &SealedEntry) -> Option<Timestamp> {
    serde_json::from_str::<EntryTime>(&sealed.body).ok().map(|entry| entry.at)
}

fn note(damaged: &mut Vec<DamagedRow>, session: &SessionIdentity, seq: u64, reason: impl ToString) {
    if damaged.len() < MAX_NAMED {
        let what = format!("entry {seq} of the journal of {session}");
        damaged.push(DamagedRow { what, reason: reason.to_string() });
    }
}

fn too_long() -> Refusal {
    Refusal::limit(format!("The journal is too long to be replayed: at most {MAX_ENTRIES} entries."))
}
