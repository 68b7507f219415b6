//! A chat is killed at many points in the middle of its turns. What it answered is stored afterwards, an interrupted turn
//! continues in the next one, and no outcome that was recorded is produced again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use planwright_core::event::{Event, TurnEvent};
use planwright_core::journal::Entry;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use serde_json::Value;

use crate::client::planwright;
use crate::provider::Provider;
use crate::stores::Store;

const ROUNDS: u32 = 20;
const SENT: u32 = 4;
/// How often the model is asked for one message.
const REQUESTS: usize = 4;
/// How often a turn may be interrupted before it is given up.
const RESUMPTIONS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn turns_survive_a_kill_on_sqlite() {
    rounds(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_survive_a_kill_on_postgres() {
    rounds(Store::postgres().await).await;
}

async fn rounds(store: Store) {
    let session: SessionIdentity = "cli:killed-turns".parse().unwrap();
    let data = tempfile::tempdir().unwrap();
    let provider = Provider::start();
    let mut answered = BTreeSet::new();
    let mut interrupted = Vec::new();
    for round in 0..ROUNDS {
        let before = turns(&store.engine().await, &session).await;
        let asked = provider.asked().len();
        // A turn that was interrupted this often is given up the next time, so this kill waits for the turn after it.
        let spared =
            interrupted.last().filter(|open| interrupted.iter().filter(|turn| turn == open).count() == RESUMPTIONS);
        answered.extend(one_round(&store, data.path(), &provider, round, spared.copied().unwrap_or(0)));
        // No request goes back behind what the journal had before the chat was started again.
        for request in &provider.asked()[asked..] {
            if let Some(known) = before.get(&request.message) {
                assert!(!known.ended, "round {round}: {request:?} asks about a turn that was over");
                assert!(request.results >= known.outcomes, "round {round}: {request:?} after {known:?}");
            }
        }
        let engine = store.engine().await;
        let after = turns(&engine, &session).await;
        for number in &answered {
            assert!(after.get(number).is_some_and(|turn| turn.ended), "round {round}: the answer to {number} is gone");
        }
        interrupted.extend(after.iter().find(|(_, turn)| !turn.ended).map(|(number, _)| *number));
        let report = engine.verifier().verify_all(|_| {}).await.unwrap();
        assert!(report.is_whole(), "round {round}: {report:?}");
    }
    let kills = interrupted.len();
    assert!(kills > ROUNDS as usize / 3, "only {kills} of {ROUNDS} kills came in the middle of a turn");
    // Left alone, the last one ends what is open.
    let mut last = chat(&store, data.path(), &provider);
    drop(last.stdin.take());
    assert!(last.wait().unwrap().success());
    for (number, turn) in turns(&store.engine().await, &session).await {
        assert!(turn.ended, "turn {number} was never ended");
        assert_eq!(turn.outcomes, REQUESTS - 1, "turn {number}");
        let file = data.path().join("users").join(session.folder_name()).join("files").join(format!("{number}.txt"));
        assert_eq!(std::fs::read_to_string(file).unwrap(), number.to_string());
    }
}

#[derive(Debug, Default)]
struct Known {
    outcomes: usize,
    ended: bool,
}

/// What the journal says about the turn of each message.
async fn turns(engine: &Engine, session: &SessionIdentity) -> BTreeMap<u32, Known> {
    let mut turns = BTreeMap::new();
    let mut current = 0;
    for sealed in engine.ledger().journal(session, 0, 100_000).await.unwrap() {
        let entry: Entry = serde_json::from_str(&sealed.body).unwrap();
        match entry.event {
            Event::Turn { event: TurnEvent::Begun { text, .. }, .. } => {
                current = text.strip_prefix("do ").unwrap().parse().unwrap();
                assert!(turns.insert(current, Known::default()).is_none(), "message {current} was taken twice");
            }
            Event::Turn { event: TurnEvent::ToolEnded { .. }, .. } => turns.get_mut(&current).unwrap().outcomes += 1,
            Event::Turn { event: TurnEvent::Ended { .. }, .. } => turns.get_mut(&current).unwrap().ended = true,
            _ => {}
        }
    }
    turns
}

/// Sends a few messages, kills the chat a little later in every round but after the turn that is spared, and gives the
/// messages whose answer arrived.
fn one_round(store: &Store, data: &Path, provider: &Provider, round: u32, spared: u32) -> Vec<u32> {
    let asked = provider.asked().len();
    let mut chat = chat(store, data, provider);
    let mut input = chat.stdin.take().unwrap();
    for n in 1..=SENT {
        // A chat that has gone does not read any more.
        let _ = input.write_all(format!("do {}\n", round * SENT + n).as_bytes());
    }
    provider.wait_for(asked + 1 + round as usize % (REQUESTS * 2), spared);
    let moment = Instant::now();
    while moment.elapsed() < Duration::from_micros(u64::from(round) * 1_137 % 20_000) {
        std::hint::spin_loop();
    }
    chat.kill().unwrap();
    let output = BufReader::new(chat.stdout.take().unwrap());
    let lines: Vec<_> = output.lines().map_while(Result::ok).collect();
    chat.wait().unwrap();
    let answers = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    answers.filter_map(|answer| answer["reply"].as_str()?.strip_prefix("done ")?.parse().ok()).collect()
}

fn chat(store: &Store, data: &Path, provider: &Provider) -> Child {
    planwright(&store.location())
        .arg("--data")
        .arg(data)
        .args(["--json", "chat", "--session", "cli:killed-turns", "--model", "openai:test", "--plan", "document"])
        .env("OPENAI_BASE_URL", provider.address())
        .env("OPENAI_API_KEY", "a-key")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}
