//! The second pass: joins the score of an item's own words with what stands around it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::{Factor, FirstPass, Place, PlacedItem, RankedMemory, Ranking};
use crate::memory::chain::ScopeChain;
use crate::memory::item::MemoryItem;
use crate::memory::query::MemoryQuery;
use crate::memory::text::{is_question, split_words, tells_time};

/// Items of one conversation belong to one sitting while there is no longer pause between them.
const SITTING_GAP: SignedDuration = SignedDuration::from_hours(3);
/// After this time the share of recency is half as large.
const HALF_LIFE: f64 = 30.0 * 24.0 * 3_600.0;

/// The weights of the factors, in parts of the best score that words alone have.
const BEFORE: [f64; 2] = [0.22, 0.08];
const AFTER: [f64; 2] = [0.16, 0.06];
const ANSWER: f64 = 0.40;
/// How much of the score of an item counts for the question that follows it.
const ASKED_ABOUT: f64 = 0.6;
const AUTHOR: f64 = 0.16;
const SITTING_SHARE: f64 = 0.12;
const DATE: f64 = 0.35;
const TELLS_TIME: f64 = 0.08;
const RECENCY: f64 = 0.04;
/// More than all other factors together: an item of a nearer scope stands before every item of a farther one.
const SCOPE: f64 = 4.0;

impl FirstPass {
    /// The items that answer the query best, each content once. `now` decides which items have expired, and nothing else.
    pub fn rank(
        &self,
        query: &MemoryQuery,
        chain: &ScopeChain,
        items: Vec<PlacedItem>,
        now: Timestamp,
        ranking: Ranking,
    ) -> Vec<RankedMemory> {
        let alive = |placed: &PlacedItem| !placed.item.is_expired(now);
        let items: BTreeMap<_, _> = items.into_iter().filter(alive).map(|placed| (placed.place, placed.item)).collect();
        let scorer = Scorer {
            first: self,
            query,
            items: &items,
            depth: chain.scopes().len(),
            best: best(&self.text),
            best_date: best(&self.dates),
            sittings: sittings(self, &items),
            newest: items.values().map(MemoryItem::said_at).max(),
        };
        let mut ranked: Vec<_> = items
            .keys()
            .filter_map(|place| {
                let shares = match ranking {
                    Ranking::Fused => scorer.shares(*place),
                    Ranking::Bm25 => scorer.text_only(*place),
                };
                let score = shares.iter().map(|(_, share)| share).sum::<f64>();
                let matches = shares.iter().any(|(factor, share)| is_about_query(*factor) && *share > 0.0);
                matches.then_some((*place, score, shares))
            })
            .collect();
        ranked.sort_by(|(a_place, a, _), (b_place, b, _)| {
            let time = |place: &Place| items.get(place).map(MemoryItem::said_at);
            b.total_cmp(a).then_with(|| time(b_place).cmp(&time(a_place))).then(a_place.cmp(b_place))
        });
        let mut seen = BTreeSet::new();
        let found = ranked.into_iter().filter_map(|(place, score, shares)| {
            let item = items.get(&place)?;
            let first_of_its_words = seen.insert((item.said_by().to_owned(), split_words(&item.content)));
            first_of_its_words.then(|| RankedMemory { item: item.clone(), score, shares })
        });
        found.collect()
    }
}

/// Whether a factor says that an item has to do with the query. The others only decide between items.
const fn is_about_query(factor: Factor) -> bool {
    match factor {
        Factor::Text | Factor::Before | Factor::After | Factor::Answer | Factor::Date | Factor::Meaning => true,
        Factor::Author | Factor::Sitting | Factor::Recency | Factor::Scope => false,
    }
}

struct Scorer<'a> {
    first: &'a FirstPass,
    query: &'a MemoryQuery,
    items: &'a BTreeMap<Place, MemoryItem>,
    /// The number of scopes in the chain.
    depth: usize,
    best: f64,
    best_date: f64,
    /// The scores of all hits of the sitting that an item belongs to.
    sittings: BTreeMap<Place, f64>,
    newest: Option<Timestamp>,
}

