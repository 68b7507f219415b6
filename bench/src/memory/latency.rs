//! One search with 1,000 visible memories, among 100,000 and among 1,000,000 unless other numbers are given. The ratio of both is
//! the figure: a search costs what its own scopes have.

use std::time::{Duration, Instant};

use futures::{StreamExt as _, TryStreamExt as _};
use planwright_engine::Engine;
use planwright_engine::core::actor::Actor;
use planwright_engine::core::memory::{NewMemory, ScopeChain};
use planwright_engine::core::policy::Policy;
use planwright_engine::core::session::SessionIdentity;
use planwright_store::Location;
use tempfile::TempDir;

use crate::figures::Kind::{Other, Time};
use crate::figures::Table;

const VISIBLE: usize = 1_000;
pub(super) const SIZES: [usize; 2] = [100_000, 1_000_000];
const SEARCHES: usize = 2_000;
/// How many memories are saved at the same time.
const AT_ONCE: usize = 256;
const VOCABULARY: u64 = 8_000;

/// How long searches take with so many memories in the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Latency {
    pub(super) memories: usize,
    pub(super) median: Duration,
    pub(super) p99: Duration,
}

pub(super) async fn run(folder: &TempDir, sizes: &[usize]) -> anyhow::Result<()> {
    let columns = &[("median, ms", Time), ("p99, ms", Time), ("p99 ratio", Other)];
    let table = Table::new("memory latency", "memories", columns);
    let mut first = None;
    for Latency { memories, median, p99 } in measure(folder, sizes, SEARCHES).await? {
        let ratio = millis(p99) / *first.get_or_insert(millis(p99));
        table.row(memories, [millis(median), millis(p99), ratio])?;
    }
    Ok(())
}

/// The sizes grow; what is stored for one is part of the next.
pub(super) async fn measure(folder: &TempDir, sizes: &[usize], searches: usize) -> anyhow::Result<Vec<Latency>> {
    let location = Location::Sqlite(folder.path().join("planwright.db"));
    let engine = Engine::new(planwright_store::open(&location).await?, Policy::default());
    let mut stored = 0;
    let mut measured = Vec::new();
    for size in sizes {
        while stored < *size {
            fill(&engine, stored / VISIBLE).await?;
            stored += VISIBLE;
        }
        let took = search(&engine, stored / VISIBLE, searches).await?;
        let at = |part: f64| took[(took.len() as f64 * part) as usize];
        measured.push(Latency { memories: stored, median: at(0.5), p99: at(0.99) });
    }
    Ok(measured)
}

fn session(index: usize) -> anyhow::Result<SessionIdentity> {
    Ok(format!("cli:latency-{index:05}").parse()?)
}

/// A session with as many memories as a search sees.
async fn fill(engine: &Engine, index: usize) -> anyhow::Result<()> {
    let session = session(index)?;
    let by = Actor::person("bench", "cli");
    engine.sessions().open(&session, &by).await?;
    let memories = engine.memories();
    let save = |number: usize| {
        let (memories, session, by) = (&memories, &session, &by);
        let text = sentence((index * VISIBLE + number) as u64, 14);
        async move { memories.save(session, by, NewMemory::by_person(text)).await.map(drop) }
    };
    futures::stream::iter((0..VISIBLE).map(save)).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    Ok(())
}

/// Searches in sessions all over the store, so that none of them stays in the cache.
async fn search(engine: &Engine, sessions: usize, searches: usize) -> anyhow::Result<Vec<Duration>> {
    let mut took = Vec::new();
    for number in 0..searches {
        let chain = ScopeChain::of_session(&session((number * 7_919) % sessions)?);
        let question = sentence(number as u64 + (1 << 40), 7);
        let begun = Instant::now();
        engine.memories().search(&chain, &question, 10).await?;
        took.push(begun.elapsed());
    }
    took.sort();
    Ok(took)
}

/// Words in the way of a language: few are frequent, most are rare.
fn sentence(seed: u64, words: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let word = |part: u64, scale: u64| {
        let share = (part % 10_000) as f64 / 10_000.0;
        let rank = (share * share * share * VOCABULARY as f64) as u64 + scale % 3;
        const SYLLABLES: [&str; 16] =
            ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za"];
        let digit = |shift: u64| SYLLABLES[((rank >> shift) & 15) as usize];
        format!("{}{}{}{}", digit(0), digit(4), digit(8), digit(12))
    };
    (0..words).map(|_| word(next(), next())).collect::<Vec<_>>().join(" ")
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
