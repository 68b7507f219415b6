//! A lease is renewed by its owner only, and what belongs to a turn is only taken while it lasts.

use std::time::Duration;

use planwright_core::ids::TurnId;
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::RefusalCode;
use planwright_engine::ledger::{Lease, Submission};

use crate::commands::*;
use crate::stores::Store;
use crate::turns::*;

const LONG: Duration = Duration::from_secs(600);
/// Run out as soon as it is given.
const OVER: Duration = Duration::ZERO;

pub(crate) async fn an_expired_lease_that_no_owner_took_is_kept(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    let lease = ledger.acquire_lease(&here, "first", OVER).await.unwrap().unwrap();
    assert!(ledger.renew_lease(&lease, LONG).await.unwrap());
    leased(other.submit(taking("second", LONG, submission(&here, "theirs", open()))).await, &here);
    ledger.submit(holding(&lease, submission(&here, "turn", begin("Hello")))).await.unwrap();
}

pub(crate) async fn a_lease_that_was_given_back_or_taken_is_not_renewed(store: &Store) {
    let ledger = store.ledger().await;
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    let first = ledger.acquire_lease(&here, "first", LONG).await.unwrap().unwrap();
    ledger.submit(letting_go(&first, submission(&here, "again", open()))).await.unwrap();
    assert!(!ledger.renew_lease(&first, LONG).await.unwrap(), "given back with a submission");
    let again = ledger.acquire_lease(&here, "first", LONG).await.unwrap().unwrap();
    ledger.release_lease(&again).await.unwrap();
    assert!(!ledger.renew_lease(&again, LONG).await.unwrap(), "given back");
    let gone = ledger.acquire_lease(&here, "first", OVER).await.unwrap().unwrap();
    let second = ledger.acquire_lease(&here, "second", LONG).await.unwrap().unwrap();
    assert!(!ledger.renew_lease(&gone, LONG).await.unwrap(), "taken by another owner");
    assert!(ledger.renew_lease(&second, LONG).await.unwrap());
    let nowhere = Lease { session: session("cli:nowhere1"), ..second };
    assert!(!ledger.renew_lease(&nowhere, LONG).await.unwrap());
}

pub(crate) async fn what_belongs_to_a_turn_is_refused_after_it(store: &Store) {
    let ledger = store.ledger().await;
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    ledger.submit(submission(&here, "on", on(PlanStyle::Document))).await.unwrap();
    ledger.submit(submission(&here, "turn", begin("Hello"))).await.unwrap();
    let during = |request: &str, turn: &str, text: &str| Submission {
        turn: Some(TurnId::new(turn).unwrap()),
        ..submission(&here, request, set(text))
    };
    ledger.submit(during("first", "turn", "# One")).await.unwrap();
    refused(ledger.submit(during("other", "another", "# Two")).await, RefusalCode::WrongStatus);
    ledger.submit(submission(&here, "stop", stop())).await.unwrap();
    refused(ledger.submit(during("late", "turn", "# Late")).await, RefusalCode::WrongStatus);
    // What was done in time is not done again, and is told as it was.
    let again = ledger.submit(during("first", "turn", "# One")).await.unwrap();
    assert_eq!(names(&again.events), ["content_set"]);
    assert_eq!(active(&again).markdown(), "# One");
}

pub(crate) async fn a_repeated_request_is_answered_with_its_own_place_in_the_journal(store: &Store) {
    let ledger = store.ledger().await;
    let here = session("cli:k3yk3y8x");
    ledger.submit(submission(&here, "open", open())).await.unwrap();
    let first = ledger.submit(submission(&here, "on", on(PlanStyle::Document))).await.unwrap();
    ledger.submit(submission(&here, "set", set("# One"))).await.unwrap();
    let again = ledger.submit(submission(&here, "on", on(PlanStyle::Document))).await.unwrap();
    assert_eq!((again.seq, again.events), (first.seq, first.events));
}
