//! The corpus of our own, on both stores.

#![allow(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

use planwright_engine::core::memory::ranking::Ranking;
use planwright_test_support::stores::Store;

use super::dialogues::{self, Dialogue};
use super::recall::{Evaluation, Learnt};

fn corpus() -> Vec<Dialogue> {
    dialogues::parse(include_str!("../../data/dialogues.json")).unwrap()
}

async fn evaluation(store: &Store, dialogues: &[Dialogue]) -> Evaluation {
    Evaluation::store(store.ledger().await, dialogues, Learnt::Here).await.unwrap()
}

#[test]
fn the_corpus_is_large_enough_to_mean_something() {
    let corpus = corpus();
    assert!(corpus.iter().map(|dialogue| dialogue.turns.len()).sum::<usize>() >= 300);
    assert!(corpus.iter().map(|dialogue| dialogue.questions.len()).sum::<usize>() >= 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_factors_find_more_than_words_alone() {
    let (store, corpus) = (Store::sqlite(), corpus());
    let evaluation = evaluation(&store, &corpus).await;
    let words = evaluation.ask(&corpus, Ranking::Bm25).await.unwrap();
    let fused = evaluation.ask(&corpus, Ranking::Fused).await.unwrap();
    let ([words_5, words_10, _], [fused_5, fused_10, fused_20]) = (words.all.at(), fused.all.at());
    let figures = format!("words alone:\n{words}\nall factors:\n{fused}");
    assert!(fused_5 >= words_5 + 0.2 && fused_10 >= words_10 + 0.3, "{figures}");
    assert!(fused_10 >= 0.78 && fused_20 >= 0.82, "{figures}");
}

/// Who said it and when counts where it was said, however it came here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_imported_is_found_like_what_was_said_here() {
    let corpus = corpus();
    let mut found = Vec::new();
    for learnt in [Learnt::Here, Learnt::Elsewhere] {
        let store = Store::sqlite();
        let evaluation = Evaluation::store(store.ledger().await, &corpus, learnt).await.unwrap();
        found.push(evaluation.ask(&corpus, Ranking::Fused).await.unwrap().found);
    }
    assert_eq!(found[0], found[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_stores_rank_the_same() {
    let corpus = corpus();
    let mut found = Vec::new();
    for store in [Store::sqlite(), Store::postgres().await] {
        let evaluation = evaluation(&store, &corpus).await;
        found.push(evaluation.ask(&corpus, Ranking::Fused).await.unwrap().found);
    }
    assert_eq!(found[0], found[1]);
}

/// The figures themselves are for a release build; here every size is stored and searched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_are_measured_at_every_size() {
    let folder = tempfile::tempdir().unwrap();
    let measured = super::latency::measure(&folder, &[1_000, 3_000], 20).await.unwrap();
    let sizes: Vec<_> = measured.iter().map(|latency| latency.memories).collect();
    assert_eq!(sizes, [1_000, 3_000]);
    assert!(measured.iter().all(|latency| latency.median > std::time::Duration::ZERO && latency.p99 >= latency.median));
}
