//! The memory of sessions: saved, found again, forgotten, promoted. Everything is read through a chain of scopes, which is
//! built from the session and its run.

mod embeddings;
mod offers;

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::event::{Event, MemoryEvent};
use planwright_core::ids::MemoryId;
use planwright_core::memory::ranking::{FirstPass, RankedMemory, Ranking, fuse_rankings};
use planwright_core::memory::{MemoryCommand, MemoryItem, MemoryQuery, MemoryScope, NewMemory, ScopeChain};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;

use crate::ledger::{Committed, DamagedRow, FoundMemories, LedgerError, LedgerResult};
use crate::submitter::{MemoryRead, SubmitRequest, Submitter};

pub(crate) use embeddings::Embeddings;

use embeddings::ByMeaning;

/// A piece of an id names a memory from this length on.
const MIN_PIECE: usize = 6;

#[derive(Debug, Clone)]
pub struct Memories {
    submitter: Submitter,
    embeddings: Option<Arc<Embeddings>>,
}

/// What a search found, the best first.
#[derive(Debug, Clone, Default)]
pub struct MemorySearch {
    pub found: Vec<RankedMemory>,
    /// Rows of other sessions that were dropped.
    pub blocked: u64,
    pub damaged: Vec<DamagedRow>,
    /// Why memories were found by their words only, if an embedding model is configured and failed.
    pub note: Option<String>,
}

/// What a command changed.
#[derive(Debug, Clone)]
pub struct MemoryOutcome {
    pub event: MemoryEvent,
    pub committed: Committed,
}

impl Memories {
    pub(crate) fn new(submitter: Submitter, embeddings: Option<Arc<Embeddings>>) -> Self {
        Self { submitter, embeddings }
    }

    /// Saves what the person or agent `by` wants to be remembered.
    pub async fn save(&self, session: &SessionIdentity, by: &Actor, new: NewMemory) -> LedgerResult<MemoryItem> {
        Ok(self.save_as(self.submitter.request(session, by), new).await?.0)
    }

    pub async fn save_as(&self, request: SubmitRequest<'_>, new: NewMemory) -> LedgerResult<(MemoryItem, Committed)> {
        let outcome = self.submit_as(request, MemoryCommand::Save(Box::new(new))).await?;
        match outcome.event {
            MemoryEvent::Saved { item } => Ok((*item, outcome.committed)),
            _ => Err(other_request()),
        }
    }

    /// The memories that answer a question, the best first.
    pub async fn search(&self, chain: &ScopeChain, text: &str, limit: usize) -> LedgerResult<MemorySearch> {
        self.search_by(chain, text, limit, Ranking::Fused).await
    }

    pub async fn search_by(
        &self,
        chain: &ScopeChain,
        text: &str,
        limit: usize,
        ranking: Ranking,
    ) -> LedgerResult<MemorySearch> {
        let query = MemoryQuery::of(text);
        let mut search = MemorySearch::default();
        if !query.is_empty() {
            let ledger = self.submitter.ledger();
            let lookups: Vec<String> = query.lookups().into_iter().map(str::to_owned).collect();
            let matches = ledger.memory_matches(chain, &lookups).await?;
            search.blocked = matches.blocked;
            let first = FirstPass::new(&query, &matches);
            let wanted = first.wanted();
            if !wanted.is_empty() {
                let FoundMemories { items, blocked, damaged, .. } = ledger.memory_items(chain, &wanted).await?;
                search.found = first.rank(&query, chain, items, self.submitter.now(), ranking);
                search.blocked = search.blocked.max(blocked);
                search.damaged = damaged;
            }
        }
        if let Some(embeddings) = self.embeddings.as_deref().filter(|_| ranking == Ranking::Fused) {
            match self.by_meaning(embeddings, chain, text).await? {
                ByMeaning::Found(items) => search.found = fuse_rankings(search.found, items),
                ByMeaning::Failed(note) => search.note = Some(note),
            }
        }
        search.found.truncate(limit);
        self.note_read(chain, search.blocked);
        Ok(search)
    }

