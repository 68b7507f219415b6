//! Memories found again: how many of the turns that answer a question are among the first ones found, and how long it takes.
//!
//! - `dialogues`: data in the layout of LoCoMo, from a path that the user gives
//! - `recall`: stores every turn as a memory, asks every question and counts
//! - `latency`: one search with 1,000 visible memories among 100,000 and among 1,000,000

mod dialogues;
mod latency;
mod recall;
#[cfg(test)]
mod tests;

use std::path::Path;

use planwright_engine::core::memory::ranking::Ranking;
use planwright_store::Location;
use tempfile::TempDir;

use recall::{Evaluation, Learnt};

const WAYS: [(&str, Learnt); 2] = [("saved as it was said", Learnt::Here), ("imported", Learnt::Elsewhere)];
const RANKINGS: [(&str, Ranking); 2] = [("words only (BM25)", Ranking::Bm25), ("all factors", Ranking::Fused)];

pub(crate) async fn run(path: &Path, folder: &TempDir) -> anyhow::Result<()> {
    let dialogues = dialogues::read(path)?;
    let turns: usize = dialogues.iter().map(|dialogue| dialogue.turns.len()).sum();
    let questions: usize = dialogues.iter().map(|dialogue| dialogue.questions.len()).sum();
    println!("{} dialogues, {turns} turns, {questions} questions with evidence", dialogues.len());
    for (way, learnt) in WAYS {
        let location = Location::Sqlite(folder.path().join(format!("{learnt:?}.db")));
        let evaluation = Evaluation::store(planwright_store::open(&location).await?, &dialogues, learnt).await?;
        for (name, ranking) in RANKINGS {
            println!("\n{way}, {name}");
            print!("{}", evaluation.ask(&dialogues, ranking).await?);
        }
    }
    Ok(())
}

/// `sizes` are the numbers of memories; 100,000 and 1,000,000 if there are none.
pub(crate) async fn run_latency(folder: &TempDir, sizes: &[usize]) -> anyhow::Result<()> {
    latency::run(folder, if sizes.is_empty() { &latency::SIZES } else { sizes }).await
}
