//! The port for memories.

use async_trait::async_trait;
use planwright_core::ids::MemoryId;
use planwright_core::memory::ranking::{MemoryMatches, Place, PlacedItem};
use planwright_core::memory::{MemoryItem, ScopeChain};
use planwright_core::session::SessionIdentity;

use super::{DamagedRow, LedgerResult};

/// Memories, found through a chain of scopes, and their vectors.
#[async_trait]
pub trait MemoryStore: Send + Sync + std::fmt::Debug + 'static {
    /// What the index knows about these terms in the scopes of a chain. It costs what those scopes have, however many
    /// memories there are in others.
    async fn memory_matches(&self, chain: &ScopeChain, lookups: &[String]) -> LedgerResult<MemoryMatches>;

    /// The memories at these places of the chain, in any order. A place without one is left out.
    async fn memory_items(&self, chain: &ScopeChain, places: &[Place]) -> LedgerResult<FoundMemories>;

    /// The memories of the chain, the newest first. `before` is the `next` of the page before.
    async fn memories(&self, chain: &ScopeChain, before: Option<u64>, limit: u32) -> LedgerResult<FoundMemories>;

    /// The memories of the chain whose id has this piece; two are enough to know that it is not unique.
    async fn memories_named(&self, chain: &ScopeChain, piece: &str) -> LedgerResult<FoundMemories>;

    /// A memory that the session may name: one of its own or a global one. `None` if it is forgotten.
    async fn memory_of(&self, session: &SessionIdentity, memory: &MemoryId) -> LedgerResult<Option<MemoryItem>>;

    /// The newest items of the chain's scopes, at most `limit` in each, with the vectors that this model made of them.
    async fn memory_vectors(&self, chain: &ScopeChain, model: &str, limit: u32) -> LedgerResult<Vec<MemoryVector>>;

    /// Keeps what a model made of memories. Vectors are not in the journal: they are made again where they are missing.
    async fn keep_vectors(&self, model: &str, vectors: &[(MemoryId, Vec<f32>)]) -> LedgerResult<()>;
}

/// A memory and the vector that a model made of it, if it did.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryVector {
    pub place: Place,
    pub memory: MemoryId,
    pub vector: Option<Vec<f32>>,
}

/// Memories as they were read, and what could not be.
#[derive(Debug, Clone, Default)]
pub struct FoundMemories {
    pub items: Vec<PlacedItem>,
    /// Rows that belong to another session, and were dropped.
    pub blocked: u64,
    pub damaged: Vec<DamagedRow>,
    /// Where the next page begins, if there is one.
    pub next: Option<u64>,
}
