//! Messages to people, and the updates of chat services.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use planwright_engine::ledger::{Delivery, Ledger, NewMessage, ReceivedUpdate, TakeMessages, TakeOrder};

use crate::commands::at;
use crate::stores::Store;

fn message(id: &str, target: &str, due: i64) -> NewMessage {
    NewMessage {
        id: id.to_owned(),
        channel: "telegram".to_owned(),
        target: target.to_owned(),
        body: format!("{{\"text\":\"{id} żółć \\u0000\"}}"),
        due: at(due),
    }
}

fn take(owner: &str, now: i64, order: TakeOrder) -> TakeMessages {
    TakeMessages {
        channel: "telegram".to_owned(),
        owner: owner.to_owned(),
        now: at(now),
        until: at(now + 60),
        limit: 10,
        order,
    }
}

async fn taken(ledger: &Arc<dyn Ledger>, take: &TakeMessages) -> Vec<String> {
    ledger.take_messages(take).await.unwrap().into_iter().map(|message| message.id).collect()
}

pub(crate) async fn a_message_is_stored_once_and_taken_by_one_process(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let messages = [message("a1", "a", 1), message("a2", "a", 1), message("b1", "b", 1), message("late", "c", 100)];
    assert_eq!(ledger.put_messages(&messages, at(1)).await.unwrap(), 4);
    assert_eq!(other.put_messages(&messages[..2], at(2)).await.unwrap(), 0);
    // One of each target, the oldest; and not what is not due.
    assert_eq!(taken(&ledger, &take("one", 5, TakeOrder::OneOfEachTarget)).await, ["a1", "b1"]);
    assert_eq!(taken(&other, &take("two", 6, TakeOrder::OneOfEachTarget)).await, Vec::<String>::new());
    // A process that died does not keep them for ever.
    assert_eq!(taken(&other, &take("two", 70, TakeOrder::OneOfEachTarget)).await, ["a1", "b1"]);
    assert!(!ledger.settle_message("a1", "one", &Delivery::Sent, at(71)).await.unwrap(), "another process has it");
    assert!(other.settle_message("a1", "two", &Delivery::Sent, at(71)).await.unwrap());
    assert!(!other.settle_message("a1", "two", &Delivery::Sent, at(72)).await.unwrap());
    let retry = Delivery::Retry { at: at(90), why: "slow".to_owned() };
    assert!(other.settle_message("b1", "two", &retry, at(71)).await.unwrap());
    assert_eq!(taken(&ledger, &take("one", 80, TakeOrder::OneOfEachTarget)).await, ["a2"]);
    let undelivered = other.undelivered(10).await.unwrap();
    assert_eq!((undelivered.len(), other.count_undelivered().await.unwrap()), (1, 1));
    assert_eq!(undelivered[0].body, messages[2].body);
    assert_eq!(
        (undelivered[0].id.as_str(), undelivered[0].why.as_deref(), undelivered[0].attempts),
        ("b1", Some("slow"), 2)
    );
    let failed = Delivery::Failed { why: "blocked".to_owned() };
    assert!(ledger.settle_message("a2", "one", &failed, at(81)).await.unwrap());
    assert!(ledger.undelivered(10).await.unwrap().iter().any(|message| message.id == "a2" && message.failed));
    assert_eq!(ledger.count_undelivered().await.unwrap(), 2);
    assert_eq!(ledger.next_due("telegram").await.unwrap(), Some(at(90)));
    assert_eq!(ledger.next_due("webhook").await.unwrap(), None);
    assert_eq!(taken(&ledger, &take("one", 200, TakeOrder::Any)).await, ["b1", "late"]);
    ledger.forget_messages(at(1_000)).await.unwrap();
    assert_eq!(ledger.put_messages(&messages[..1], at(1)).await.unwrap(), 1, "what is forgotten is new again");
}

pub(crate) async fn many_processes_take_each_message_once(store: &Store) {
    let ledger = store.ledger().await;
    let messages: Vec<_> = (0..200).map(|number| message(&format!("m{number}"), &format!("t{number}"), 1)).collect();
    assert_eq!(ledger.put_messages(&messages, at(1)).await.unwrap(), 200);
    let mut workers = Vec::new();
    for worker in 0..4 {
        let ledger = store.ledger().await;
        workers.push(tokio::spawn(async move {
            let (owner, mut found) = (format!("worker {worker}"), Vec::new());
            loop {
                let more = taken(&ledger, &take(&owner, 5, TakeOrder::OneOfEachTarget)).await;
                if more.is_empty() {
                    return found;
                }
                for id in &more {
                    assert!(ledger.settle_message(id, &owner, &Delivery::Sent, at(6)).await.unwrap());
                }
                found.extend(more);
            }
        }));
    }
    let mut found = Vec::new();
    for worker in workers {
        found.extend(worker.await.unwrap());
    }
    assert_eq!((found.len(), found.into_iter().collect::<BTreeSet<_>>().len()), (200, 200));
}

