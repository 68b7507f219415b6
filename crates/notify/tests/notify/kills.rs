//! A thousand notices, and processes that die while they tell them.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use planwright_notify::NotifyTarget;
use planwright_test_support::killed_ledger::{KillPoint, KilledLedger};
use planwright_test_support::stores::Store;

use crate::world::{LONG, World};

const HAPPENINGS: usize = 1_000;
/// Longer than a process that died keeps what it took.
const LEASE: u64 = 121;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_notices_with_kills_on_sqlite() {
    a_thousand_notices(&Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_notices_with_kills_on_postgres() {
    a_thousand_notices(&Store::postgres().await).await;
}

/// Processes die after they took messages and before they sent them, and between the acceptance of the receiver and the note of
/// it. In the second case it cannot be known, and the messages of that process are told again under the same event ids. Everything else
/// is told once.
async fn a_thousand_notices(store: &Store) {
    let world = World::on(store).await;
    let finder = world.notifier(world.options("finder"));
    let waiting = futures::stream::iter(0..HAPPENINGS).for_each_concurrent(32, async |number| {
        let session = world.waiting(&format!("session-{number:04}")).await;
        finder.look(&session, world.now()).await.unwrap();
    });
    waiting.await;
    world.advance(61);
    let mut told_before_kills = Vec::new();
    for round in 0.. {
        let at = match round % 5 {
            1 => Some(KillPoint::After("take_messages")),
            3 => Some(KillPoint::Before("settle_message")),
            _ => None,
        };
        let options = world.options(&format!("server {round}"));
        let sent = match at {
            Some(at) => {
                let before = world.receiver.events().len();
                let (ledger, mut killed) = KilledLedger::around(store.ledger().await, at);
                let notifier = world.notifier_on(ledger, options);
                let mut dying = tokio::spawn(async move { notifier.send_due(NotifyTarget::Webhook).await });
                tokio::select! {
                    () = killed.reached() => {}
                    // Nothing is left to settle.
                    sent = &mut dying => assert_eq!(sent.unwrap().unwrap(), 0),
                }
                dying.abort();
                told_before_kills.extend(world.receiver.events().drain(before..).map(|event| event["id"].clone()));
                1
            }
            None => {
                let notifier = world.notifier_on(store.ledger().await, options);
                tokio::time::timeout(LONG, notifier.send_due(NotifyTarget::Webhook)).await.expect("it ends").unwrap()
            }
        };
        if sent == 0 {
            // What dead processes took is free again.
            if world.ledger.next_due("notify-webhook").await.unwrap().is_none() {
                break;
            }
            world.advance(LEASE);
        }
    }
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for event in world.receiver.events() {
        *told.entry(event["id"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(told.len(), HAPPENINGS, "each is told");
    let twice: Vec<_> = told.iter().filter(|(_, count)| **count > 1).map(|(id, _)| id.clone()).collect();
    assert!(!told_before_kills.is_empty());
    for id in &twice {
        assert!(told_before_kills.iter().any(|told| told == id.as_str()), "{id} is told twice without need");
    }
    assert_eq!(world.ledger.count_undelivered().await.unwrap(), 0);
}
