//! Followers are told of every write, by any process.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;
use planwright_core::policy::Policy;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::{Ledger, StoreChange};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::timeout;

use crate::commands::*;
use crate::contract::damage::here;
use crate::stores::Store;

const LONG: Duration = Duration::from_secs(600);
/// Only reached if something is never told.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Follows a ledger, from the moment on at which nothing that others write is missed any more.
pub(crate) async fn follow(ledger: &dyn Ledger) -> Receiver<StoreChange> {
    let mut changes = ledger.changes();
    assert_eq!(next(&mut changes).await, StoreChange::Anywhere);
    changes
}

pub(crate) async fn next(changes: &mut Receiver<StoreChange>) -> StoreChange {
    timeout(TIMEOUT, changes.recv()).await.expect("no change was announced").unwrap()
}

/// Waits until this session is told of and gives everything that was told before.
pub(crate) async fn wait_for(changes: &mut Receiver<StoreChange>, session: &SessionIdentity) -> Vec<StoreChange> {
    let mut before = Vec::new();
    loop {
        match next(changes).await {
            StoreChange::Session(told) if told == *session => return before,
            other => before.push(other),
        }
    }
}

fn told_by_now(changes: &mut Receiver<StoreChange>) -> Vec<StoreChange> {
    std::iter::from_fn(|| changes.try_recv().ok()).collect()
}

async fn delete(ledger: &dyn Ledger, session: &SessionIdentity) {
    let lease = ledger.acquire_lease(session, "deleting", LONG).await.unwrap().unwrap();
    ledger.delete_session(&lease).await.unwrap();
}

pub(crate) async fn what_this_process_writes_is_told_before_it_is_answered(store: &Store) {
    let ledger = store.ledger().await;
    let mut all = [follow(ledger.as_ref()).await, ledger.changes()];
    ledger.submit(submission(&here(), "open", open())).await.unwrap();
    for changes in &mut all {
        assert!(told_by_now(changes).contains(&StoreChange::Session(here())));
    }
    delete(ledger.as_ref(), &here()).await;
    for changes in &mut all {
        assert!(told_by_now(changes).contains(&StoreChange::Session(here())));
    }
}

pub(crate) async fn what_others_write_is_told(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.engine().await);
    let mut changes = follow(ledger.as_ref()).await;
    for n in 0..5 {
        other.sessions().open(&nth_session(n), &person()).await.unwrap();
        assert!(!wait_for(&mut changes, &nth_session(n)).await.contains(&StoreChange::Anywhere));
        ready(&other, &nth_session(n), "# More").await;
        wait_for(&mut changes, &nth_session(n)).await;
    }
}

pub(crate) async fn what_changes_nothing_is_not_told(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.engine().await);
    let engine = Engine::new(ledger.clone(), Policy::default());
    let (here, there) = (nth_session(1), nth_session(2));
    for session in [&here, &there] {
        other.sessions().open(session, &person()).await.unwrap();
    }
    let mut changes = follow(ledger.as_ref()).await;
    for engine in [&engine, &other] {
        refused(engine.submit(&here, &agent(), set("No plan work")).await, RefusalCode::PolicyDenied);
        engine.sessions().open(&here, &person()).await.unwrap();
        refused(engine.sessions().open(&session("cli:short"), &person()).await, RefusalCode::NotFound);
        engine.ledger().acquire_lease(&here, "me", Duration::ZERO).await.unwrap();
        ready(engine, &there, "# Something").await;
        let told = wait_for(&mut changes, &there).await;
        assert!(!told.iter().any(|change| *change != StoreChange::Session(there.clone())), "{told:?}");
    }
}

