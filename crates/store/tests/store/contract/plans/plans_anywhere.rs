//! The plans that wait, over all sessions.

use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_engine::ledger::{Page, PlanAnywhere};

use crate::commands::*;
use crate::contract::damage::here;
use crate::contract::runs::{carry_out, executing};
use crate::stores::Store;
use crate::verification::{assert_whole, whats};

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

/// The list is what the inbox reads, so a plan leaves it with the command after which it waits no more.
pub(crate) async fn a_plan_is_listed_while_it_may_wait_for_a_person(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    let waiting = async || {
        let page = ledger.waiting_plans(None, 10).await.unwrap();
        assert!(page.damaged.is_empty() && page.next.is_none(), "{page:?}");
        assert_whole(&engine).await;
        named(&page)
    };
    planning(&engine, &here(), PlanStyle::Document).await;
    assert_eq!(waiting().await, [], "a draft waits for no decision");
    let plan = active(&draft(&engine, &here(), set("# Long\n\n1. a\n2. b\n3. c")).await);
    ready(&engine, &nth_session(0), "# Plan").await;
    assert_eq!(waiting().await, plans(&[("web:session-00000", 1), ("cli:k3yk3y8x", 1)]));
    engine.submit(&here(), &person(), approve(&plan)).await.unwrap();
    engine.submit(&here(), &agent(), report(StepStatus::Completed)).await.unwrap();
    assert_eq!(waiting().await, plans(&[("web:session-00000", 1)]), "it is carried out");
    for status in [StepStatus::Failed, StepStatus::Skipped] {
        engine.submit(&here(), &agent(), report(status)).await.unwrap();
    }
    assert_eq!(engine.plans().active(&here()).await.unwrap().status, PlanStatus::PartiallyCompleted);
    assert_eq!(waiting().await, plans(&[("cli:k3yk3y8x", 1), ("web:session-00000", 1)]), "it failed");
    ready(&engine, &here(), "# The next one").await;
    assert_eq!(waiting().await, plans(&[("cli:k3yk3y8x", 2), ("web:session-00000", 1)]), "its session left it");
    let ended = ledger.plans_anywhere(&[PlanStatus::PartiallyCompleted], None, 10).await.unwrap();
    assert_eq!(named(&ended), plans(&[("cli:k3yk3y8x", 1)]), "it is listed among those that ended");
    let first = ledger.waiting_plans(None, 1).await.unwrap();
    assert_eq!(named(&first), plans(&[("cli:k3yk3y8x", 2)]));
    let second = ledger.waiting_plans(first.next, 1).await.unwrap();
    assert_eq!((named(&second), second.next), (plans(&[("web:session-00000", 1)]), None));
}

/// A row of the list that leads to no plan hides none of the others.
pub(crate) async fn a_waiting_plan_that_is_gone_is_named(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..3 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    let second = "session_id = (SELECT id FROM session WHERE conversation = 'session-00001')";
    assert_eq!(store.tamper(&format!("DELETE FROM plan WHERE {second}")).await, 1);
    let (mut found, mut damaged, mut after) = (Vec::new(), 0, None);
    loop {
        let page = ledger.waiting_plans(after, 1).await.unwrap();
        found.extend(named(&page));
        damaged += page.damaged.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((found, damaged), (plans(&[("web:session-00002", 1), ("web:session-00000", 1)]), 1));
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
