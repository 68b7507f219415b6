//! A session comes back from its journal exactly as it was.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::journal::SealedEntry;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::StepStatus;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::{Ledger, StoreChange};

use crate::commands::*;
use crate::contract::changes::{follow, next};
use crate::contract::concurrency::any_mix_of_commands;
use crate::contract::counts::assert_counts_agree;
use crate::contract::damage::here;
use crate::contract::runs::{carry_out, executing};
use crate::stores::Store;
use crate::turns::*;
use crate::verification::{assert_no_gaps, assert_whole};

const LONG: Duration = Duration::from_secs(600);

/// A session with something of everything in it: plans of each style and in many statuses, outcomes of steps, a plan of
/// the older format, a conversation, and a turn that is open.
pub(crate) async fn rich(store: &Store) -> Engine {
    let engine = store.engine().await;
    let plan = executing(&engine, 4).await;
    let plan = carry_out(&engine, &plan, 1, "NUL \0, \"quotes\" \\ and 漢字").await;
    carry_out(&engine, &plan, 2, "").await;
    engine.submit(&here(), &person(), import("from-the-older-format")).await.unwrap();
    let document = ready(&engine, &here(), "# A title \u{202e}\0\n\n1. One\n2. Two").await;
    let revised = engine.submit(&here(), &person(), revise(&document.id)).await.unwrap();
    draft(&engine, &here(), set("# Better\n\n1. One\n2. Two\n3. Three")).await;
    let revised = engine.plans().get(&here(), &active(&revised).id).await.unwrap();
    engine.submit(&here(), &person(), approve(&revised)).await.unwrap();
    engine.submit(&here(), &agent(), report(StepStatus::Completed)).await.unwrap();
    planning(&engine, &here(), PlanStyle::Build).await;
    for command in [goal("Move the house"), add("Pack"), add("Carry"), submit()] {
        draft(&engine, &here(), command).await;
    }
    let rejected = engine.plans().active(&here()).await.unwrap();
    engine.submit(&here(), &person(), reject(&rejected.id)).await.unwrap();
    let turn = |request: &str, command| submission(&here(), request, command);
    let ledger = engine.ledger();
    ledger.submit(turn("first", begin("What \0 now?"))).await.unwrap();
    let replied = note("first", vec![replied("Looking", 2), tool_ended(1, "found \0"), tool_ended(2, "nothing")]);
    ledger.submit(turn("reply", replied)).await.unwrap();
    ledger.submit(turn("ended", end("first"))).await.unwrap();
    ledger.submit(turn("second", begin("And then?"))).await.unwrap();
    engine
}

pub(crate) async fn journal(ledger: &dyn Ledger, session: &SessionIdentity) -> Vec<SealedEntry> {
    ledger.journal(session, 0, 100_000).await.unwrap()
}

/// Everything that can be asked about a session is answered alike.
pub(crate) async fn assert_same(one: &Store, other: &Store, session: &SessionIdentity) {
    let (one, other) = (one.ledger().await, other.ledger().await);
    assert_eq!(journal(one.as_ref(), session).await, journal(other.as_ref(), session).await);
    let (before, after) =
        (one.session(session).await.unwrap().unwrap(), other.session(session).await.unwrap().unwrap());
    assert_eq!(before.session, after.session);
    assert_eq!((before.head, before.last_active.as_microsecond()), (after.head, after.last_active.as_microsecond()));
    let (plans, damaged) = one.stored_plans(session).await.unwrap();
    assert_eq!((&plans, &damaged), (&other.stored_plans(session).await.unwrap().0, &Vec::new()));
    assert_eq!(one.snapshot(session, None).await.unwrap(), other.snapshot(session, None).await.unwrap());
    let listed = one.plans(session, None, 1_000).await.unwrap().items;
    assert_eq!(listed.len(), plans.len());
    assert_eq!(listed, other.plans(session, None, 1_000).await.unwrap().items);
    assert_eq!(
        one.conversation(session, 0, 100_000).await.unwrap(),
        other.conversation(session, 0, 100_000).await.unwrap()
    );
    for plan in plans.keys() {
        assert_eq!(
            one.snapshot(session, Some(plan)).await.unwrap().plans.get(plan),
            other.snapshot(session, Some(plan)).await.unwrap().plans.get(plan)
        );
        assert_eq!(one.plan_journal(session, plan).await.unwrap(), other.plan_journal(session, plan).await.unwrap());
        assert_eq!(other.session_of(plan).await.unwrap().as_ref(), Some(session));
    }
}

