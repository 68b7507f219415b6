//! Clients that come and go while several write, here and in another process: what they receive is the journal.

use std::ops::Range;

use planwright_engine::Engine;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::stores::Store;
use crate::world::{OTHER, SESSION, World, write};

const CLIENTS: u64 = 6;
/// Every writer writes so many times.
const TIMES: usize = 25;

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_come_and_go_receive_the_journal_on_sqlite() {
    come_and_go(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_come_and_go_receive_the_journal_on_postgres() {
    come_and_go(Store::postgres().await).await;
}

async fn come_and_go(store: Store) {
    let model = ScriptedModel::new([]).otherwise(Reply::text("Good morning."));
    let world = World::with(store, model, |_| {}).await;
    // Two in this process, and two that only share the store with it.
    let engines = [world.engine.clone(), world.engine.clone(), world.store.engine().await, world.store.engine().await];
    let mut writers = JoinSet::new();
    for engine in engines {
        writers.spawn(async move { write_everywhere(&engine).await });
    }
    let mut talker = world.client().await;
    writers.spawn(async move {
        for id in 0..5 {
            let frame = json!({ "type": "message", "sessionId": SESSION, "text": "hello", "id": id });
            talker.send(frame).await;
            talker.next_of("answer").await;
        }
    });
    let mut readers = JoinSet::new();
    for seed in 1..=CLIENTS {
        let key = if seed % 3 == 0 { OTHER } else { SESSION };
        let hello = crate::client::Hello::new().bearer(&world.token);
        readers.spawn(read(world.address, hello, key, Random(seed)));
    }
    while let Some(written) = writers.join_next().await {
        written.unwrap();
    }
    // The last thing that happens, so that every client knows when to stop.
    for key in [SESSION, OTHER] {
        let last = world.store.engine().await;
        let reset = planwright_core::command::SessionCommand::Reset { history_from: 0 };
        let command = planwright_core::command::Command::Session(reset);
        last.submit(&crate::world::session(key), &crate::world::person(), command).await.unwrap();
    }
    let (one, other) = (world.journal(SESSION).await, world.journal(OTHER).await);
    assert!(one.len() > 4 * TIMES && other.len() > 4 * TIMES);
    while let Some(read) = readers.join_next().await {
        let (key, received) = read.unwrap();
        let journal = if key == SESSION { &one } else { &other };
        assert_eq!(received.len(), journal.len());
        assert_eq!(&received, journal);
    }
}

async fn write_everywhere(engine: &Engine) {
    for _ in 0..TIMES {
        write(engine, SESSION, 1).await;
        write(engine, OTHER, 1).await;
    }
}

/// Reads a session from its beginning to the reset, and goes away after a random number of entries, again and again.
async fn read(
    to: std::net::SocketAddr,
    hello: crate::client::Hello,
    key: &'static str,
    mut random: Random,
) -> (&'static str, Vec<(u64, Value)>) {
    let mut received: Vec<(u64, Value)> = Vec::new();
    loop {
        let mut client = Client::connect(to, &hello).await.unwrap();
        // Some follow the other session as well, and must not mix them up.
        if random.below(0..2) == 0 {
            let beside = if key == SESSION { OTHER } else { SESSION };
            client.subscribe(beside, None).await;
        }
        let after = received.last().map_or(0, |(seq, _)| *seq);
        client.send(json!({ "type": "subscribe", "sessionId": key, "after": after })).await;
        for _ in 0..random.below(1..40) {
            let mut frame = client.next().await;
            if frame["sessionId"] != key || frame.get("event").is_none() {
                continue;
            }
            let event = frame["event"].take();
            let over = frame["type"] == "conversation_reset";
            received.push((frame["seq"].as_u64().unwrap(), event));
            if over {
                return (key, received);
            }
        }
    }
}

/// A generator whose numbers depend on the seed alone.
struct Random(u64);

impl Random {
    fn below(&mut self, range: Range<u64>) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        range.start + self.0 % (range.end - range.start)
    }
}
