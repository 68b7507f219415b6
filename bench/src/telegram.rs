//! Updates of the Telegram bot: how many are taken in a second beside a bare loop that only stores them, and how long it takes from
//! an update to the beginning of its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use planwright_engine::ledger::Ledger;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_telegram::{TelegramBot, TelegramOptions};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::bot_api::{FakeBotApi, TOKEN};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::figures::Kind::{Limit, Other, Rate, Time};
use crate::figures::Table;

/// Fewer in a build without optimisations, which only shows that the benchmark runs.
const UPDATES: i64 = if cfg!(debug_assertions) { 200 } else { 1_000 };
/// As many as one call of `getUpdates` brings.
const BATCH: usize = 100;
const ANSWERS: usize = if cfg!(debug_assertions) { 10 } else { 200 };
const USER: i64 = 7;

pub(crate) async fn run(folder: &TempDir) -> anyhow::Result<()> {
    let api = FakeBotApi::start().await;
    let bare = bare(folder)?;
    let ours = intake(folder, &api).await?;
    let columns = &[("updates/s", Rate), ("bare/s", Limit), ("ratio", Other)];
    Table::new("telegram", "", columns).row("taken in", [ours, bare, ours / bare])?;
    answers(folder).await
}

fn update(id: i64) -> Value {
    json!({ "update_id": id, "edited_message": {
        "message_id": 1, "date": 1, "from": { "id": USER, "first_name": "Ada" },
        "chat": { "id": USER, "type": "private" }, "text": "a message of the usual length, as people write them",
    } })
}

/// A loop that stores each batch in one transaction.
fn bare(folder: &TempDir) -> anyhow::Result<f64> {
    let connection = Connection::open(folder.path().join("bare.db"))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch("CREATE TABLE update_row (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")?;
    let updates: Vec<_> = (0..UPDATES).map(|id| (id, update(id).to_string())).collect();
    let begun = Instant::now();
    for batch in updates.chunks(BATCH) {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for (id, body) in batch {
            connection.prepare_cached("INSERT INTO update_row VALUES (?1, ?2)")?.execute(params![id, body])?;
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok(UPDATES as f64 / begun.elapsed().as_secs_f64())
}

struct RunningBot {
    ledger: Arc<dyn Ledger>,
    shutdown: CancellationToken,
}

async fn start(folder: &TempDir, name: &str, api: &FakeBotApi) -> anyhow::Result<RunningBot> {
    let own = folder.path().join(name);
    std::fs::create_dir(&own)?;
    let setup = AgentSetup::new(&own);
    let ledger = setup.ledger().await;
    let agent = setup.agent(ledger.clone(), ScriptedModel::answering(|_| Reply::text("ok")));
    let options = TelegramOptions {
        api_url: api.url.clone(),
        allowed_users: vec![USER],
        owner: "benchmark".to_owned(),
        ..TelegramOptions::new(TOKEN.into())
    };
    let shutdown = CancellationToken::new();
    tokio::spawn(TelegramBot::new(agent, ledger.clone(), options)?.run(shutdown.clone()));
    Ok(RunningBot { ledger, shutdown })
}

/// Everything that the bot does to take updates in: it asks for them over HTTP, checks who sent them, and stores them.
async fn intake(folder: &TempDir, api: &FakeBotApi) -> anyhow::Result<f64> {
    for id in 0..UPDATES {
        let mut update = update(1);
        let content = update.as_object_mut().and_then(|update| update.remove("edited_message")).unwrap_or_default();
        api.deliver_as(id + 10_000, json!({ "edited_message": content }));
    }
    let bot = start(folder, "intake", api).await?;
    api.wait("the bot polls", |api| api.calls("getUpdates").first().map(drop)).await;
    let begun = Instant::now();
    api.all_received().await;
    let rate = UPDATES as f64 / begun.elapsed().as_secs_f64();
    bot.shutdown.cancel();
    drop(bot.ledger);
    Ok(rate)
}

/// From the delivery of an update to the beginning of its answer at Telegram, with a model that answers at once.
async fn answers(folder: &TempDir) -> anyhow::Result<()> {
    let api = FakeBotApi::start().await;
    let bot = start(folder, "answers", &api).await?;
    let mut times = Vec::new();
    for number in 1..=ANSWERS {
        let begun = Instant::now();
        api.say(USER, "hello");
        api.wait("an answer", |api| (api.messages(USER).len() >= number).then_some(())).await;
        times.push(begun.elapsed());
    }
    bot.shutdown.cancel();
    times.sort();
    let at = |part: f64| times.get((times.len() as f64 * part) as usize).copied().unwrap_or(Duration::ZERO);
    let millis = |time: Duration| time.as_secs_f64() * 1_000.0;
    let table = Table::new("telegram", "", &[("median ms", Time), ("90 % ms", Time)]);
    table.row("an answer starts after", [millis(at(0.5)), millis(at(0.9))])
}
