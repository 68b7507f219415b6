//! The plans that wait, over all sessions.

use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_engine::ledger::{Page, PlanAnywhere};

use crate::commands::*;
use crate::contract::damage::here;
use crate::contract::runs::{carry_out, executing};
use crate::stores::Store;
use crate::verification::whats;

const EVERY: [PlanStatus; 9] = [
    PlanStatus::Collecting,
    PlanStatus::Ready,
    PlanStatus::Approved,
    PlanStatus::Executing,
    PlanStatus::Completed,
    PlanStatus::PartiallyCompleted,
    PlanStatus::Rejected,
    PlanStatus::Cancelled,
    PlanStatus::Superseded,
];

fn named(page: &Page<PlanAnywhere>) -> Vec<(String, u32)> {
    page.items.iter().map(|found| (found.session.to_string(), found.plan.number)).collect()
}

fn plans(names: &[(&str, u32)]) -> Vec<(String, u32)> {
    names.iter().map(|(session, number)| ((*session).to_owned(), *number)).collect()
}

pub(crate) async fn plans_are_found_in_every_session_the_latest_first(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    let there = session("web:k3yk3y8x");
    assert!(ledger.plans_anywhere(&EVERY, None, 10).await.unwrap().items.is_empty());
    let plan = executing(&engine, 2).await;
    ready(&engine, &there, "# First").await;
    let rejected = ready(&engine, &there, "# Second").await;
    engine.submit(&there, &person(), reject(&rejected.id)).await.unwrap();
    planning(&engine, &session("mcp:k3yk3y8x"), PlanStyle::Build).await;

    let of = async |statuses: &[PlanStatus]| ledger.plans_anywhere(statuses, None, 10).await.unwrap();
    let waiting = of(&[PlanStatus::Ready, PlanStatus::Executing]).await;
    assert_eq!(named(&waiting), plans(&[("web:k3yk3y8x", 1), ("cli:k3yk3y8x", 1)]));
    assert_eq!(waiting.next, None);
    assert_eq!(waiting.items.iter().map(|found| found.active).collect::<Vec<_>>(), [false, true]);
    // A step that ends changes its plan, though not the plan's own row.
    carry_out(&engine, &plan, 1, "done").await;
    let waiting = of(&[PlanStatus::Ready, PlanStatus::Executing]).await;
    assert_eq!(named(&waiting), plans(&[("cli:k3yk3y8x", 1), ("web:k3yk3y8x", 1)]));
    assert_eq!(waiting.items[0].plan, engine.plans().list(&here(), None, 1).await.unwrap().items[0]);

    assert_eq!(named(&of(&[PlanStatus::Ready]).await), plans(&[("web:k3yk3y8x", 1)]));
    assert_eq!(named(&of(&[PlanStatus::Rejected]).await), plans(&[("web:k3yk3y8x", 2)]));
    assert_eq!(named(&of(&[PlanStatus::PartiallyCompleted]).await), []);
    assert_eq!(named(&of(&[]).await), []);
    let all = [("mcp:k3yk3y8x", 1), ("cli:k3yk3y8x", 1), ("web:k3yk3y8x", 2), ("web:k3yk3y8x", 1)];
    let (mut all, mut found) = (plans(&all), named(&of(&EVERY).await));
    all.sort();
    found.sort();
    assert_eq!(found, all);
}

/// Plans that failed and were left for others only grow in number; a look at what waits does not read them.
pub(crate) async fn plans_that_failed_are_in_hand_while_their_session_works_on_them(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    let left = executing(&engine, 1).await;
    for n in 0..2 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    ready(&engine, &here(), "# The next one").await;
    // As if both had failed; the session of the second still works on it.
    let second = "session_id = (SELECT id FROM session WHERE conversation = 'session-00001')";
    for failed in [second.to_owned(), format!("id = '{}'", left.id)] {
        let changed = store.tamper(&format!("UPDATE plan SET status = 'PARTIALLY_COMPLETED' WHERE {failed}")).await;
        assert_eq!(changed, 1, "{failed}");
    }
    let page = ledger.plans_in_hand(None, 10).await.unwrap();
    let mut found = named(&page);
    found.sort();
    assert_eq!(found, plans(&[("cli:k3yk3y8x", 2), ("web:session-00000", 1), ("web:session-00001", 1)]));
    assert_eq!(page.next, None);
    let ended = ledger.plans_anywhere(&[PlanStatus::PartiallyCompleted], None, 10).await.unwrap();
    assert_eq!(ended.items.len(), 2, "both are listed among those that ended");
}

pub(crate) async fn plans_anywhere_are_paged(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..7 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    for statuses in [&[PlanStatus::Ready][..], &EVERY] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = ledger.plans_anywhere(statuses, after, 3).await.unwrap();
            found.extend(page.items.into_iter().map(|found| found.session));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, (0..7).rev().map(nth_session).collect::<Vec<_>>());
    }
}

pub(crate) async fn a_write_between_two_pages_of_plans_hides_and_repeats_nothing_else(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..9 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    let statuses = [PlanStatus::Ready];
    let first = ledger.plans_anywhere(&statuses, None, 3).await.unwrap();
    // Of the first page one is decided and one is written anew; a new one joins.
    let rejected = engine.plans().active(&nth_session(8)).await.unwrap();
    engine.plans().reject(&nth_session(8), &person(), &rejected.id, None).await.unwrap();
    ready(&engine, &nth_session(6), "# Plan again").await;
    ready(&engine, &nth_session(9), "# Plan").await;
    let (mut found, mut after) = (first.items, first.next);
    while after.is_some() {
        let page = ledger.plans_anywhere(&statuses, after, 3).await.unwrap();
        found.extend(page.items);
        after = page.next;
    }
    let found: Vec<_> = found.into_iter().map(|found| found.session).collect();
    assert_eq!(found, (0..9).rev().map(nth_session).collect::<Vec<_>>());
}

pub(crate) async fn damage_hides_no_plan_of_others(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..4 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    let of = |n: usize| format!("(SELECT id FROM session WHERE conversation = 'session-{n:05}')");
    for tampering in [
        format!("UPDATE plan SET style = 'nonsense' WHERE session_id = {}", of(0)),
        format!("UPDATE plan SET updated_at = -9223372036854775807 WHERE session_id = {}", of(1)),
        "UPDATE session SET state = 'nonsense' WHERE conversation = 'session-00002'".to_owned(),
    ] {
        assert_eq!(store.tamper(&tampering).await, 1, "{tampering}");
    }
    let page = ledger.plans_anywhere(&[PlanStatus::Ready], None, 10).await.unwrap();
    assert_eq!(named(&page), plans(&[("web:session-00003", 1)]));
    let mut damaged = whats(&page.damaged);
    damaged.sort_unstable();
    assert_eq!(damaged, ["plan 1 of web:session-00000", "plan 1 of web:session-00001", "plan 1 of web:session-00002"]);
}
