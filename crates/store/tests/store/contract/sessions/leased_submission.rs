//! A submission takes, holds or gives back its session in the same moment in which it is carried out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::RefusalCode;
use planwright_engine::ledger::{Lease, LedgerError};

use crate::commands::*;
use crate::stores::Store;
use crate::turns::*;
use crate::verification::{assert_no_gaps, assert_whole};

const LONG: Duration = Duration::from_secs(600);
/// Run out as soon as it is given.
const OVER: Duration = Duration::ZERO;

pub(crate) async fn taking_a_session_keeps_everybody_else_out(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let here = session("cli:k3yk3y8x");
    let opened = ledger.submit(taking("first", LONG, submission(&here, "open", open()))).await.unwrap();
    let lease = Lease { session: here.clone(), owner: "first".to_owned(), fence: 1 };
    assert_eq!(opened.lease, Some(lease.clone()));
    let begun = ledger.submit(taking("first", LONG, submission(&here, "turn", begin("Hello")))).await.unwrap();
    assert_eq!(begun.lease, Some(lease.clone()), "the owner keeps the fence");

    // Nothing is done, and it is not a refusal: not even of what would be refused, since a turn is under way.
    for (n, command) in [begin("Me too"), off(), open(), stop()].into_iter().enumerate() {
        let submission = submission(&here, &format!("theirs-{n}"), command);
        leased(other.submit(taking("second", LONG, submission)).await, &here);
    }
    assert_eq!(other.acquire_lease(&here, "second", LONG).await.unwrap(), None);
    let held = ledger.submit(holding(&lease, submission(&here, "end", end("turn")))).await.unwrap();
    assert_eq!((held.seq, held.lease), (3, None));
    // A submission without a lease is not refused.
    other.submit(submission(&here, "aside", on(PlanStyle::Document))).await.unwrap();
    assert_whole(&store.engine().await).await;
}

pub(crate) async fn a_refused_command_takes_nothing(store: &Store) {
    let ledger = store.ledger().await;
    let here = session("cli:k3yk3y8x");
    let take =
        |owner: &str, request: &str, command| ledger.submit(taking(owner, LONG, submission(&here, request, command)));
    refused(take("first", "early", begin("Hello")).await, RefusalCode::NotFound);
    assert!(ledger.session(&here).await.unwrap().is_none());
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    refused(take("first", "blank", begin("  ")).await, RefusalCode::InvalidArgument);
    refused(take("first", "none", end("nothing")).await, RefusalCode::WrongStatus);
    let second = take("second", "turn", begin("Hello")).await.unwrap().lease.unwrap();
    assert_eq!(second.fence, 1);
    assert_eq!(ledger.session(&here).await.unwrap().unwrap().head.seq, 2);
}

pub(crate) async fn a_command_with_nothing_to_change_takes_and_lets_go_too(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    let taken = ledger.submit(taking("first", LONG, submission(&here, "again", open()))).await.unwrap();
    assert!(taken.events.is_empty());
    let first = taken.lease.unwrap();
    leased(other.submit(taking("second", LONG, submission(&here, "theirs", open()))).await, &here);
    let gone = ledger.submit(letting_go(&first, submission(&here, "stop", stop()))).await.unwrap();
    assert!(gone.events.is_empty() && gone.lease.is_none());
    let second = other.submit(taking("second", LONG, submission(&here, "theirs", open()))).await.unwrap();
    assert!(second.lease.unwrap().fence > first.fence);
    assert_eq!(assert_no_gaps(&store.engine().await, &here).await, 1);
}

pub(crate) async fn a_released_lease_is_free_at_once(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    let mut fence = 0;
    for n in 0..4 {
        let (ledger, owner) = if n % 2 == 0 { (&ledger, "first") } else { (&other, "second") };
        let request = format!("turn-{n}");
        let begun = ledger.submit(taking(owner, LONG, submission(&here, &request, begin("Hello")))).await.unwrap();
        let lease = begun.lease.unwrap();
        assert!(lease.fence > fence, "{} is not past {fence}", lease.fence);
        fence = lease.fence;
        let ending = submission(&here, &format!("end-{n}"), end(&request));
        ledger.submit(letting_go(&lease, ending)).await.unwrap();
    }
    assert_eq!(assert_no_gaps(&store.engine().await, &here).await, 9);
}

pub(crate) async fn a_refused_command_does_not_let_go(store: &Store) {
    let ledger = store.ledger().await;
    let here = session("cli:k3yk3y8x");
    let opened = ledger.submit(taking("first", LONG, submission(&here, "open", open()))).await.unwrap();
    let lease = opened.lease.unwrap();
    refused(ledger.submit(letting_go(&lease, submission(&here, "end", end("none")))).await, RefusalCode::WrongStatus);
    leased(ledger.submit(taking("second", LONG, submission(&here, "theirs", open()))).await, &here);
}

pub(crate) async fn after_a_crash_another_owner_takes_over_and_the_first_cannot_write(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    let begun = ledger.submit(taking("first", OVER, submission(&here, "turn", begin("Hello")))).await.unwrap();
    let lost = begun.lease.unwrap();
    let resumed = other.submit(taking("second", LONG, submission(&here, "resume", resume_turn("turn")))).await.unwrap();
    let kept = resumed.lease.unwrap();
    assert!(kept.fence > lost.fence);
    let late = || submission(&here, "late", note("turn", vec![replied("Hi", 0)]));
    fenced(ledger.submit(holding(&lost, late())).await);
    fenced(ledger.submit(letting_go(&lost, late())).await);
    // The lease of the other owner was not released.
    leased(ledger.submit(taking("first", LONG, late())).await, &here);
    other.submit(letting_go(&kept, submission(&here, "end", end("turn")))).await.unwrap();
    assert_eq!(assert_no_gaps(&store.engine().await, &here).await, 4);
    assert_whole(&store.engine().await).await;
}