fn update(id: i64) -> ReceivedUpdate {
    ReceivedUpdate { id, body: format!("{{\"update_id\":{id},\"text\":\"\\u0000 ż\"}}") }
}

pub(crate) async fn one_process_receives_and_a_lost_right_stores_nothing(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let ttl = Duration::from_secs(10);
    let first = ledger.acquire_poller("bot", "one", at(1), ttl).await.unwrap().unwrap();
    assert_eq!((first.fence, first.next_update), (1, 0));
    assert_eq!(other.acquire_poller("bot", "two", at(5), ttl).await.unwrap(), None);
    assert!(ledger.receive_updates(&first, &[update(7), update(8)], 9, at(5)).await.unwrap());
    // Renewed, it keeps its fence.
    assert_eq!(ledger.acquire_poller("bot", "one", at(6), ttl).await.unwrap().unwrap().fence, 1);
    let second = other.acquire_poller("bot", "two", at(20), ttl).await.unwrap().unwrap();
    assert_eq!((second.fence, second.next_update, second.received_at), (2, 9, at(5)));
    assert!(!ledger.receive_updates(&first, &[update(9)], 10, at(21)).await.unwrap());
    assert!(other.receive_updates(&second, &[update(8), update(9)], 10, at(21)).await.unwrap());
    let ids = |pending: Vec<planwright_engine::ledger::PendingUpdate>| {
        pending.into_iter().map(|update| update.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(other.pending_updates("bot", 0, 10).await.unwrap()), [7, 8, 9]);
    assert_eq!(ids(other.pending_updates("bot", 7, 1).await.unwrap()), [8]);
    assert_eq!(ids(other.pending_updates("another bot", 0, 10).await.unwrap()), Vec::<i64>::new());
    let session = "telegram:k3yk3y8x".parse().unwrap();
    other.assign_update("bot", 8, &session).await.unwrap();
    let pending = other.pending_updates("bot", 7, 1).await.unwrap().remove(0);
    assert_eq!((pending.session, pending.body), (Some(session), update(8).body));
    // Finished once, with its messages; it is not taken again.
    other.finish_update("bot", 8, &[message("answer", "a", 1)], at(22)).await.unwrap();
    other.finish_update("bot", 8, &[message("another answer", "a", 1)], at(23)).await.unwrap();
    assert!(other.receive_updates(&second, &[update(8)], 10, at(24)).await.unwrap());
    assert_eq!(ids(other.pending_updates("bot", 0, 10).await.unwrap()), [7, 9]);
    assert_eq!(taken(&ledger, &take("one", 30, TakeOrder::Any)).await, ["answer"]);
    other.release_poller(&second).await.unwrap();
    assert_eq!(ledger.acquire_poller("bot", "three", at(25), ttl).await.unwrap().unwrap().fence, 3);
    assert_eq!(other.receive_pushed("bot", &[update(9), update(3), update(12)]).await.unwrap(), [3, 12]);
    other.forget_updates(Timestamp::MAX).await.unwrap();
    assert_eq!(ids(other.pending_updates("bot", 0, 10).await.unwrap()), [3, 7, 9, 12]);
}

pub(crate) async fn a_record_changes_only_from_the_revision_that_was_read(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    assert_eq!(ledger.keyed_record("card/a/1").await.unwrap(), None);
    assert!(ledger.put_keyed_record("card/a/1", 0, "first").await.unwrap());
    assert!(!other.put_keyed_record("card/a/1", 0, "second").await.unwrap());
    assert!(!other.put_keyed_record("card/a/1", 7, "second").await.unwrap());
    let record = other.keyed_record("card/a/1").await.unwrap().unwrap();
    assert_eq!(record.body, "first");
    assert!(other.put_keyed_record("card/a/1", record.revision, "second").await.unwrap());
    assert!(!ledger.put_keyed_record("card/a/1", record.revision, "third").await.unwrap());
    for key in ["card/a/2", "card/b/1", "card/ab/1", "Card/a/3"] {
        assert!(ledger.put_keyed_record(key, 0, key).await.unwrap());
    }
    let keys: Vec<_> = other.keyed_records("card/a/", 10).await.unwrap().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["card/a/1", "card/a/2"]);
    assert_eq!(other.keyed_records("card/", 2).await.unwrap().len(), 2);
    ledger.remove_keyed_record("card/a/1").await.unwrap();
    assert_eq!(other.keyed_record("card/a/1").await.unwrap(), None);
}
