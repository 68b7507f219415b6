//! The session's journal: an append-only sequence in which every entry carries the hash of the one before it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::actor::Actor;
use crate::event::Event;
use crate::ids::RequestId;
use crate::refusal::{Refusal, RefusalCode};
use crate::session::SessionIdentity;
use crate::snapshot::CommandContext;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub session: SessionIdentity,
    /// From 1, without gaps.
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub request: RequestId,
    pub event: Event,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryHash(pub [u8; 32]);

/// An entry as it is stored: the very bytes that were hashed, and the hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEntry {
    pub seq: u64,
    pub body: String,
    pub hash: EntryHash,
}

/// How far a chain has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub seq: u64,
    pub hash: EntryHash,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error("entry {expected} is missing; the next one found is {found}")]
    Gap { expected: u64, found: u64 },
    #[error("entry {seq} does not match its hash: it, or one before it, was changed")]
    Changed { seq: u64 },
    #[error("entry {seq} cannot be read: {reason}")]
    Unreadable { seq: u64, reason: String },
    #[error("entry {seq} belongs to another place: it says {says}")]
    Misplaced { seq: u64, says: String },
    #[error("the journal ends at entry {found}, but entry {recorded} was written")]
    CutOff { found: u64, recorded: u64 },
    #[error("the journal has entry {found}, past entry {recorded}, the last one that was acknowledged")]
    Overrun { found: u64, recorded: u64 },
}

/// An entry that cannot be written as JSON. Nothing of it is sealed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq} of the journal cannot be written: {reason}")]
pub struct UnwritableEntry {
    pub seq: u64,
    pub reason: String,
}

impl From<UnwritableEntry> for Refusal {
    fn from(unwritable: UnwritableEntry) -> Self {
        Self::new(RefusalCode::Internal, format!("Nothing was changed: {unwritable}."))
    }
}

impl Head {
    pub const START: Self = Self { seq: 0, hash: EntryHash([0; 32]) };

    /// Writes the next entry after this one and moves on to it. An entry that cannot be written leaves the head where
    /// it was.
    pub fn seal(
        &mut self,
        session: &SessionIdentity,
        context: &CommandContext,
        event: &Event,
    ) -> Result<SealedEntry, UnwritableEntry> {
        #[derive(Serialize)]
        struct EntryRef<'a> {
            session: &'a SessionIdentity,
            seq: u64,
            at: Timestamp,
            by: &'a Actor,
            request: &'a RequestId,
            event: &'a Event,
        }
        let seq = self.seq + 1;
        let entry = EntryRef { session, seq, at: context.at, by: &context.by, request: &context.request, event };
        self.seal_value(seq, &entry)
    }

    fn seal_value(&mut self, seq: u64, entry: &impl Serialize) -> Result<SealedEntry, UnwritableEntry> {
        let body = json_text(entry).map_err(|error| UnwritableEntry { seq, reason: error.to_string() })?;
        let hash = EntryHash::of(&self.hash, &body);
        *self = Self { seq, hash };
        Ok(SealedEntry { seq, body, hash })
    }

    /// Checks the entry that should come next, moves on to it and gives what it says.
    pub fn check(&mut self, session: &SessionIdentity, sealed: &SealedEntry) -> Result<Entry, Damage> {
        let expected = self.seq + 1;
        let seq = sealed.seq;
        if seq != expected {
            return Err(Damage::Gap { expected, found: seq });
        }
        if EntryHash::of(&self.hash, &sealed.body) != sealed.hash {
            return Err(Damage::Changed { seq });
        }
        let entry: Entry = serde_json::from_str(&sealed.body)
            .map_err(|error| Damage::Unreadable { seq, reason: error.to_string() })?;
        if entry.seq != seq || entry.session != *session {
            return Err(Damage::Misplaced { seq, says: format!("entry {} of {}", entry.seq, entry.session) });
        }
        *self = Self { seq, hash: sealed.hash };
        Ok(entry)
    }

    /// Whether the chain ends where the session says it does.
    pub fn check_end(&self, recorded: &Self) -> Result<(), Damage> {
        if self.seq < recorded.seq {
            return Err(Damage::CutOff { found: self.seq, recorded: recorded.seq });
        }
        if self.seq > recorded.seq {
            return Err(Damage::Overrun { found: self.seq, recorded: recorded.seq });
        }
        if self.hash != recorded.hash {
            return Err(Damage::Changed { seq: self.seq });
        }
        Ok(())
    }
}

/// Most entries fit into this, so that their text need not be moved while it grows.
const INITIAL_CAPACITY: usize = 1024;

fn json_text(entry: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = Vec::with_capacity(INITIAL_CAPACITY);
    serde_json::to_writer(&mut text, entry)?;
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

impl EntryHash {
    fn of(previous: &Self, body: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(b"planwright-journal-v1\n");
        hasher.update(previous.0);
        hasher.update(body.as_bytes());
        Self(hasher.finalize().into())
    }
}

impl Entry {
    pub fn context(&self) -> CommandContext {
        CommandContext { at: self.at, by: self.by.clone(), request: self.request.clone() }
    }
}

impl std::fmt::Display for EntryHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl std::fmt::Debug for EntryHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EntryHash({})", hex::encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// JSON has no keys that are lists, so a map of them cannot be written.
    #[test]
    fn an_entry_that_cannot_be_written_is_an_error_and_moves_nothing() {
        let mut head = Head::START;
        let good = head.seal_value(1, &"written").unwrap();
        let before = head;
        let bad = BTreeMap::from([("before", BTreeMap::from([(vec![1], 2)]))]);
        let error = head.seal_value(2, &bad).unwrap_err();
        assert_eq!(error.to_string(), "entry 2 of the journal cannot be written: key must be a string");
        assert_eq!(head, before);
        assert_eq!(Refusal::from(error).code, RefusalCode::Internal);
        let next = head.seal_value(2, &"written too").unwrap();
        assert_eq!((good.body.as_str(), next.body.as_str()), ("\"written\"", "\"written too\""));
    }
}
