//! Many messages to three servers at once, for many sessions, while one of them is killed: every one that was
//! acknowledged is stored, and each is stored once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::journal::{entries, turns, verify};
use crate::program::{Address, Program};
use crate::stores::Store;

const SESSIONS: usize = 12;
const MESSAGES: usize = 6;
/// The server is killed when so many were answered.
const BEFORE_THE_KILL: usize = 15;

#[tokio::test(flavor = "multi_thread")]
async fn messages_to_all_servers_survive_the_death_of_one() {
    let store = Store::postgres().await;
    let settings = [("PLANWRIGHT_SERVER_LEASE_SECONDS", "4")];
    let mut servers: Vec<_> = (0..3).map(|_| Program::rehearsing(&store, &settings)).collect();
    let at: [Address; 3] = [servers[0].at(), servers[1].at(), servers[2].at()];
    let (answered, enough) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let mut people = JoinSet::new();
    for n in 0..SESSIONS {
        let key = format!("rehearsed-{n}");
        at[n % 3].open(&key).await;
        let (answered, enough) = (Arc::clone(&answered), Arc::clone(&enough));
        people.spawn(async move {
            for m in 0..MESSAGES {
                insist(&at, n + m, &key, m).await;
                if answered.fetch_add(1, Ordering::Relaxed) + 1 == BEFORE_THE_KILL {
                    enough.notify_one();
                }
            }
        });
    }
    enough.notified().await;
    servers[0].kill();
    assert!(answered.load(Ordering::Relaxed) < SESSIONS * MESSAGES, "it was killed when everything was over");
    while let Some(done) = people.join_next().await {
        done.unwrap();
    }
    let engine = store.engine().await;
    for n in 0..SESSIONS {
        let key = format!("rehearsed-{n}");
        let begun = turns(&key, &entries(&engine, &key).await);
        let sent: Vec<_> = (0..MESSAGES).map(|m| format!("What about {m}?")).collect();
        assert_eq!(begun, sent, "{key}");
    }
    verify(&store);
}

/// Says it to one server after another, under the same name, until one has answered.
async fn insist(at: &[Address; 3], first: usize, key: &str, number: usize) {
    for server in at.iter().cycle().skip(first % 3) {
        let reply = server.say(key, &format!("What about {number}?"), &format!("message-{number}")).await;
        let Some(answer) = reply else { continue };
        assert_eq!(answer.status, 200, "{answer:?}");
        return;
    }
}
