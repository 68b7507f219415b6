//! What a turn costs beside the model: the model here answers at once, so that everything that is left is ours.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use planwright_agent::session::input::{ChatLocation, Input, Request};
use planwright_agent::toolbox::Toolbox;
use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::{Agent, AgentOptions};
use planwright_core::model::{ModelReply, ModelRequest, Usage};
use planwright_core::session::{Channel, ConversationKey, SessionIdentity, TransportChat};
use planwright_engine::core as planwright_core;
use planwright_engine::model::{Listener, Model, ModelError};
use planwright_store::Location;
use tempfile::TempDir;

use crate::figures::Kind::{Other, Rate, Time};
use crate::figures::{Kind, Table};
use crate::{bare, ledger};

const TIME: Duration = Duration::from_secs(3);
const FLUSHES: f64 = 2.0;
const SESSIONS: [(&str, Kind); 6] = [
    ("turns/s", Rate),
    ("a turn, µs", Time),
    ("flushes of it, µs", Other),
    ("ours, µs", Other),
    ("stored/turn, B", Other),
    ("session, kB", Other),
];

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    sessions(folder.path()).await?;
    history(folder.path()).await
}

/// Turns a second with 1, 32 and 1,000 sessions, and what a turn and a session take.
async fn sessions(folder: &Path) -> anyhow::Result<()> {
    let table = Table::new("turns", "sessions", &SESSIONS);
    for count in [1, 32, 1_000] {
        let flush = 1e6 / bare::flushes(folder, Duration::from_secs(1))?;
        let file = folder.join(format!("turns-{count}.db"));
        let agent = agent(folder, &file, 128_000).await?;
        let names = Arc::new(open(&agent, count).await?);
        let before = memory()?;
        // Every session has had one turn before anything is measured.
        for session in names.iter() {
            turn(&agent, session).await?;
        }
        let held = memory()?.saturating_sub(before) / count as u64;
        let stored = size(&file)?;
        let counted = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let (all, done) = (agent.clone(), Arc::clone(&counted));
        let rate = bare::rate(count, TIME, move |caller| {
            let (agent, names, done) = (all.clone(), Arc::clone(&names), Arc::clone(&done));
            async move {
                turn(&agent, &names[caller]).await?;
                done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(())
            }
        })
        .await?;
        drop(agent);
        let turns = counted.load(std::sync::atomic::Ordering::Relaxed).max(1);
        let bytes = size(&file)?.saturating_sub(stored) / turns;
        let each = 1e6 / rate;
        // Many sessions share their flushes, and one alone says nothing about what a session takes in memory.
        let alone = |time: f64| (count == 1).then_some(time);
        let (flushed, ours) = (alone(FLUSHES * flush), alone(each - FLUSHES * flush));
        let memory = (count > 1).then_some(held as f64 / 1e3);
        table.row(count, [Some(rate), Some(each), flushed, ours, Some(bytes as f64), memory])?;
    }
    Ok(())
}

/// Measures turns with 10, 1,000 and 10,000 messages of history: kept whole, read anew, and compacted.
async fn history(folder: &Path) -> anyhow::Result<()> {
    let columns = &[("whole, µs", Time), ("whole, after a start, µs", Time), ("compacted, µs", Time)];
    let table = Table::new("turns with a history", "messages", columns);
    for messages in [10, 1_000, 10_000] {
        let file = folder.join(format!("history-{messages}.db"));
        let (whole, compacted) = (agent(folder, &file, 4_000_000).await?, agent(folder, &file, 16_000).await?);
        let session = session(0)?;
        whole.engine().sessions().open(&session, &ledger::agent()).await?;
        for _ in 0..messages / 2 {
            turn(&whole, &session).await?;
        }
        let warm = median(&whole, &session).await?;
        let fresh = agent(folder, &file, 4_000_000).await?;
        let start = Instant::now();
        turn(&fresh, &session).await?;
        let cold = start.elapsed().as_secs_f64() * 1e6;
        turn(&compacted, &session).await?;
        let short = median(&compacted, &session).await?;
        table.row(messages, [warm, cold, short])?;
    }
    Ok(())
}

/// A store with a session that has had so many turns.
pub(crate) async fn fill(folder: &Path, session: &SessionIdentity, turns: usize) -> anyhow::Result<()> {
    let agent = agent(folder, &folder.join("planwright.db"), 128_000).await?;
    agent.engine().sessions().open(session, &ledger::agent()).await?;
    for _ in 0..turns {
        turn(&agent, session).await?;
    }
    Ok(())
}

async fn median(agent: &Agent, session: &SessionIdentity) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..101 {
        let start = Instant::now();
        turn(agent, session).await?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

async fn turn(agent: &Agent, session: &SessionIdentity) -> anyhow::Result<()> {
    let text = "How far is the move of the service, and what is next?";
    let place = ChatLocation::new(TransportChat("bench".to_owned()), session.clone());
    agent.submit(Input::Message(text.to_owned()), Request::new(place, ledger::agent())).outcome().await?;
    Ok(())
}

async fn agent(folder: &Path, file: &Path, context_tokens: u32) -> anyhow::Result<Agent> {
    let engine = ledger::open(&Location::Sqlite(file.to_owned())).await?;
    let files = FileTools::new(folder.join("users"), FileLimits::default());
    let owner = format!("bench with {context_tokens} tokens");
    let options = AgentOptions { context_tokens: Some(context_tokens), ..AgentOptions::new(owner) };
    Ok(Agent::new(engine, Arc::new(AtOnce), files, Toolbox::default(), options))
}

async fn open(agent: &Agent, count: usize) -> anyhow::Result<Vec<SessionIdentity>> {
    let mut names = Vec::with_capacity(count);
    for n in 0..count {
        let session = session(n)?;
        agent.engine().sessions().open(&session, &ledger::agent()).await?;
        names.push(session);
    }
    Ok(names)
}

fn session(n: usize) -> anyhow::Result<SessionIdentity> {
    Ok(SessionIdentity::new(Channel::Cli, ConversationKey::new(format!("bench-turns-{n:06}"))?))
}

/// What the file takes, without the log beside it, which is used over and over.
fn size(file: &Path) -> anyhow::Result<u64> {
    let connection = rusqlite::Connection::open(file)?;
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok((pages * page).unsigned_abs())
}

/// What the process holds in memory, in bytes.
fn memory() -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1).unwrap_or_default().parse()?;
    Ok(pages * 4096)
}

/// A model that takes no time.
#[derive(Debug)]
pub(crate) struct AtOnce;

#[async_trait]
impl Model for AtOnce {
    fn name(&self) -> &str {
        "at-once"
    }

    fn context_tokens(&self) -> u32 {
        128_000
    }

    async fn reply(&self, _: &ModelRequest, _: &dyn Listener) -> Result<ModelReply, ModelError> {
        let text = "Two of six steps are done: the configuration is read and the new one is written. Next it is tried \
                    beside the old one.";
        Ok(ModelReply {
            text: text.to_owned(),
            usage: Usage { input_tokens: 900, output_tokens: 40 },
            ..ModelReply::default()
        })
    }
}
