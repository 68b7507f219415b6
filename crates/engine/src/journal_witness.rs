//! What this server saw of the journals that it wrote, so that it notices when a database has lost entries: after a failover to a
//! standby that had not received them.
//!
//! A session whose journal is shorter than what was seen is stopped: nothing is begun in it by itself, and the first person who
//! asks for something is told. What they ask for next goes on from the entry that there is.

use jiff::Timestamp;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use quick_cache::sync::Cache;

use crate::ledger::{Committed, LedgerResult, SessionStore};
use crate::submitter::Observer;

/// The sessions that are remembered, the ones that are used most.
const CAPACITY: usize = 10_000;

/// The end of a journal, as this server saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SeenEnd {
    /// A session that is deleted and begun again is another one.
    opened_at: Timestamp,
    seq: u64,
}

#[derive(Debug)]
pub(crate) struct JournalWitness {
    seen: Cache<SessionIdentity, SeenEnd>,
}

impl Default for JournalWitness {
    fn default() -> Self {
        Self { seen: Cache::new(CAPACITY) }
    }
}

impl Observer for JournalWitness {
    fn committed(&self, session: &SessionIdentity, committed: &Committed) {
        let Some(opened) = &committed.snapshot.session else { return };
        self.note(session, SeenEnd { opened_at: opened.opened_at, seq: committed.seq });
    }
}

impl JournalWitness {
    fn note(&self, session: &SessionIdentity, now: SeenEnd) {
        // Answers of the store may overtake each other.
        let is_older = |seen: SeenEnd| seen.opened_at == now.opened_at && seen.seq >= now.seq;
        if !self.seen.get(session).is_some_and(is_older) {
            self.seen.insert(session.clone(), now);
        }
    }

    /// A session that was deleted may come back from an archive.
    pub(crate) fn forget(&self, session: &SessionIdentity) {
        drop(self.seen.remove(session));
    }

    /// Fails if the journal ends before what was seen of it. A person is told once.
    pub(crate) async fn check<T: SessionStore + ?Sized>(
        &self,
        store: &T,
        session: &SessionIdentity,
        by: &Actor,
    ) -> LedgerResult<()> {
        let Some(seen) = self.seen.get(session) else { return Ok(()) };
        let Some(stored) = store.session(session).await? else { return Ok(()) };
        let (ends, saw) = (stored.head.seq, seen.seq);
        if stored.session.opened_at != seen.opened_at || ends >= saw {
            // What others wrote since is seen now.
            self.note(session, SeenEnd { opened_at: stored.session.opened_at, seq: ends });
            return Ok(());
        }
        tracing::error!(session_identity = %session, event = "journal_shorter", ends, saw);
        match by.kind {
            ActorKind::Person => self.forget(session),
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => {}
        }
        Err(Refusal::conflict(format!(
            "The journal of session {session} ends with entry {ends}, and this server saw entry {saw}: the database lost what came \
             after, as a failover without synchronous replication does. Calls whose entries are lost were made nevertheless. Nothing \
             was begun now. Look at what there is; what you send next goes on from entry {ends}."
        ))
        .into())
    }
}
