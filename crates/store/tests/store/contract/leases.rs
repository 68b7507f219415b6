//! The promises of `LeaseStore`: one owner of a session at a time.
//!
//! - `lease_renewal`: leases that are renewed
//! - `unfinished`, `auto`: work that no process does, schedules and runs
//! - `claims`: requests that clients may send twice

pub(crate) mod auto;
pub(crate) mod claims;
pub(crate) mod lease_renewal;
pub(crate) mod unfinished;

use std::time::Duration;

use futures::future::join_all;
use planwright_core::ids::RequestId;
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::RefusalCode;
use planwright_engine::ledger::Lease;

use crate::commands::*;
use crate::stores::Store;
use crate::verification::assert_no_gaps;

const LONG: Duration = Duration::from_secs(600);
/// Run out as soon as it is given.
const OVER: Duration = Duration::ZERO;

pub(crate) async fn a_lease_is_held_by_one_owner(store: &Store) {
    let (engine, other) = (store.engine().await, store.ledger().await);
    let (here, there) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    engine.sessions().open(&here, &person()).await.unwrap();
    engine.sessions().open(&there, &person()).await.unwrap();
    let held = engine.ledger().acquire_lease(&here, "first", LONG).await.unwrap().unwrap();
    assert_eq!((&held.session, held.owner.as_str()), (&here, "first"));
    assert_eq!(other.acquire_lease(&here, "second", LONG).await.unwrap(), None);
    // Its owner extends it and keeps the fence.
    assert_eq!(other.acquire_lease(&here, "first", LONG).await.unwrap(), Some(held));
    // Another session is another matter.
    assert!(other.acquire_lease(&there, "second", LONG).await.unwrap().is_some());
}

pub(crate) async fn a_lease_that_ran_out_is_taken_over_with_a_higher_fence(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    let mut fence = 0;
    for owner in ["first", "second", "third", "first"] {
        let lease = engine.ledger().acquire_lease(&here, owner, OVER).await.unwrap().unwrap();
        assert!(lease.fence > fence, "{} is not past {fence}", lease.fence);
        fence = lease.fence;
    }
    let kept = engine.ledger().acquire_lease(&here, "fourth", LONG).await.unwrap().unwrap();
    assert!(kept.fence > fence);
    assert_eq!(engine.ledger().acquire_lease(&here, "fifth", OVER).await.unwrap(), None);
}

pub(crate) async fn a_lease_given_back_is_free_and_its_fence_keeps_growing(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    let mut fence = 0;
    for owner in ["first", "second", "first"] {
        let lease = engine.ledger().acquire_lease(&here, owner, LONG).await.unwrap().unwrap();
        assert!(lease.fence > fence, "{} is not past {fence}", lease.fence);
        fence = lease.fence;
        engine.ledger().release_lease(&lease).await.unwrap();
    }
}

pub(crate) async fn giving_back_a_lost_lease_is_harmless(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    let lost = engine.ledger().acquire_lease(&here, "first", OVER).await.unwrap().unwrap();
    let held = engine.ledger().acquire_lease(&here, "second", LONG).await.unwrap().unwrap();
    engine.ledger().release_lease(&lost).await.unwrap();
    engine.ledger().release_lease(&Lease { fence: held.fence, ..lost.clone() }).await.unwrap();
    engine.ledger().release_lease(&Lease { owner: held.owner.clone(), ..lost }).await.unwrap();
    assert_eq!(engine.ledger().acquire_lease(&here, "third", LONG).await.unwrap(), None);
    let nowhere = Lease { session: session("cli:nowhere1"), ..held };
    engine.ledger().release_lease(&nowhere).await.unwrap();
}

