//! Two rankings joined by the ranks that an item has in them, for the case that items are also found by meaning.

use std::collections::HashSet;

use super::{Factor, RankedMemory};
use crate::memory::item::MemoryItem;
use crate::memory::scope::MemoryScope;

/// How much the first ranks differ from the later ones; the value that is used everywhere.
const K: f64 = 60.0;

/// How near a scope is; more than all ranks together.
const fn nearness(scope: &MemoryScope) -> f64 {
    match scope {
        MemoryScope::Task(_) => 3.0,
        MemoryScope::Goal { .. } => 2.0,
        MemoryScope::Session(_) => 1.0,
        MemoryScope::Global => 0.0,
    }
}

/// Reciprocal rank fusion: the share of a ranking in an item's score is `1 / (60 + rank)`. `by_meaning` has the nearest first.
/// The shares of the first ranking are scaled to its part, so that they still sum up to the score.
pub fn fuse_rankings(mut by_words: Vec<RankedMemory>, by_meaning: Vec<MemoryItem>) -> Vec<RankedMemory> {
    let part = |rank: usize| 1.0 / (K + rank as f64 + 1.0);
    by_words.sort_by(|one, other| other.relevance().total_cmp(&one.relevance()));
    let scaled = |(rank, mut found): (usize, RankedMemory)| {
        let relevance = found.relevance();
        let scale = if relevance > 0.0 { part(rank) / relevance } else { 0.0 };
        found.shares.retain(|(factor, _)| *factor != Factor::Scope);
        found.shares.iter_mut().for_each(|(_, share)| *share *= scale);
        found.score = part(rank);
        found
    };
    let mut fused: Vec<_> = by_words.into_iter().enumerate().map(scaled).collect();
    let mut seen = HashSet::new();
    // An item and its promoted copy are found as one.
    let different =
        by_meaning.into_iter().filter(|item| seen.insert((item.content.clone(), item.said_by().to_owned())));
    for (rank, item) in different.enumerate() {
        let same =
            |found: &&mut RankedMemory| found.item.content == item.content && found.item.said_by() == item.said_by();
        let share = (Factor::Meaning, part(rank));
        match fused.iter_mut().find(same) {
            Some(found) => {
                found.score += share.1;
                found.shares.push(share);
            }
            None => fused.push(RankedMemory { item, score: share.1, shares: vec![share] }),
        }
    }
    // The ranks decide between the items of one scope.
    for found in &mut fused {
        let share = nearness(&found.item.scope);
        found.score += share;
        found.shares.push((Factor::Scope, share));
    }
    fused.sort_by(|one, other| {
        let score = other.score.total_cmp(&one.score);
        score.then_with(|| other.item.said_at().cmp(&one.item.said_at())).then_with(|| one.item.id.cmp(&other.item.id))
    });
    fused
}