/// Also when the numbers of what is gone are given out again.
pub(crate) async fn what_others_delete_is_told(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.engine().await);
    for n in 0..4 {
        ready(&other, &nth_session(n), "# Plan").await;
    }
    let mut changes = follow(ledger.as_ref()).await;
    for n in (1..4).rev() {
        delete(other.ledger().as_ref(), &nth_session(n)).await;
        other.sessions().open(&nth_session(10 + n), &person()).await.unwrap();
        let mut missing = BTreeSet::from([nth_session(n), nth_session(10 + n)]);
        while !missing.is_empty() {
            match next(&mut changes).await {
                StoreChange::Session(session) => missing.remove(&session),
                StoreChange::Anywhere => panic!("it is known what was written"),
            };
        }
        delete(other.ledger().as_ref(), &nth_session(10 + n)).await;
        wait_for(&mut changes, &nth_session(10 + n)).await;
    }
}

/// A follower that reads after each announcement gets every entry, however many processes write and delete.
pub(crate) async fn reading_after_each_announcement_misses_nothing(store: &Store) {
    const SESSIONS: usize = 12;
    let ledger = store.ledger().await;
    let writers = [store.engine().await, store.engine().await, store.engine().await];
    let mut changes = follow(ledger.as_ref()).await;
    let callers = (0..SESSIONS).map(|n| {
        let (engine, other) = (writers[n % 3].clone(), writers[(n + 1) % 3].clone());
        tokio::spawn(async move {
            ready(&engine, &nth_session(n), "# 0").await;
            for round in 1..=10 {
                draft(&engine, &nth_session(n), set(&format!("# {round}"))).await;
                draft(&other, &nth_session(n), set(&format!("# {round} again"))).await;
                let passing = nth_session(100 * round + n);
                engine.sessions().open(&passing, &person()).await.unwrap();
                delete(other.ledger().as_ref(), &passing).await;
            }
        })
    });
    let writing = tokio::spawn(join_all(callers));
    // Each session comes to 24 entries.
    let mut read: BTreeMap<SessionIdentity, Vec<u64>> = (0..SESSIONS).map(|n| (nth_session(n), Vec::new())).collect();
    while read.values().any(|read| read.len() < 24) {
        let told: Vec<_> = match timeout(TIMEOUT, changes.recv()).await.expect("something was never told") {
            Ok(StoreChange::Session(session)) => {
                read.keys().filter(|followed| **followed == session).cloned().collect()
            }
            Ok(StoreChange::Anywhere) | Err(RecvError::Lagged(_)) => read.keys().cloned().collect(),
            Err(RecvError::Closed) => panic!("the ledger is gone"),
        };
        for session in told {
            let read = read.get_mut(&session).unwrap();
            let entries = ledger.journal(&session, read.len() as u64, 100).await.unwrap();
            read.extend(entries.iter().map(|entry| entry.seq));
        }
    }
    writing.await.unwrap().into_iter().for_each(Result::unwrap);
    assert!(read.values().all(|read| read.iter().copied().eq(1..=24)), "{read:?}");
}

pub(crate) async fn a_receiver_that_reads_too_slowly_gets_an_error(store: &Store) {
    let ledger = store.ledger().await;
    let mut changes = follow(ledger.as_ref()).await;
    let engine = Engine::new(ledger, Policy::default());
    for round in 0..25 {
        let callers = (0..200).map(|n| {
            let engine = engine.clone();
            async move { engine.sessions().open(&nth_session(200 * round + n), &person()).await.unwrap() }
        });
        join_all(callers).await;
    }
    assert!(matches!(changes.try_recv(), Err(TryRecvError::Lagged(_))));
    // What is told then is the newest there is.
    assert!(told_by_now(&mut changes).contains(&StoreChange::Session(nth_session(4_999))));
}

pub(crate) async fn the_announcements_end_with_the_ledger(store: &Store) {
    let ledger = store.ledger().await;
    let mut changes = follow(ledger.as_ref()).await;
    ledger.submit(submission(&here(), "open", open())).await.unwrap();
    drop(ledger);
    let end = async { while changes.recv().await != Err(RecvError::Closed) {} };
    timeout(TIMEOUT, end).await.expect("a sender is left");
}
