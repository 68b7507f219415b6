//! Rows that a store keeps beside the journal so that things are found quickly, and what the journal says they are.

use std::collections::BTreeMap;

use planwright_core::auto::AutoState;
use planwright_core::ids::MemoryId;
use planwright_core::memory::{MemoryRecord, MemoryScope, MemoryText};
use planwright_core::session::Session;
use planwright_core::snapshot::Snapshot;

use super::DamagedRow;

/// The rows of a session that follow from its journal: its memories with their terms, and the row that its schedules and runs
/// are found by.
#[derive(Debug, Clone, Default)]
pub struct DerivedRows {
    pub memories: BTreeMap<MemoryId, StoredMemory>,
    /// How many items can be found in each scope of the session, and how many words they have.
    pub scopes: BTreeMap<MemoryScope, (u64, u64)>,
    pub runs: RunsRow,
    pub damaged: Vec<DamagedRow>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMemory {
    pub record: MemoryRecord,
    /// The terms that it is found by. They are not read for a global copy.
    pub terms: Option<BTreeMap<String, u32>>,
}

/// What the schedules and runs of a session are found by over all sessions. It follows from the session's state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunsRow {
    /// When the next schedule is due, in microseconds.
    pub due_at: Option<i64>,
    pub running: bool,
    /// Whether a run waits for a person.
    pub waits: bool,
}

impl RunsRow {
    pub fn of(session: &Session) -> Self {
        let state = session.auto.as_deref();
        let runs = || state.into_iter().flat_map(AutoState::open_runs);
        Self {
            due_at: state.and_then(AutoState::due_at).map(|at| at.as_microsecond()),
            running: runs().any(|run| run.is_running()),
            waits: runs().any(|run| run.waits_since().is_some()),
        }
    }

    /// Whether the session needs no row.
    pub const fn is_empty(self) -> bool {
        self.due_at.is_none() && !self.running && !self.waits
    }
}

impl DerivedRows {
    /// What the stored rows do not agree with the replayed journal in.
    pub(crate) fn disagreements(&self, replayed: &Snapshot) -> Vec<String> {
        let session = &replayed.identity;
        let mut found = Vec::new();
        let mut scopes: BTreeMap<MemoryScope, (u64, u64)> = BTreeMap::new();
        for (id, record) in &replayed.memories {
            let text = MemoryText::of(&record.item);
            let global = record.item.scope == MemoryScope::Global;
            let stored = self.memories.get(id);
            // Any session may forget a global copy, and its own journal says so.
            let same = |stored: &StoredMemory| {
                stored.record.item == record.item && (global || stored.record.forgotten == record.forgotten)
            };
            if !stored.is_some_and(same) {
                found.push(format!("memory {id} of {session}"));
                continue;
            }
            if global {
                continue;
            }
            let terms = if record.forgotten { BTreeMap::new() } else { text.terms };
            if stored.is_some_and(|stored| stored.terms.as_ref() != Some(&terms)) {
                found.push(format!("the index of memory {id} of {session}"));
            }
            let counts = scopes.entry(record.item.scope.clone()).or_default();
            if !record.forgotten {
                *counts = (counts.0 + 1, counts.1 + u64::from(text.length));
            }
        }
        let unknown = self.memories.keys().filter(|id| !replayed.memories.contains_key(*id));
        found.extend(unknown.map(|id| format!("memory {id} of {session}")));
        if self.scopes != scopes && found.is_empty() {
            found.push(format!("the counts of the memories of {session}"));
        }
        let runs = replayed.session.as_deref().map(RunsRow::of).unwrap_or_default();
        if self.runs != runs {
            found.push(format!("the row of the schedules and runs of {session}"));
        }
        found
    }
}
