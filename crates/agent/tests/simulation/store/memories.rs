//! What sessions remember. A place in the list is never used again.

use std::collections::BTreeMap;

use planwright_core::event::{Event, MemoryEvent};
use planwright_core::ids::MemoryId;
use planwright_core::memory::ranking::{MemoryMatches, Place, PlacedItem, Posting};
use planwright_core::memory::{MemoryItem, MemoryRecord, MemoryScope, MemoryText, ScopeChain};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    DerivedRows, FoundMemories, RunsRow, SessionFlags, StoredMemory, StoredTerm, is_working, text_for_row,
    waiting_since,
};

use super::State;
use crate::sabotage::Sabotage;
use crate::world::World;

#[derive(Debug)]
pub(crate) struct Remembered {
    /// The session whose journal has it; a global one has none.
    pub(crate) owner: Option<SessionIdentity>,
    pub(crate) record: MemoryRecord,
}

impl State {
    pub(super) fn remember(&mut self, session: &SessionIdentity, events: &[Event]) {
        for event in events.iter().filter_map(Event::memory_event) {
            let mut add = |owner, item: &MemoryItem| {
                let record = MemoryRecord { item: item.clone(), forgotten: false };
                self.memories.push(Some(Remembered { owner, record }));
            };
            match event {
                MemoryEvent::Saved { item } => add(Some(session.clone()), item),
                MemoryEvent::Promoted { copy, .. } => add(None, copy),
                MemoryEvent::Forgotten { memory, .. } => self.set_forgotten(memory, true),
                MemoryEvent::Restored { memory } => self.set_forgotten(memory, false),
                MemoryEvent::OfferDeclined { .. } => {}
            }
        }
    }

    fn set_forgotten(&mut self, memory: &MemoryId, forgotten: bool) {
        for kept in self.memories.iter_mut().flatten().filter(|kept| kept.record.item.id == *memory) {
            kept.record.forgotten = forgotten;
        }
    }

    /// What a deleted session remembered is gone; its global copies stay.
    pub(super) fn forget_all_of(&mut self, session: &SessionIdentity) {
        self.drop_memories(|kept| kept.owner.as_ref() == Some(session));
    }

    /// What the session remembered in entries that were lost.
    pub(super) fn forget_lost(&mut self, replayed: &Snapshot) {
        let lost = |kept: &Remembered| {
            kept.owner.as_ref() == Some(&replayed.identity) && !replayed.memories.contains_key(&kept.record.item.id)
        };
        self.drop_memories(lost);
    }

    fn drop_memories(&mut self, gone: impl Fn(&Remembered) -> bool) {
        for kept in &mut self.memories {
            kept.take_if(|kept| gone(kept));
        }
    }

    /// The memory that a command names, if the session may name it.
    pub(super) fn load_memory(&self, snapshot: &mut Snapshot, memory: &MemoryId) {
        let may_name = |kept: &&Remembered| kept.owner.as_ref().is_none_or(|owner| *owner == snapshot.identity);
        let mut named = self.memories.iter().flatten().filter(|kept| kept.record.item.id == *memory).filter(may_name);
        if let Some(record) = named.next().map(|kept| kept.record.clone()) {
            snapshot.memories.insert(memory.clone(), record);
        }
    }

    fn visible(&self, world: &World, chain: &ScopeChain) -> Vec<PlacedItem> {
        let mixed = world.sabotage == Some(Sabotage::MemoriesAreMixed);
        let all = self.memories.iter().enumerate().filter_map(|(position, kept)| Some((position, kept.as_ref()?)));
        let found = all.filter(|(_, kept)| !kept.record.forgotten).filter_map(|(position, kept)| {
            let (mut item, mut owner) = (kept.record.item.clone(), kept.owner.clone());
            if mixed {
                item.scope = MemoryScope::of_session(chain.session());
                owner = Some(chain.session().clone());
            }
            let scope = chain.nearness(&item.scope, owner.as_ref())?;
            Some(PlacedItem { place: Place { scope, position: position as u64 }, owner, item })
        });
        found.collect()
    }

