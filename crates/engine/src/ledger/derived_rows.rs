//! Rows that a store keeps beside the journal so that things are found quickly, and what the journal says they are.

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::auto::AutoState;
use planwright_core::ids::{MemoryId, RequestId};
use planwright_core::journal::Entry;
use planwright_core::memory::{MemoryRecord, MemoryScope, MemoryText};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::Session;
use planwright_core::snapshot::Snapshot;

use super::DamagedRow;

/// What of a session's rows follows from its journal: columns beside its state, its memories with their terms, and the row
/// that its schedules and runs are found by.
#[derive(Debug, Clone, Default)]
pub struct DerivedRows {
    pub session: SessionFlags,
    /// What a search for sessions looks through.
    pub search_text: Option<String>,
    pub memories: BTreeMap<MemoryId, StoredMemory>,
    pub scopes: BTreeMap<MemoryScope, ScopeCounts>,
    pub runs: RunsRow,
    /// Its plans in the list of those that may wait for a person, each with the time of its last change.
    pub waiting: BTreeMap<String, i64>,
    /// Its plans whose execution is listed as one that goes on.
    pub working: BTreeSet<String>,
    pub damaged: Vec<DamagedRow>,
}

/// A text as every database has room for it: PostgreSQL takes each character but one, which JSON escapes and a column cannot.
pub fn text_for_row(title: &str) -> String {
    title.replace('\0', "\u{2400}")
}

/// When a plan changed last that may wait for a person, in microseconds. The list of such plans is in this order.
pub fn waiting_since(session: &Session, plan: &Plan) -> Option<i64> {
    session.may_wait(plan).then(|| plan.updated_at.as_microsecond())
}

/// Whether the plan's execution goes on: a process works on it, or has to take it over.
pub fn is_working(plan: &Plan) -> bool {
    let is_paused = || plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
    plan.status == PlanStatus::Executing && !is_paused()
}

/// What of a session's state has columns of its own, where sessions are found and counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionFlags {
    pub turn_open: bool,
    /// Whether the open turn asks a person.
    pub asks_person: bool,
    pub planning: bool,
    /// Whether the program of an agent was ever started for it.
    pub has_agents: bool,
}

impl SessionFlags {
    pub fn of(session: &Session) -> Self {
        Self {
            turn_open: session.turn.is_some(),
            asks_person: session.waiting_ask().is_some(),
            planning: session.plan_mode.enabled,
            has_agents: !session.clients.is_empty(),
        }
    }
}

/// What stands beside an entry of the journal, where entries are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryKeys {
    pub seq: u64,
    pub plan: Option<String>,
    /// Set on the first entry that a request led to.
    pub request: Option<String>,
}

impl EntryKeys {
    /// `before` is the request of the entry before this one.
    pub fn of(entry: &Entry, before: Option<&RequestId>) -> Self {
        let is_first = before != Some(&entry.request);
        Self {
            seq: entry.seq,
            plan: entry.event.plan().map(ToString::to_string),
            request: is_first.then(|| entry.request.to_string()),
        }
    }
}

/// The memories of one scope of a session, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScopeCounts {
    /// How many can be found.
    pub items: u64,
    /// How many words these have.
    pub words: u64,
    /// The position that was given last. Each memory has one, also if it was forgotten.
    pub last_position: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMemory {
    pub record: MemoryRecord,
    /// The scope that its row belongs to.
    pub scope: String,
    /// The terms that it is found by. They are not read for a global copy.
    pub terms: Option<BTreeMap<String, StoredTerm>>,
}

/// How often a memory has a term, and how many words it has in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredTerm {
    pub frequency: u32,
    pub length: u32,
}

impl StoredTerm {
    /// The terms of a memory that can be found.
    pub fn of(text: MemoryText) -> BTreeMap<String, Self> {
        let length = text.length;
        text.terms.into_iter().map(|(term, frequency)| (term, Self { frequency, length })).collect()
    }
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
        if self.session != replayed.session.as_deref().map(SessionFlags::of).unwrap_or_default() {
            found.push(format!("the columns of session {session}"));
        }
        let text = replayed.session.as_deref().map(|session| text_for_row(&session.search_text()));
        if self.search_text != text {
            found.push(format!("what {session} is found by"));
        }
        let columns = found.len();
        let mut scopes: BTreeMap<MemoryScope, ScopeCounts> = BTreeMap::new();
        for (id, record) in &replayed.memories {
            let text = MemoryText::of(&record.item);
            let length = u64::from(text.length);
            let global = record.item.scope == MemoryScope::Global;
            let stored = self.memories.get(id);
            // Any session may forget a global copy, and its own journal says so.
            let same = |stored: &StoredMemory| {
                stored.record.item == record.item
                    && stored.scope == record.item.scope.to_string()
                    && (global || stored.record.forgotten == record.forgotten)
            };
            if !stored.is_some_and(same) {
                found.push(format!("memory {id} of {session}"));
                continue;
            }
            if global {
                continue;
            }
            let terms = if record.forgotten { BTreeMap::new() } else { StoredTerm::of(text) };
            if stored.is_some_and(|stored| stored.terms.as_ref() != Some(&terms)) {
                found.push(format!("the index of memory {id} of {session}"));
            }
            let counts = scopes.entry(record.item.scope.clone()).or_default();
            counts.last_position += 1;
            if !record.forgotten {
                counts.items += 1;
                counts.words += length;
            }
        }
        let unknown = self.memories.keys().filter(|id| !replayed.memories.contains_key(*id));
        found.extend(unknown.map(|id| format!("memory {id} of {session}")));
        if self.scopes != scopes && found.len() == columns {
            found.push(format!("the counts of the memories of {session}"));
        }
        let runs = replayed.session.as_deref().map(RunsRow::of).unwrap_or_default();
        if self.runs != runs {
            found.push(format!("the row of the schedules and runs of {session}"));
        }
        found
    }

    /// What the lists of plans do not agree with the replayed journal in.
    pub(crate) fn wrong_lists(&self, replayed: &Snapshot) -> Vec<String> {
        let session = &replayed.identity;
        let plans = || replayed.plans.iter().map(|(id, plan)| (id.to_string(), plan));
        let since = |plan: &Plan| waiting_since(replayed.session.as_deref()?, plan);
        let waiting: BTreeMap<_, _> = plans().filter_map(|(id, plan)| Some((id, since(plan)?))).collect();
        let working: BTreeSet<_> = plans().filter(|(_, plan)| is_working(plan)).map(|(id, _)| id).collect();
        let mut found = Vec::new();
        if self.waiting != waiting {
            found.push(format!("the list of waiting plans of {session}"));
        }
        if self.working != working {
            found.push(format!("the list of executions of {session} that go on"));
        }
        found
    }
}