    /// The memories of the chain, the newest first. `before` is the `next` of the page before.
    pub async fn list(&self, chain: &ScopeChain, before: Option<u64>, limit: u32) -> LedgerResult<FoundMemories> {
        let mut found = self.submitter.ledger().memories(chain, before, limit).await?;
        let now = self.submitter.now();
        found.items.retain(|placed| !placed.item.is_expired(now));
        self.note_read(chain, found.blocked);
        Ok(found)
    }

    /// The memory that a person names by its id or a unique piece of it.
    pub async fn find(&self, chain: &ScopeChain, reference: &str) -> LedgerResult<MemoryItem> {
        let not_found =
            || Refusal::not_found(format!("There is no memory {} in session {}.", quoted(reference), chain.session()));
        if reference.len() < MIN_PIECE {
            return Err(not_found().into());
        }
        let found = self.submitter.ledger().memories_named(chain, reference).await?;
        self.note_read(chain, found.blocked);
        let mut items: Vec<_> = found.items.into_iter().map(|placed| placed.item).collect();
        if let Some(exact) = items.iter().position(|item| item.id.as_str() == reference) {
            return Ok(items.swap_remove(exact));
        }
        match items.len() {
            0 => Err(not_found().into()),
            1 => Ok(items.swap_remove(0)),
            _ => Err(Refusal::conflict(format!(
                "{} could be several memories; write more of the id.",
                quoted(reference)
            ))
            .into()),
        }
    }

    /// A memory that the session may name by its whole id: one of its own or a global one.
    pub async fn get(&self, session: &SessionIdentity, memory: &MemoryId) -> LedgerResult<MemoryItem> {
        let found = self.submitter.ledger().memory_of(session, memory).await?;
        let not_found = || Refusal::not_found(format!("There is no memory {memory} in session {session}."));
        Ok(found.ok_or_else(not_found)?)
    }

    /// The memory is not found any more. A person can take that back.
    pub async fn forget(&self, session: &SessionIdentity, by: &Actor, memory: MemoryId) -> LedgerResult<MemoryOutcome> {
        self.submit(session, by, MemoryCommand::Forget { memory }).await
    }

    /// Makes a copy that every session reads.
    pub async fn promote(&self, session: &SessionIdentity, by: &Actor, memory: MemoryId) -> LedgerResult<MemoryItem> {
        let outcome = self.submit(session, by, MemoryCommand::Promote { memory }).await?;
        match outcome.event {
            MemoryEvent::Promoted { copy, .. } => Ok(*copy),
            _ => Err(other_request()),
        }
    }

    /// Takes the last change of the session's memory back.
    pub async fn undo(&self, session: &SessionIdentity, by: &Actor) -> LedgerResult<MemoryOutcome> {
        self.submit(session, by, MemoryCommand::Undo).await
    }

    async fn submit(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        command: MemoryCommand,
    ) -> LedgerResult<MemoryOutcome> {
        self.submit_as(self.submitter.request(session, by), command).await
    }

    async fn submit_as(&self, request: SubmitRequest<'_>, command: MemoryCommand) -> LedgerResult<MemoryOutcome> {
        let committed = self.submitter.submit_as(request, Command::Memory(command)).await?;
        let event = committed.events.iter().find_map(Event::memory_event).cloned();
        Ok(MemoryOutcome { event: event.ok_or_else(other_request)?, committed })
    }

    fn note_read(&self, chain: &ScopeChain, blocked: u64) {
        let mut read = MemoryRead { blocked, ..MemoryRead::default() };
        for scope in chain.scopes() {
            match scope {
                MemoryScope::Goal { .. } => read.goal_scope = true,
                MemoryScope::Task(_) => read.task_scope = true,
                MemoryScope::Session(_) | MemoryScope::Global => {}
            }
        }
        if blocked > 0 {
            let session = chain.session();
            tracing::warn!(session_identity = %session, event = "memory_blocked", blocked, "rows of another session were dropped");
        }
        self.submitter.notify_memory_read(chain.session(), &read);
    }
}

/// The request was carried out before, as another command.
fn other_request() -> LedgerError {
    Refusal::conflict("This request was made before, for something else.").into()
}