/// Takes every session of one store over into another one.
pub(crate) async fn restore_all(from: &Store, to: &Store) {
    let (from, to) = (from.ledger().await, to.ledger().await);
    for stored in from.sessions(None, 1_000).await.unwrap().items {
        let session = &stored.session.identity;
        to.restore(session, Arc::new(journal(from.as_ref(), session).await)).await.unwrap();
    }
}

pub(crate) async fn a_restored_session_is_the_same_in_everything(store: &Store) {
    rich(store).await;
    let other = store.another().await;
    ready(&other.engine().await, &nth_session(1), "# Bystander").await;
    restore_all(store, &other).await;
    assert_same(store, &other, &here()).await;
    assert_eq!(assert_whole(&other.engine().await).await.chains.len(), 2);
    assert_counts_agree(&other, other.ledger().await.as_ref(), &other.engine().await).await;
    for table in ["journal", "plan", "step_run", "execution"] {
        let count = format!("SELECT CAST(count(*) AS TEXT) FROM {table}");
        let (before, after): (u64, u64) =
            (store.look(&count).await.parse().unwrap(), other.look(&count).await.parse().unwrap());
        let bystander = match table {
            "journal" => 4,
            "plan" => 1,
            _ => 0,
        };
        assert_eq!(before + bystander, after, "{table}");
    }
    // Requests are known where they were.
    let requests = "SELECT CAST(count(request) AS TEXT) FROM journal WHERE session_id =
                    (SELECT id FROM session WHERE channel = 'cli')";
    assert_eq!(store.look(requests).await, other.look(requests).await);
}

pub(crate) async fn any_mix_of_commands_is_restored(store: &Store) {
    any_mix_of_commands(store).await;
    let other = store.another().await;
    restore_all(store, &other).await;
    for n in 0..3 {
        assert_same(store, &other, &nth_session(n)).await;
    }
    assert_eq!(assert_whole(&other.engine().await).await.chains.len(), 3);
    assert_counts_agree(&other, other.ledger().await.as_ref(), &other.engine().await).await;
}

pub(crate) async fn a_restored_session_goes_on(store: &Store) {
    let before = rich(store).await;
    let other = store.another().await;
    restore_all(store, &other).await;
    let (ledger, engine) = (other.ledger().await, other.engine().await);
    // A request that was carried out before is answered and not repeated.
    let seq = before.ledger().session(&here()).await.unwrap().unwrap().head.seq;
    let repeated = ledger.submit(submission(&here(), "reply", end("first"))).await.unwrap();
    let first = before.ledger().submit(submission(&here(), "reply", end("first"))).await.unwrap();
    assert_eq!((repeated.events, repeated.seq), (first.events, first.seq));
    assert_eq!(ledger.session(&here()).await.unwrap().unwrap().head.seq, seq);
    // No owner held it, so it is taken at once, and the open turn continues.
    let taken = taking("anew", LONG, submission(&here(), "taken", resume_turn("second")));
    let lease = ledger.submit(taken).await.unwrap().lease.unwrap();
    assert_eq!(lease.fence, 1);
    ledger.submit(letting_go(&lease, submission(&here(), "over", end("second")))).await.unwrap();
    let plans = engine.plans().list(&here(), None, 100).await.unwrap().items;
    let collected = engine.plans().get(&here(), &plans.last().unwrap().id).await.unwrap();
    carry_out(&engine, &collected, 3, "after all").await;
    assert_eq!(ready(&engine, &here(), "# New").await.number, u32::try_from(plans.len()).unwrap() + 1);
    assert_eq!(assert_no_gaps(&engine, &here()).await, seq + 2 + 2 + 3);
    assert_whole(&other.engine().await).await;
}