impl Scorer<'_> {
    fn text(&self, place: Place) -> f64 {
        if self.best > 0.0 { self.first.text.get(&place).copied().unwrap_or(0.0) / self.best } else { 0.0 }
    }

    fn text_only(&self, place: Place) -> Vec<(Factor, f64)> {
        vec![(Factor::Text, self.text(place))]
    }

    fn shares(&self, place: Place) -> Vec<(Factor, f64)> {
        let Some(item) = self.items.get(&place) else { return Vec::new() };
        let own = self.text(place);
        let before = [self.neighbour(place, -1), self.neighbour(place, -2)];
        let after = [self.neighbour(place, 1), self.neighbour(place, 2)];
        let around = |weights: [f64; 2], places: [Option<Place>; 2]| -> f64 {
            weights.iter().zip(places).map(|(weight, place)| weight * place.map_or(0.0, |place| self.text(place))).sum()
        };
        let by_named_author = self.first.by_named_author.contains(&place);
        let answered = before[0].and_then(|question| {
            let asked = self.items.get(&question)?;
            let answers = is_question(&asked.content) && asked.said_by() != item.said_by();
            // "What is it?" asks about what was said before it.
            let asked_about = before[1].map_or(0.0, |before| ASKED_ABOUT * self.text(before));
            answers.then(|| self.text(question).max(asked_about))
        });
        // Both the question and its answer have to do with the named author only if that author answers.
        let answer_weight = if self.first.names_author && !by_named_author { ANSWER / 2.0 } else { ANSWER };
        let sitting = self.sittings.get(&place).map_or(0.0, |sum| (sum - own).max(0.0));
        let date = self.first.dates.get(&place).map_or(0.0, |date| DATE * date / self.best_date.max(f64::MIN_POSITIVE));
        let (before, after) = (around(BEFORE, before), around(AFTER, after));
        let related = own + before + after;
        let tells = self.query.asks_when && related > 0.0 && tells_time(&item.content);
        let recency = self.newest.map_or(0.0, |newest| {
            let age = newest.duration_since(item.said_at()).as_secs_f64().max(0.0);
            RECENCY * (-age / HALF_LIFE).exp2()
        });
        let nearness = self.depth.saturating_sub(place.scope + 1) as f64;
        vec![
            (Factor::Text, own),
            (Factor::Before, before),
            (Factor::After, after),
            (Factor::Answer, answered.map_or(0.0, |score| answer_weight * score)),
            (Factor::Author, if by_named_author { AUTHOR } else { 0.0 }),
            (Factor::Sitting, SITTING_SHARE * sitting / (1.0 + sitting)),
            (Factor::Date, date + if tells { TELLS_TIME } else { 0.0 }),
            (Factor::Recency, recency),
            (Factor::Scope, SCOPE * nearness),
        ]
    }

    /// The item so many places away, if both belong to one conversation: to the same sitting, and the item next to this one
    /// has another author. Facts that one author saves one after another have nothing to do with each other.
    fn neighbour(&self, place: Place, offset: i64) -> Option<Place> {
        let at = |offset: i64| Some(Place { position: place.position.checked_add_signed(offset)?, ..place });
        let (next, other) = (at(offset.signum())?, at(offset)?);
        let (here, beside, there) = (self.items.get(&place)?, self.items.get(&next)?, self.items.get(&other)?);
        let talk =
            here.said_by() != beside.said_by() && here.said_at().duration_since(there.said_at()).abs() <= SITTING_GAP;
        talk.then_some(other)
    }
}

fn best(scores: &BTreeMap<Place, f64>) -> f64 {
    scores.values().copied().fold(0.0, f64::max)
}

/// For each item the sum of the scores of its sitting. Items of one scope belong to one sitting while the pauses between
/// them are short.
fn sittings(first: &FirstPass, items: &BTreeMap<Place, MemoryItem>) -> BTreeMap<Place, f64> {
    let best = best(&first.text).max(f64::MIN_POSITIVE);
    let mut sums = BTreeMap::new();
    let mut sitting: Vec<Place> = Vec::new();
    let mut last: Option<(Place, Timestamp)> = None;
    let mut close = |sitting: &mut Vec<Place>| {
        let sum: f64 = sitting.iter().map(|place| first.text.get(place).copied().unwrap_or(0.0) / best).sum();
        sums.extend(sitting.drain(..).map(|place| (place, sum)));
    };
    for (place, item) in items {
        let ends = last.is_some_and(|(before, at)| {
            before.scope != place.scope || item.said_at().duration_since(at).abs() > SITTING_GAP
        });
        if ends {
            close(&mut sitting);
        }
        sitting.push(*place);
        last = Some((*place, item.said_at()));
    }
    close(&mut sitting);
    sums
}
