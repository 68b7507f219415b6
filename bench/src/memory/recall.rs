//! Every turn is stored as a memory of its dialogue's session, by its speaker and at its time; then every question is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use planwright_engine::Engine;
use planwright_engine::clock::{Clock, TimeOrderedIds};
use planwright_engine::core::actor::Actor;
use planwright_engine::core::ids::MemoryId;
use planwright_engine::core::memory::ranking::Ranking;
use planwright_engine::core::memory::{MemoryOrigin, NewMemory, ScopeChain};
use planwright_engine::core::policy::Policy;
use planwright_engine::core::session::SessionIdentity;
use planwright_engine::ledger::Ledger;

use super::dialogues::Dialogue;

/// How many of the items that are found are looked at.
const CUTS: [usize; 3] = [5, 10, 20];

/// The dialogues in a store.
pub(super) struct Evaluation {
    engine: Engine,
    /// The turn that each memory is, by dialogue.
    turns: Vec<BTreeMap<MemoryId, String>>,
}

/// How the turns came to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Learnt {
    /// Each speaker saved them when they were said.
    Here,
    /// One person imported all of them later, with who said them and when.
    Elsewhere,
}

/// How much of the evidence was found.
#[derive(Debug, Default)]
pub(super) struct Recall {
    pub(super) all: Mean,
    by_category: BTreeMap<u64, Mean>,
    took: Vec<Duration>,
    /// What was found for each question, the best first.
    pub(super) found: Vec<Vec<String>>,
}

#[derive(Debug, Default)]
pub(super) struct Mean {
    questions: usize,
    sums: [f64; CUTS.len()],
}

/// Stands where it is put.
#[derive(Debug, Clone, Default)]
struct DialogueClock(Arc<AtomicI64>);

impl Clock for DialogueClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap_or_default()
    }
}

fn session(index: usize) -> anyhow::Result<SessionIdentity> {
    Ok(format!("cli:dialogue-{index:03}").parse()?)
}

impl Evaluation {
    pub(super) async fn store(ledger: Arc<dyn Ledger>, dialogues: &[Dialogue], learnt: Learnt) -> anyhow::Result<Self> {
        let last = dialogues.iter().flat_map(|dialogue| &dialogue.turns).map(|turn| turn.at).max().unwrap_or_default();
        let clock = DialogueClock::default();
        let engine = Engine::new(ledger, Policy::default()).with_clock(clock.clone(), TimeOrderedIds);
        let mut turns = Vec::new();
        for (index, dialogue) in dialogues.iter().enumerate() {
            let session = session(index)?;
            engine.sessions().open(&session, &Actor::person("bench", "cli")).await?;
            let mut known = BTreeMap::new();
            for turn in &dialogue.turns {
                let text = if turn.text.trim().is_empty() { "(nothing)" } else { &turn.text };
                let mut new = NewMemory::by_person(text);
                let (by, at) = match learnt {
                    Learnt::Here => (Actor::person(&turn.speaker, "cli"), turn.at),
                    Learnt::Elsewhere => {
                        let (author, at) = (Some(turn.speaker.clone()), Some(turn.at));
                        new.origin = Some(MemoryOrigin { author, at, context: None });
                        (Actor::person("bench", "cli"), last)
                    }
                };
                clock.0.store(at.as_second(), Ordering::Relaxed);
                let item = engine.memories().save(&session, &by, new).await?;
                known.insert(item.id, turn.id.clone());
            }
            turns.push(known);
        }
        Ok(Self { engine, turns })
    }

    pub(super) async fn ask(&self, dialogues: &[Dialogue], ranking: Ranking) -> anyhow::Result<Recall> {
        let mut recall = Recall::default();
        for (index, dialogue) in dialogues.iter().enumerate() {
            let chain = ScopeChain::of_session(&session(index)?);
            for question in &dialogue.questions {
                let begun = Instant::now();
                let most = CUTS[CUTS.len() - 1];
                let search = self.engine.memories().search_by(&chain, &question.text, most, ranking).await?;
                recall.took.push(begun.elapsed());
                let turn = |id: &MemoryId| self.turns[index].get(id).cloned().unwrap_or_default();
                let found: Vec<_> = search.found.iter().map(|found| turn(&found.item.id)).collect();
                recall.all.count(&question.evidence, &found);
                recall.by_category.entry(question.category).or_default().count(&question.evidence, &found);
                recall.found.push(found);
            }
        }
        Ok(recall)
    }
}

impl Mean {
    fn count(&mut self, evidence: &BTreeSet<String>, found: &[String]) {
        self.questions += 1;
        for (sum, cut) in self.sums.iter_mut().zip(CUTS) {
            let hits = found.iter().take(cut).filter(|turn| evidence.contains(*turn)).count();
            *sum += hits as f64 / evidence.len() as f64;
        }
    }

    /// The part of the evidence that is among the first 5, 10 and 20.
    pub(super) fn at(&self) -> [f64; CUTS.len()] {
        self.sums.map(|sum| sum / self.questions.max(1) as f64)
    }
}

impl fmt::Display for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<12} {:>9} {:>9} {:>9} {:>9}", "", "questions", "recall@5", "recall@10", "recall@20")?;
        let mut line = |name: &str, mean: &Mean| {
            let [five, ten, twenty] = mean.at();
            writeln!(f, "{name:<12} {:>9} {five:>9.3} {ten:>9.3} {twenty:>9.3}", mean.questions)
        };
        for (category, mean) in &self.by_category {
            line(&format!("category {category}"), mean)?;
        }
        line("all", &self.all)?;
        let mut took = self.took.clone();
        took.sort();
        let at = |part: f64| {
            took.get(((took.len() as f64 * part) as usize).min(took.len() - 1)).copied().unwrap_or_default()
        };
        let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
        writeln!(f, "latency: median {:.2} ms, p99 {:.2} ms", millis(at(0.5)), millis(at(0.99)))
    }
}
