//! Memories as they are stored, in both stores: what a command changes of them, and which rows a chain of scopes may see.

use std::collections::BTreeMap;

use planwright_core::event::Event;
use planwright_core::ids::MemoryId;
use planwright_core::memory::ranking::{MemoryMatches, Place, PlacedItem};
use planwright_core::memory::{MemoryItem, MemoryRecord, MemoryScope, MemoryText, ScopeChain};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{FoundMemories, LedgerError, LedgerResult};

/// The session number of the global scope, which belongs to no session.
pub(crate) const GLOBAL: i64 = 0;

/// What is to be written of one memory.
#[derive(Debug, Clone)]
pub(crate) struct MemoryRowChange {
    pub(crate) item: MemoryItem,
    pub(crate) change: RowChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowChange {
    Add,
    Forget,
    Restore,
}

impl MemoryRowChange {
    /// What an event changes. `snapshot` is the state after it. An event about an unknown memory changes no row.
    pub(crate) fn of(event: &Event, snapshot: &Snapshot) -> Option<Self> {
        let event = event.memory_event()?;
        let record = snapshot.memories.get(event.memory())?;
        let change = match (event.added(), record.forgotten) {
            (Some(_), _) => RowChange::Add,
            (None, true) => RowChange::Forget,
            (None, false) => RowChange::Restore,
        };
        Some(Self { item: record.item.clone(), change })
    }

    /// What is written of the memories of a session that comes back.
    pub(crate) fn of_restored(record: &MemoryRecord) -> impl Iterator<Item = Self> + use<> {
        let add = Self { item: record.item.clone(), change: RowChange::Add };
        let forget = record.forgotten.then(|| Self { change: RowChange::Forget, ..add.clone() });
        std::iter::once(add).chain(forget)
    }

    /// The number of the session that the row belongs to.
    pub(crate) const fn owner(&self, session_id: i64) -> i64 {
        match self.item.scope {
            MemoryScope::Global => GLOBAL,
            MemoryScope::Session(_) | MemoryScope::Goal { .. } | MemoryScope::Task(_) => session_id,
        }
    }

    pub(crate) fn text(&self) -> MemoryText {
        MemoryText::of(&self.item)
    }
}

pub(crate) fn item_to_text(item: &MemoryItem) -> LedgerResult<String> {
    serde_json::to_string(item)
        .map_err(|error| LedgerError::Internal(format!("memory {} cannot be written: {error}", item.id)))
}

pub(crate) fn item_from_text(id: &str, text: &str) -> LedgerResult<MemoryItem> {
    let item: MemoryItem = serde_json::from_str(text).map_err(|error| LedgerError::damaged(what(id), error))?;
    if item.id.as_str() != id {
        return Err(LedgerError::damaged(what(id), format!("its content is memory {}", item.id)));
    }
    Ok(item)
}

fn what(id: &str) -> String {
    format!("memory {id}")
}

/// A row of the table of scopes.
#[derive(Debug, Clone)]
pub(crate) struct ScopeRow {
    pub(crate) id: i64,
    pub(crate) scope: String,
    pub(crate) session_id: i64,
    /// `channel:conversation` of the session with that number, if there is one.
    pub(crate) session: Option<String>,
    pub(crate) items: i64,
    pub(crate) words: i64,
}

/// The rows that a chain may see.
#[derive(Debug, Default)]
pub(crate) struct VisibleScopes {
    /// The row of each scope of the chain, by its place in the chain.
    pub(crate) rows: BTreeMap<usize, i64>,
    owners: BTreeMap<usize, (MemoryScope, Option<SessionIdentity>)>,
    items: u64,
    words: u64,
    blocked: u64,
}

impl VisibleScopes {
    /// The rows that belong to the chain's own session, and the global one. All others are dropped and counted.
    pub(crate) fn of(chain: &ScopeChain, rows: Vec<ScopeRow>) -> Self {
        let mut visible = Self::default();
        for row in rows {
            let Some((place, scope, owner)) = admit(chain, &row) else {
                visible.blocked += 1;
                continue;
            };
            visible.rows.insert(place, row.id);
            visible.owners.insert(place, (scope, owner));
            visible.items += row.items.max(0).unsigned_abs();
            visible.words += row.words.max(0).unsigned_abs();
        }
        visible
    }

    pub(crate) fn matches(&self) -> MemoryMatches {
        let Self { items, words, blocked, .. } = self;
        MemoryMatches { items: *items, words: *words, postings: Vec::new(), blocked: *blocked }
    }

    pub(crate) fn items(&self) -> FoundMemories {
        FoundMemories { blocked: self.blocked, ..FoundMemories::default() }
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        self.rows.values().copied().collect()
    }

    /// The place in the chain of the scope with this row.
    pub(crate) fn place(&self, row: i64) -> Option<usize> {
        self.rows.iter().find(|(_, id)| **id == row).map(|(place, _)| *place)
    }

    /// Puts an item that was read with the others, unless it says that it belongs elsewhere.
    pub(crate) fn add(
        &self,
        found: &mut FoundMemories,
        place: Place,
        read: LedgerResult<MemoryItem>,
    ) -> LedgerResult<()> {
        match crate::encode::set_damage_aside(read)? {
            Err(damaged) => found.damaged.push(damaged),
            Ok(item) => match self.owners.get(&place.scope) {
                Some((scope, owner)) if item.scope == *scope => {
                    found.items.push(PlacedItem { place, owner: owner.clone(), item });
                }
                Some(_) | None => found.blocked += 1,
            },
        }
        Ok(())
    }

    /// The newest of the items that were read, each with its number, its place and its content.
    pub(crate) fn newest_first(
        &self,
        mut read: Vec<(i64, Place, LedgerResult<MemoryItem>)>,
        limit: u32,
    ) -> LedgerResult<FoundMemories> {
        read.sort_by_key(|(number, _, _)| std::cmp::Reverse(*number));
        read.truncate(limit as usize);
        let full = read.len() == limit as usize;
        let mut found = self.items();
        found.next = read.last().filter(|_| full).map(|(number, _, _)| number.unsigned_abs());
        for (_, place, item) in read {
            self.add(&mut found, place, item)?;
        }
        Ok(found)
    }
}

fn admit(chain: &ScopeChain, row: &ScopeRow) -> Option<(usize, MemoryScope, Option<SessionIdentity>)> {
    let scope: MemoryScope = row.scope.parse().ok()?;
    let owner = match row.session_id {
        GLOBAL => None,
        _ => Some(row.session.as_ref()?.parse().ok()?),
    };
    let place = chain.nearness(&scope, owner.as_ref())?;
    Some((place, scope, owner))
}

/// The memories that a command of this session may name: its own and the global ones.
pub(crate) fn may_name(session_id: i64, owner: i64) -> bool {
    owner == GLOBAL || owner == session_id
}

pub(crate) fn record(id: &str, text: &str, forgotten: bool) -> LedgerResult<(MemoryId, MemoryRecord)> {
    let item = item_from_text(id, text)?;
    Ok((item.id.clone(), MemoryRecord { item, forgotten }))
}
