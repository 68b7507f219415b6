//! BM25 over the postings of the visible scopes.

use std::collections::{BTreeMap, BTreeSet};

use super::{FirstPass, MemoryMatches, Place, Posting};
use crate::memory::query::MemoryQuery;

/// How soon more of the same term stops to count.
const SATURATION: f64 = 1.2;
/// How much a long item is held against it. Items are short, and a longer one often says more.
const LENGTH: f64 = 0.6;
/// How much a name counts as a word where it is the name of an author: people are named by those who talk to them.
const NAME_AS_WORD: f64 = 0.35;
/// The most items that the second pass looks at, besides the items around them.
const CANDIDATES: usize = 80;
/// How many items of each scope it looks at in any case.
const CANDIDATES_OF_A_SCOPE: usize = 20;
/// How many items before and after a candidate are looked at.
const NEIGHBOURS: u64 = 2;

impl FirstPass {
    pub fn new(query: &MemoryQuery, matches: &MemoryMatches) -> Self {
        let lookups = query.lookups();
        let mut by_term: BTreeMap<usize, Vec<&Posting>> = BTreeMap::new();
        for posting in &matches.postings {
            by_term.entry(posting.term).or_default().push(posting);
        }
        let (terms, names) = (query.terms.len(), query.names.len());
        let mut first = Self::default();
        let mut author_stems = BTreeSet::new();
        for (index, (_, stem)) in query.names.iter().enumerate() {
            if let Some(postings) = by_term.get(&(terms + index)) {
                first.names_author = true;
                author_stems.insert(stem.as_str());
                first.by_named_author.extend(postings.iter().map(|posting| posting.place));
            }
        }
        let items = matches.items.max(1) as f64;
        let average = (matches.words.max(1) as f64 / items).max(1.0);
        for (term, mut postings) in by_term {
            // One order of adding, whatever order the store has.
            postings.sort();
            let found = postings.len() as f64;
            let rarity = (1.0 + (items - found + 0.5).max(0.5) / (found + 0.5)).ln();
            if term < terms {
                let weight = if author_stems.contains(lookups[term]) { NAME_AS_WORD } else { 1.0 };
                for posting in postings {
                    let frequency = f64::from(posting.frequency);
                    let length = 1.0 - LENGTH + LENGTH * f64::from(posting.length) / average;
                    let score = rarity * frequency * (SATURATION + 1.0) / (frequency + SATURATION * length);
                    *first.text.entry(posting.place).or_insert(0.0) += weight * score;
                }
            } else if term >= terms + names {
                for posting in postings {
                    *first.dates.entry(posting.place).or_insert(0.0) += rarity;
                }
            }
        }
        first
    }

    /// The best items by words and dates, of all scopes and of each, and the items around them: what the second pass wants to see.
    pub fn wanted(&self) -> Vec<Place> {
        let mut sums = self.text.clone();
        for (place, score) in &self.dates {
            *sums.entry(*place).or_insert(0.0) += score;
        }
        let mut candidates: Vec<_> = sums.into_iter().collect();
        candidates.sort_by(|(a_place, a), (b_place, b)| {
            b.total_cmp(a).then(b_place.position.cmp(&a_place.position)).then(a_place.cmp(b_place))
        });
        // An item of a nearer scope stands before better ones of the others, so each scope has some of its own.
        let (mut rank, mut of_scope) = (0, BTreeMap::<usize, usize>::new());
        candidates.retain(|(place, _)| {
            let own = of_scope.entry(place.scope).or_default();
            (rank, *own) = (rank + 1, *own + 1);
            rank <= CANDIDATES || *own <= CANDIDATES_OF_A_SCOPE
        });
        let around = candidates.into_iter().flat_map(|(place, _)| {
            let first = place.position.saturating_sub(NEIGHBOURS).max(1);
            (first..=place.position + NEIGHBOURS).map(move |position| Place { position, ..place })
        });
        around.collect::<BTreeSet<_>>().into_iter().collect()
    }
}
