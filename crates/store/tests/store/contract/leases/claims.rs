//! What clients may send twice is carried out once.

use std::time::Duration;

use futures::future::join_all;
use planwright_engine::ledger::{Claim, ClaimedRequest, StoredAnswer};

use crate::commands::at;
use crate::stores::Store;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn request(key: &str, fingerprint: &str) -> ClaimedRequest {
    ClaimedRequest { key: key.to_owned(), fingerprint: fingerprint.to_owned() }
}

fn answer(body: &str) -> StoredAnswer {
    StoredAnswer { status: 201, body: body.to_owned() }
}

pub(crate) async fn a_request_is_new_once(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let request = request("a", "asked");
    assert_eq!(ledger.claim(&request, at(1), DAY).await.unwrap(), Claim::New);
    for (ledger, second) in [(&ledger, 1), (&other, 2), (&store.ledger().await, 3_600)] {
        assert_eq!(ledger.claim(&request, at(second), DAY).await.unwrap(), Claim::Begun { at: at(1) });
    }
}

pub(crate) async fn an_answer_is_kept_as_it_was(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    for (n, body) in ["", "{\"it's\":\"żółć 漢字 \\u0000\"}", "a \0 in it", &"long ".repeat(100_000)].iter().enumerate()
    {
        let request = request(&n.to_string(), "asked");
        ledger.claim(&request, at(1), DAY).await.unwrap();
        ledger.keep_answer(&request.key, &answer(body)).await.unwrap();
        for ledger in [&ledger, &other] {
            assert_eq!(ledger.claim(&request, at(2), DAY).await.unwrap(), Claim::Answered(answer(body)));
        }
    }
    // A request that was not claimed has no answer.
    ledger.keep_answer("unclaimed", &answer("x")).await.unwrap();
    assert_eq!(other.claim(&request("unclaimed", "asked"), at(1), DAY).await.unwrap(), Claim::New);
}

pub(crate) async fn a_request_that_came_to_nothing_may_be_sent_again(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let (request, beside) = (request("a", "asked"), request("b", "asked"));
    for ledger in [&ledger, &other, &ledger] {
        assert_eq!(ledger.claim(&request, at(1), DAY).await.unwrap(), Claim::New);
        ledger.claim(&beside, at(1), DAY).await.unwrap();
        other.forget_claim(&request.key).await.unwrap();
    }
    other.forget_claim("never-claimed").await.unwrap();
    assert_eq!(ledger.claim(&beside, at(1), DAY).await.unwrap(), Claim::Begun { at: at(1) });
}

pub(crate) async fn a_name_used_for_something_else_is_told(store: &Store) {
    let ledger = store.ledger().await;
    ledger.claim(&request("a", "asked"), at(1), DAY).await.unwrap();
    assert_eq!(ledger.claim(&request("a", "else"), at(2), DAY).await.unwrap(), Claim::Other);
    ledger.keep_answer("a", &answer("mine")).await.unwrap();
    assert_eq!(ledger.claim(&request("a", "else"), at(2), DAY).await.unwrap(), Claim::Other);
    assert_eq!(ledger.claim(&request("a", "asked"), at(2), DAY).await.unwrap(), Claim::Answered(answer("mine")));
}

pub(crate) async fn what_is_too_old_is_forgotten(store: &Store) {
    let ledger = store.ledger().await;
    let count = async || store.look("SELECT CAST(count(*) AS TEXT) FROM claimed_request").await;
    for n in 0..100 {
        ledger.claim(&request(&format!("old-{n}"), "asked"), at(n), DAY).await.unwrap();
        ledger.keep_answer(&format!("old-{n}"), &answer("old")).await.unwrap();
    }
    assert_eq!(count().await, "100");
    // The one that is asked for is as new, whichever others are still there.
    let later = at(24 * 60 * 60 + 99);
    assert_eq!(ledger.claim(&request("old-98", "else"), later, DAY).await.unwrap(), Claim::New);
    assert_eq!(ledger.claim(&request("old-99", "asked"), later, DAY).await.unwrap(), Claim::Answered(answer("old")));
    for n in 0..6 {
        ledger.claim(&request(&format!("new-{n}"), "asked"), later, DAY).await.unwrap();
    }
    assert_eq!(count().await, "8");
    assert_eq!(ledger.claim(&request("old-98", "else"), later, DAY).await.unwrap(), Claim::Begun { at: later });
}

pub(crate) async fn of_many_who_claim_at_once_one_is_the_first(store: &Store) {
    let ledgers = [store.ledger().await, store.ledger().await, store.ledger().await];
    for round in 0..10 {
        let callers = (0..24).map(|n| {
            let ledger = ledgers[n % 3].clone();
            let request = request(&format!("key-{round}"), "asked");
            // In every other round it was claimed long ago.
            tokio::spawn(async move { ledger.claim(&request, at(10 + round), Duration::from_secs(1)).await.unwrap() })
        });
        if round % 2 == 0 {
            ledgers[0].claim(&request(&format!("key-{round}"), "asked"), at(0), DAY).await.unwrap();
        }
        let claims: Vec<_> = join_all(callers).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(claims.iter().filter(|claim| **claim == Claim::New).count(), 1, "{claims:?}");
        let begun = Claim::Begun { at: at(10 + round) };
        assert_eq!(claims.iter().filter(|claim| **claim == begun).count(), 23, "{claims:?}");
    }
}