pub(crate) async fn an_owner_that_lost_the_lease_cannot_write(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    let first = engine.ledger().acquire_lease(&here, "first", OVER).await.unwrap().unwrap();
    let under = |lease: &Lease, request: &str, command| {
        engine.ledger().submit(holding(lease, submission(&here, request, command)))
    };
    // No other owner has taken it yet, so it is still valid.
    under(&first, "in-time", on(PlanStyle::Collect)).await.unwrap();
    let second = engine.ledger().acquire_lease(&here, "second", LONG).await.unwrap().unwrap();
    fenced(under(&first, "too-late", record(1)).await);
    let forged = Lease { owner: second.owner.clone(), ..first.clone() };
    fenced(under(&forged, "forged", record(1)).await);
    under(&second, "mine", record(2)).await.unwrap();
    // Many at once are told apart as well.
    let (ours, theirs) = tokio::join!(
        join_all((0..20).map(|n| under(&second, ["ours-", &n.to_string()].concat().leak(), record(n)))),
        join_all((0..20).map(|n| under(&first, ["theirs-", &n.to_string()].concat().leak(), record(n)))),
    );
    ours.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    theirs.into_iter().for_each(|outcome| fenced(outcome));
    assert_eq!(engine.plans().active(&here).await.unwrap().content.steps().len(), 21);
    assert_no_gaps(&engine, &here).await;
}

pub(crate) async fn a_repeat_is_answered_whatever_the_lease_is_now(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    let first = engine.ledger().acquire_lease(&here, "first", OVER).await.unwrap().unwrap();
    let mut sent = holding(&first, submission(&here, "in-time", on(PlanStyle::Collect)));
    let answer = engine.ledger().submit(sent.clone()).await.unwrap();
    engine.ledger().acquire_lease(&here, "second", LONG).await.unwrap().unwrap();
    let again = engine.ledger().submit(sent.clone()).await.unwrap();
    assert_eq!((again.events, again.seq, again.snapshot), (answer.events, answer.seq, answer.snapshot));
    // What was not carried out in time is not carried out now.
    sent.context.request = RequestId::new("too-late").unwrap();
    fenced(engine.ledger().submit(sent).await);
    assert_eq!(assert_no_gaps(&engine, &here).await, 3);
}

pub(crate) async fn a_lease_counts_in_its_own_session_only(store: &Store) {
    let engine = store.engine().await;
    let (here, there, nowhere) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"), session("mcp:k3yk3y8x"));
    engine.sessions().open(&here, &person()).await.unwrap();
    engine.sessions().open(&there, &person()).await.unwrap();
    let ours = engine.ledger().acquire_lease(&here, "first", LONG).await.unwrap().unwrap();
    let theirs = engine.ledger().acquire_lease(&there, "first", LONG).await.unwrap().unwrap();
    assert_eq!(ours.fence, theirs.fence);
    for (n, (session, lease)) in [(&here, &theirs), (&there, &ours), (&nowhere, &ours)].into_iter().enumerate() {
        let submission = submission(session, &format!("wrong-{n}"), on(PlanStyle::Collect));
        fenced(engine.ledger().submit(holding(lease, submission)).await);
    }
    // Nor does a lease on a session that is not there open it.
    let opening = holding(&Lease { session: nowhere.clone(), ..ours }, submission(&nowhere, "opening", open()));
    let code = engine.ledger().submit(opening).await.unwrap_err().code();
    assert!(matches!(code, RefusalCode::Conflict | RefusalCode::NotFound), "{code}");
    assert!(engine.ledger().session(&nowhere).await.unwrap().is_none());
    assert_eq!(assert_no_gaps(&engine, &here).await + assert_no_gaps(&engine, &there).await, 2);
}

pub(crate) async fn a_lease_needs_a_session(store: &Store) {
    let ledger = store.ledger().await;
    refused(ledger.acquire_lease(&session("cli:k3yk3y8x"), "first", LONG).await, RefusalCode::NotFound);
}

pub(crate) async fn one_of_many_gets_the_lease(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let here = session("cli:k3yk3y8x");
    engines[0].sessions().open(&here, &person()).await.unwrap();
    let mut fence = 0;
    for _ in 0..5 {
        let wanted = (0..20).map(|n| {
            let (engine, here) = (engines[n % 2].clone(), here.clone());
            tokio::spawn(
                async move { engine.ledger().acquire_lease(&here, &format!("owner {n}"), LONG).await.unwrap() },
            )
        });
        let got: Vec<_> = join_all(wanted).await.into_iter().filter_map(Result::unwrap).collect();
        let [lease] = got.as_slice() else { panic!("{got:?}") };
        assert!(lease.fence > fence);
        fence = lease.fence;
        engines[1].ledger().release_lease(lease).await.unwrap();
    }
}
