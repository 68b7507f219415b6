//! Which items answer a question best. BM25 finds the items that have its words; what stands around them in the
//! conversation, who wrote them, when, and in which scope then decides between them. Every factor's share in the score
//! is kept. Sums are made in one order, so that every store ranks the same.
//!
//! - `bm25`: the first pass, over the index
//! - `fusion`: the second pass, over the items that the first one wants to see
//! - `rank_fusion`: joins the ranking with one by meaning, where an embedding model is configured

mod bm25;
mod fusion;
mod rank_fusion;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::identity::SessionIdentity;
use crate::memory::item::MemoryItem;

pub use rank_fusion::fuse_rankings;

/// Where an item is: in which scope of the chain, 0 for the nearest, and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub scope: usize,
    pub position: u64,
}

/// How often an item has a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posting {
    pub place: Place,
    /// The index of the term in the query's lookups.
    pub term: usize,
    pub frequency: u32,
    /// The number of words of the item.
    pub length: u32,
}

/// What the index knows about a query in the scopes of a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryMatches {
    /// The number of items in the scopes.
    pub items: u64,
    /// The number of words in the scopes.
    pub words: u64,
    pub postings: Vec<Posting>,
    /// Scopes and rows that do not belong to the session that asks, and were dropped.
    pub blocked: u64,
}

/// An item with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedItem {
    pub place: Place,
    /// The session whose journal has it; a global item has none.
    pub owner: Option<SessionIdentity>,
    pub item: MemoryItem,
}

/// The first pass: the scores of all items that have a term of the query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FirstPass {
    pub(super) text: BTreeMap<Place, f64>,
    pub(super) dates: BTreeMap<Place, f64>,
    /// The items whose author the question names.
    pub(super) by_named_author: BTreeSet<Place>,
    pub(super) names_author: bool,
}

/// Why an item has its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Factor {
    /// Its own words.
    Text,
    /// The items before it in the conversation.
    Before,
    /// The items after it in the conversation.
    After,
    /// It follows a question that matches.
    Answer,
    /// The question names its author.
    Author,
    /// Other items of the same sitting match.
    Sitting,
    /// The question names its date, or asks for a time and it tells one.
    Date,
    Recency,
    /// How near its scope is.
    Scope,
    /// What it means, by an embedding model.
    Meaning,
}

impl Factor {
    /// Those of the ranking without an embedding model.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Before,
        Self::After,
        Self::Answer,
        Self::Author,
        Self::Sitting,
        Self::Date,
        Self::Recency,
        Self::Scope,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Before => "before",
            Self::After => "after",
            Self::Answer => "answer",
            Self::Author => "author",
            Self::Sitting => "sitting",
            Self::Date => "date",
            Self::Recency => "recency",
            Self::Scope => "scope",
            Self::Meaning => "meaning",
        }
    }
}

/// An item that was found, the best first in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedMemory {
    pub item: MemoryItem,
    /// The sum of the shares.
    pub score: f64,
    /// Every factor that counts, with its share in the score.
    pub shares: Vec<(Factor, f64)>,
}

impl RankedMemory {
    /// How well it fits, however near its scope is.
    pub fn relevance(&self) -> f64 {
        self.shares.iter().filter(|(factor, _)| *factor != Factor::Scope).map(|(_, share)| share).sum()
    }
}

/// Which factors count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ranking {
    #[default]
    Fused,
    /// The words only, to compare with.
    Bm25,
}
