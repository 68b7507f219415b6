//! Memories found by meaning, where an embedding model is configured. Ranking by words never waits for it for long, and
//! stands alone when it fails.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use planwright_core::memory::ranking::{Place, PlacedItem};
use planwright_core::memory::{MemoryItem, ScopeChain};
use tokio::time::{Instant, timeout};

use super::Memories;
use crate::ledger::{LedgerResult, MemoryVector};
use crate::model::EmbeddingModel;

/// The longest that a search waits for the service, and how long it is left alone after a failure.
const EMBED_TIMEOUT: Duration = Duration::from_secs(5);
const REST: Duration = Duration::from_secs(60);
/// The newest items that are compared.
const COMPARED: u32 = 2_000;
/// How many texts one request has, and how many items without a vector one search sends.
const BATCH_SIZE: usize = 64;
const MAX_NEW: usize = 256;
/// How many of the nearest items are ranked.
const NEAREST: usize = 80;

#[derive(Debug)]
pub(crate) struct Embeddings {
    model: Arc<dyn EmbeddingModel>,
    /// The last failure, and until when the service is not asked again.
    failed: Mutex<Option<(Instant, String)>>,
}

/// What was found by meaning, or why nothing was looked for.
pub(super) enum ByMeaning {
    Found(Vec<MemoryItem>),
    Failed(String),
}

impl Embeddings {
    pub(crate) fn new(model: Arc<dyn EmbeddingModel>) -> Self {
        Self { model, failed: Mutex::default() }
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let failed = match timeout(EMBED_TIMEOUT, self.model.embed(texts)).await {
            Ok(Ok(vectors)) if vectors.len() == texts.len() => return Ok(vectors),
            Ok(Ok(vectors)) => format!("it answered with {} vectors for {} texts", vectors.len(), texts.len()),
            Ok(Err(error)) => error.message,
            Err(_) => format!("it did not answer within {} seconds", EMBED_TIMEOUT.as_secs()),
        };
        tracing::warn!(event = "embeddings_failed", model = self.model.name(), "{failed}");
        let until = Instant::now() + REST;
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some((until, failed.clone()));
        Err(failed)
    }

    /// Why the service is not asked now.
    fn rests(&self) -> Option<String> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.as_ref().filter(|(until, _)| *until > Instant::now()).map(|(_, why)| why.clone())
    }

    fn note(&self, why: &str) -> String {
        format!("The embedding model {} failed, so memories were found by their words only: {why}", self.model.name())
    }
}

impl Memories {
    /// The items of the chain by how near they are to a text, the nearest first.
    pub(super) async fn by_meaning(
        &self,
        embeddings: &Embeddings,
        chain: &ScopeChain,
        text: &str,
    ) -> LedgerResult<ByMeaning> {
        let ledger = self.submitter.ledger();
        let model = embeddings.model.name();
        let stored = ledger.memory_vectors(chain, model, COMPARED).await?;
        if stored.is_empty() {
            return Ok(ByMeaning::Found(Vec::new()));
        }
        if let Some(why) = embeddings.rests() {
            return Ok(ByMeaning::Failed(embeddings.note(&why)));
        }
        let missing: Vec<Place> = stored.iter().filter(|one| one.vector.is_none()).map(|one| one.place).collect();
        let missing = &missing[..missing.len().min(MAX_NEW)];
        let new = if missing.is_empty() { Vec::new() } else { ledger.memory_items(chain, missing).await?.items };
        // The question is sent with the first items, so that most searches need one request.
        let first = new.len().min(BATCH_SIZE - 1);
        let mut texts = vec![text.to_owned()];
        texts.extend(new[..first].iter().map(|placed| placed.item.content.clone()));
        let mut vectors = match embeddings.embed(&texts).await {
            Ok(vectors) => vectors,
            Err(why) => return Ok(ByMeaning::Failed(embeddings.note(&why))),
        };
        let question = vectors.remove(0);
        for batch in new[first..].chunks(BATCH_SIZE) {
            let texts: Vec<_> = batch.iter().map(|placed| placed.item.content.clone()).collect();
            match embeddings.embed(&texts).await {
                Ok(more) => vectors.extend(more),
                Err(why) => return Ok(ByMeaning::Failed(embeddings.note(&why))),
            }
        }
        let made: Vec<_> = new.iter().map(|placed| placed.item.id.clone()).zip(vectors).collect();
        if !made.is_empty() {
            ledger.keep_vectors(model, &made).await?;
        }
        let mut made: BTreeMap<_, _> = made.into_iter().collect();
        let mut near: Vec<(f32, Place)> = Vec::new();
        for MemoryVector { place, memory, vector } in stored {
            if let Some(vector) = vector.or_else(|| made.remove(&memory)) {
                near.push((cosine(&question, &vector), place));
            }
        }
        keep_fitting(&mut near);
        near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        near.truncate(NEAREST);
        let places: Vec<_> = near.into_iter().map(|(_, place)| place).collect();
        let mut items = ledger.memory_items(chain, &places).await?.items;
        items.sort_by_key(|item| position(&places, item));
        let now = self.submitter.now();
        Ok(ByMeaning::Found(items.into_iter().map(|placed| placed.item).filter(|item| !item.is_expired(now)).collect()))
    }
}

/// Keeps the items that are nearer to the question than the middle between the average and the nearest one. Models differ in how
/// near they put texts that have nothing to do with each other.
fn keep_fitting(near: &mut Vec<(f32, Place)>) {
    let nearnesses = || near.iter().map(|(nearness, _)| *nearness);
    let best = nearnesses().fold(0.0, f32::max);
    let average = nearnesses().sum::<f32>() / near.len().max(1) as f32;
    let least = f32::midpoint(average, best).min(best);
    near.retain(|(nearness, _)| *nearness > 0.0 && *nearness >= least);
}

fn position(places: &[Place], placed: &PlacedItem) -> usize {
    places.iter().position(|place| *place == placed.place).unwrap_or(usize::MAX)
}

/// 0 for vectors of different models.
fn cosine(one: &[f32], other: &[f32]) -> f32 {
    if one.len() != other.len() {
        return 0.0;
    }
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (product(one, one) * product(other, other)).sqrt();
    match lengths.partial_cmp(&0.0) {
        Some(Ordering::Greater) => product(one, other) / lengths,
        Some(Ordering::Less | Ordering::Equal) | None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_fits_if_it_is_nearer_than_most() {
        let fitting = |nearnesses: &[f32]| {
            let place = |(position, nearness): (u64, &f32)| (*nearness, Place { scope: 0, position });
            let mut near: Vec<_> = (0..).zip(nearnesses).map(place).collect();
            keep_fitting(&mut near);
            near.into_iter().map(|(nearness, _)| nearness).collect::<Vec<_>>()
        };
        assert_eq!(fitting(&[]), Vec::<f32>::new());
        assert_eq!(fitting(&[0.3]), [0.3]);
        assert_eq!(fitting(&[0.1, 0.1, 0.1]), [0.1, 0.1, 0.1], "nothing tells them apart");
        assert_eq!(fitting(&[0.0, -0.2]), Vec::<f32>::new());
        // One model puts everything near, another one nothing.
        assert_eq!(fitting(&[0.88, 0.71, 0.70, 0.86, 0.72]), [0.88, 0.86]);
        assert_eq!(fitting(&[0.05, 0.40, 0.08, 0.02, 0.35]), [0.40, 0.35]);
    }
}