    pub(crate) fn memory_matches(&self, world: &World, chain: &ScopeChain, lookups: &[String]) -> MemoryMatches {
        let mut matches = MemoryMatches::default();
        for placed in self.visible(world, chain) {
            let text = MemoryText::of(&placed.item);
            matches.items += 1;
            matches.words += u64::from(text.length);
            for (term, lookup) in lookups.iter().enumerate() {
                if let Some(frequency) = text.terms.get(lookup) {
                    let (frequency, length) = (*frequency, text.length);
                    matches.postings.push(Posting { place: placed.place, term, frequency, length });
                }
            }
        }
        matches
    }

    pub(crate) fn memory_items(&self, world: &World, chain: &ScopeChain, places: &[Place]) -> FoundMemories {
        let mut items = self.visible(world, chain);
        items.retain(|placed| places.contains(&placed.place));
        FoundMemories { items, ..FoundMemories::default() }
    }

    /// The newest first. `before` is a place.
    pub(crate) fn memories(&self, world: &World, chain: &ScopeChain, before: Option<u64>, limit: u32) -> FoundMemories {
        let mut items = self.visible(world, chain);
        items.retain(|placed| before.is_none_or(|before| placed.place.position < before));
        items.reverse();
        items.truncate(limit as usize);
        let next = items.last().filter(|_| items.len() == limit as usize).map(|placed| placed.place.position);
        FoundMemories { items, next, ..FoundMemories::default() }
    }

    pub(crate) fn memories_named(&self, world: &World, chain: &ScopeChain, piece: &str) -> FoundMemories {
        let mut items = self.visible(world, chain);
        items.retain(|placed| placed.item.id.as_str().contains(piece));
        FoundMemories { items, ..FoundMemories::default() }
    }

    pub(crate) fn memory_of(&self, session: &SessionIdentity, memory: &MemoryId) -> Option<MemoryItem> {
        let may_name = |kept: &&Remembered| kept.owner.as_ref().is_none_or(|owner| owner == session);
        let mut found =
            self.memories.iter().flatten().filter(|kept| kept.record.item.id == *memory && !kept.record.forgotten);
        found.find(may_name).map(|kept| kept.record.item.clone())
    }

    pub(crate) fn derived_rows(&self, identity: &SessionIdentity, promoted: &[MemoryId]) -> DerivedRows {
        let Some(kept) = self.sessions.get(identity) else { return DerivedRows::default() };
        let (session, runs) = (SessionFlags::of(&kept.session), RunsRow::of(&kept.session));
        let mut rows = DerivedRows { session, runs, ..DerivedRows::default() };
        rows.search_text = Some(text_for_row(&kept.session.search_text()));
        for (id, plan) in &kept.plans {
            rows.waiting.extend(waiting_since(&kept.session, plan).map(|since| (id.to_string(), since)));
            rows.working.extend(is_working(plan).then(|| id.to_string()));
        }
        for Remembered { owner, record } in self.memories.iter().flatten() {
            let own = owner.as_ref() == Some(identity);
            if !own && !promoted.contains(&record.item.id) {
                continue;
            }
            let text = MemoryText::of(&record.item);
            if own {
                let counts = rows.scopes.entry(record.item.scope.clone()).or_default();
                counts.last_position += 1;
                if !record.forgotten {
                    counts.items += 1;
                    counts.words += u64::from(text.length);
                }
            }
            let terms = if record.forgotten { BTreeMap::new() } else { StoredTerm::of(text) };
            let scope = record.item.scope.to_string();
            let stored = StoredMemory { record: record.clone(), scope, terms: own.then_some(terms) };
            rows.memories.insert(record.item.id.clone(), stored);
        }
        rows
    }
}
