//! Servers on both stores under load while processes are killed and frozen, logs are closed, disks are full and databases
//! restart; then a checker compares what the clients were told with what is stored. `docs/chaos.md` explains it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a run that meets the unexpected should stop")]

mod checker;
mod evidence;
mod faults;
mod history;
mod http;
mod load;
mod postgres;
mod provider;
mod round;
mod script;
mod seed;
mod server;
mod stores;

use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

use crate::round::Round;
use crate::stores::StoreKind;

/// The round that runs with all other tests: the same faults every time.
const SEED: u64 = 20_261_115;
const ROUND: u64 = 10;

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_under_faults() {
    run(StoreKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_under_faults() {
    if setting("PLANWRIGHT_TEST_POSTGRES").is_none() {
        println!("SKIPPED: PostgreSQL; run it through `scripts/with-postgres`");
        return;
    }
    run(StoreKind::Postgres).await;
}

/// One round, or as many as fit into the time that was asked for. The seed of each is one more than that of the one before.
async fn run(store: StoreKind) {
    if setting("PLANWRIGHT_CHAOS_STORE").is_some_and(|only| only != store.to_string()) {
        return;
    }
    let seconds = |name: &str, default: u64| setting(name).map_or(default, |text| text.parse().expect(name));
    let lasts = Duration::from_secs(seconds("PLANWRIGHT_CHAOS_ROUND", ROUND));
    let total = Duration::from_secs(seconds("PLANWRIGHT_CHAOS_SECONDS", 0));
    let begin = Instant::now();
    let mut seed = seconds("PLANWRIGHT_CHAOS_SEED", SEED);
    loop {
        let round = Round { store, seed, lasts };
        println!("{store} with seed {seed}; to repeat it: {}", round.command());
        // Dropping the round ends its processes and takes its file system away.
        let ended = tokio::select! {
            ended = round.run() => ended,
            () = told_to_stop() => Err("interrupted".to_owned()),
        };
        match ended {
            Ok(summary) => println!("held: {summary}"),
            Err(report) => panic!("{report}"),
        }
        if begin.elapsed() + lasts >= total {
            return;
        }
        seed += 1;
    }
}

async fn told_to_stop() {
    let mut interrupt = signal(SignalKind::interrupt()).unwrap();
    let mut terminate = signal(SignalKind::terminate()).unwrap();
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// An environment variable that is set to something.
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}