pub(crate) async fn a_repeated_request_gets_its_outcome_and_the_lease_if_it_is_free(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    let sent = taking("first", LONG, submission(&here, "turn", begin("Hello")));
    let first = ledger.submit(sent.clone()).await.unwrap();
    let lease = first.lease.clone().unwrap();
    // It is its own.
    for ledger in [&ledger, &other] {
        let again = ledger.submit(sent.clone()).await.unwrap();
        assert_eq!((again.events, again.seq, again.lease), (first.events.clone(), 2, Some(lease.clone())));
    }
    let leaving = letting_go(&lease, submission(&here, "end", end("turn")));
    let left = ledger.submit(leaving.clone()).await.unwrap();
    // It is free.
    let again = other.submit(sent.clone()).await.unwrap();
    assert_eq!(again.events, first.events);
    let retaken = again.lease.unwrap();
    assert!(retaken.fence > lease.fence);
    // Giving it back again does not give back what was taken since.
    let again = ledger.submit(leaving).await.unwrap();
    assert_eq!((again.events, again.lease), (left.events, None));
    leased(other.submit(taking("second", LONG, submission(&here, "theirs", open()))).await, &here);
    // Another owner has it.
    ledger.release_lease(&retaken).await.unwrap();
    other.submit(taking("second", LONG, submission(&here, "theirs", open()))).await.unwrap();
    let again = ledger.submit(sent).await.unwrap();
    assert_eq!((again.events, again.lease), (first.events, None));
    assert_eq!(assert_no_gaps(&store.engine().await, &here).await, 3);
}

/// Sent at once, they are carried out in one transaction, each seeing what the one before did to the lease.
pub(crate) async fn leases_change_hands_within_one_batch(store: &Store) {
    let ledger = store.ledger().await;
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    for round in 0..10_u64 {
        let lease =
            |owner: &str, hand: u64| Lease { session: here.clone(), owner: owner.to_owned(), fence: 2 * round + hand };
        let (first, second) = (lease("first", 1), lease("second", 2));
        let [one, two] = [1, 2].map(|n| format!("turn-{round}-{n}"));
        let named = |name: &str, command| submission(&here, &format!("{name}-{round}"), command);
        let outcomes = join_all(
            [
                named("before", open()),
                taking("first", LONG, submission(&here, &one, begin("One"))),
                taking("second", LONG, named("too-early", begin("Two"))),
                holding(&first, named("reply", note(&one, vec![replied("Hi", 0)]))),
                letting_go(&first, named("end-first", end(&one))),
                taking("second", LONG, submission(&here, &two, begin("Two"))),
                holding(&first, named("too-late", stop())),
                letting_go(&second, named("end-second", end(&two))),
            ]
            .map(|submission| ledger.submit(submission)),
        )
        .await;
        let [_, took, early, reply, left, followed, late, gone] =
            <[_; 8]>::try_from(outcomes).unwrap_or_else(|_| unreachable!("eight were sent"));
        assert_eq!(took.unwrap().lease, Some(first));
        leased(early, &here);
        assert_eq!((reply.unwrap().lease, left.unwrap().lease), (None, None));
        assert_eq!(followed.unwrap().lease, Some(second));
        fenced(late);
        gone.unwrap();
    }
    let engine = store.engine().await;
    assert_eq!(assert_no_gaps(&engine, &here).await, 1 + 10 * 5);
    assert_whole(&engine).await;
}

/// Two owners from many tasks: never two at a time, and every fence is past the one before.
pub(crate) async fn of_many_who_compete_one_has_the_session_at_a_time(store: &Store) {
    const TASKS: usize = 12;
    const TURNS: usize = 4;
    let ledgers = [store.ledger().await, store.ledger().await];
    let here = session("cli:k3yk3y8x");
    ledgers[0].submit(submission(&here, "open", open())).await.unwrap();
    let inside = Arc::new(AtomicUsize::new(0));
    let fences = Arc::new(Mutex::new(Vec::new()));
    let tasks = (0..TASKS).map(|task| {
        let (ledger, here) = (ledgers[task % 2].clone(), here.clone());
        let (inside, fences) = (inside.clone(), fences.clone());
        tokio::spawn(async move {
            for n in 0..TURNS {
                let request = format!("turn-{task}-{n}");
                // Two tasks of one owner take turns as well, because a session has one turn at a time.
                let wanted = taking(&format!("owner {}", task % 6), LONG, submission(&here, &request, begin("Mine")));
                let lease = loop {
                    match ledger.submit(wanted.clone()).await {
                        Ok(begun) => break begun.lease.unwrap(),
                        Err(LedgerError::Leased(_)) => tokio::task::yield_now().await,
                        Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {}
                        Err(error) => panic!("{error:?}"),
                    }
                };
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two have the session");
                fences.lock().unwrap().push(lease.fence);
                let reply = submission(&here, &format!("reply-{task}-{n}"), note(&request, vec![replied("Hi", 0)]));
                ledger.submit(holding(&lease, reply)).await.unwrap();
                assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1, "two have the session");
                let ending = submission(&here, &format!("end-{task}-{n}"), end(&request));
                ledger.submit(letting_go(&lease, ending)).await.unwrap();
            }
        })
    });
    join_all(tasks).await.into_iter().for_each(Result::unwrap);
    let fences = fences.lock().unwrap().clone();
    assert_eq!(fences.len(), TASKS * TURNS);
    assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
    let engine = store.engine().await;
    assert_eq!(assert_no_gaps(&engine, &here).await, 1 + 3 * (TASKS * TURNS) as u64);
    assert_whole(&engine).await;
}