pub(crate) async fn a_session_that_is_there_is_not_restored(store: &Store) {
    let engine = rich(store).await;
    let ledger = store.ledger().await;
    let entries = journal(ledger.as_ref(), &here()).await;
    refused(ledger.restore(&here(), Arc::new(entries.clone())).await, RefusalCode::Conflict);
    refused(ledger.restore(&here(), Arc::new(entries[..3].to_vec())).await, RefusalCode::Conflict);
    assert_eq!(journal(ledger.as_ref(), &here()).await, entries);
    assert_whole(&engine).await;
    // Once it is gone, it can come back.
    let lease = ledger.acquire_lease(&here(), "deleting", LONG).await.unwrap().unwrap();
    ledger.delete_session(&lease).await.unwrap();
    ledger.restore(&here(), Arc::new(entries.clone())).await.unwrap();
    assert_eq!(journal(ledger.as_ref(), &here()).await, entries);
    assert_whole(&store.engine().await).await;
}

pub(crate) async fn a_broken_journal_is_not_restored(store: &Store) {
    rich(store).await;
    let whole = journal(store.ledger().await.as_ref(), &here()).await;
    let other = store.another().await;
    let ledger = other.ledger().await;
    let change = |change: &dyn Fn(&mut Vec<SealedEntry>)| {
        let mut entries = whole.clone();
        change(&mut entries);
        entries
    };
    let broken = [
        Vec::new(),
        whole[1..].to_vec(),
        change(&|entries| drop(entries.remove(5))),
        change(&|entries| entries.swap(3, 4)),
        change(&|entries| entries[7].body = entries[7].body.replace("coder", "coda!")),
        change(&|entries| entries[2].hash = entries[3].hash),
    ];
    for entries in broken {
        damaged(ledger.restore(&here(), Arc::new(entries.clone())).await, "the journal of session cli:k3yk3y8x");
    }
    // What is whole belongs to its session and to no other.
    damaged(
        ledger.restore(&session("cli:another1"), Arc::new(whole.clone())).await,
        "the journal of session cli:another1",
    );
    assert!(ledger.sessions(None, 10).await.unwrap().items.is_empty());
    assert!(ledger.orphans().await.unwrap().is_empty());
    // A part from the beginning is a journal as well.
    ledger.restore(&here(), Arc::new(whole[..9].to_vec())).await.unwrap();
    assert_eq!(assert_whole(&other.engine().await).await.chains[0].entries, 9);
}

pub(crate) async fn a_journal_whose_plans_are_elsewhere_is_not_restored(store: &Store) {
    rich(store).await;
    let entries = journal(store.ledger().await.as_ref(), &here()).await;
    let other = store.another().await;
    let (ledger, engine) = (other.ledger().await, other.engine().await);
    engine.submit(&nth_session(1), &person(), import("from-the-older-format")).await.unwrap();
    refused(ledger.restore(&here(), Arc::new(entries.clone())).await, RefusalCode::Conflict);
    assert!(ledger.session(&here()).await.unwrap().is_none());
    assert_eq!(assert_whole(&engine).await.chains.len(), 1);
    // Only this call failed; the store still works.
    ready(&engine, &here(), "# Another").await;
    assert_eq!(assert_whole(&engine).await.chains.len(), 2);
}

pub(crate) async fn a_restored_session_is_told(store: &Store) {
    rich(store).await;
    let entries = journal(store.ledger().await.as_ref(), &here()).await;
    let other = store.another().await;
    let (ledger, elsewhere) = (other.ledger().await, other.ledger().await);
    let mut all = [follow(ledger.as_ref()).await, follow(elsewhere.as_ref()).await];
    ledger.restore(&here(), Arc::new(entries.clone())).await.unwrap();
    assert_eq!(all[0].try_recv(), Ok(StoreChange::Session(here())));
    assert_eq!(next(&mut all[1]).await, StoreChange::Session(here()));
}
