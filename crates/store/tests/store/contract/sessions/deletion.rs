//! A deleted session is gone with everything of it, and with nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::join_all;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::{Lease, Ledger};

use crate::commands::*;
use crate::contract::damage::{BYSTANDER, here, three_plans};
use crate::contract::runs::executing;
use crate::stores::Store;
use crate::turns::*;
use crate::verification::{assert_no_gaps, assert_whole};

const LONG: Duration = Duration::from_secs(600);

async fn lease(ledger: &dyn Ledger, session: &SessionIdentity) -> Lease {
    ledger.acquire_lease(session, "deleting", LONG).await.unwrap().unwrap()
}

/// How many rows each table has.
async fn rows(store: &Store) -> [String; 5] {
    let mut counts = <[String; 5]>::default();
    for (count, table) in counts.iter_mut().zip(["session", "journal", "plan", "lease", "pointer"]) {
        *count = store.look(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}")).await;
    }
    counts
}

pub(crate) async fn a_deleted_session_is_gone_with_everything(store: &Store) {
    let (engine, other) = (three_plans(store).await, store.engine().await);
    let chat = TransportChat("telegram:1".to_owned());
    engine.submit(&here(), &person(), begin("Hello")).await.unwrap();
    engine.ledger().point(&chat, &session(BYSTANDER)).await.unwrap();
    let before = (other.sessions().snapshot(&session(BYSTANDER)).await.unwrap(), rows(store).await);
    assert_eq!(before.1, ["2", "15", "4", "0", "1"]);
    engine.ledger().point(&chat, &here()).await.unwrap();
    let plan = other.plans().active(&here()).await.unwrap();
    let held = lease(engine.ledger().as_ref(), &here()).await;
    other.ledger().delete_session(&held).await.unwrap();

    for engine in [&engine, &other, &store.engine().await] {
        let ledger = engine.ledger();
        assert!(ledger.session(&here()).await.unwrap().is_none());
        assert!(ledger.sessions_with_key(&here().conversation).await.unwrap().is_empty());
        let listed = ledger.sessions(None, 10).await.unwrap().items;
        assert_eq!(listed.iter().map(|stored| stored.session.identity.to_string()).collect::<Vec<_>>(), [BYSTANDER]);
        assert!(ledger.snapshot(&here(), Some(&plan.id)).await.unwrap().session.is_none());
        assert!(ledger.journal(&here(), 0, 100).await.unwrap().is_empty());
        assert!(ledger.conversation(&here(), 0, 100).await.unwrap().is_empty());
        assert!(ledger.plan_journal(&here(), &plan.id).await.unwrap().is_empty());
        assert!(ledger.plans(&here(), None, 10).await.unwrap().items.is_empty());
        assert!(ledger.candidates(&here(), &PlanReference::Number(1)).await.unwrap().is_empty());
        assert_eq!(ledger.session_of(&plan.id).await.unwrap(), None);
        refused(engine.submit(&here(), &person(), on(PlanStyle::Document)).await, RefusalCode::NotFound);
        assert_eq!(ledger.active_session(&chat).await.unwrap(), Some(session(BYSTANDER)));
        assert_eq!(ledger.orphans().await.unwrap(), []);
    }
    assert_eq!(rows(store).await, ["1", "4", "1", "0", "1"]);
    assert_eq!(other.sessions().snapshot(&session(BYSTANDER)).await.unwrap(), before.0);
    draft(&engine, &session(BYSTANDER), set("# Goes on")).await;
    assert_eq!(assert_whole(&engine).await.chains.len(), 1);
}

pub(crate) async fn the_outcomes_of_a_deleted_session_are_gone(store: &Store) {
    let engine = store.engine().await;
    let there = session(BYSTANDER);
    let plan = ready(&engine, &there, "1. a\n2. b").await;
    engine.submit(&there, &person(), approve(&plan)).await.unwrap();
    engine.submit(&there, &agent(), report(StepStatus::Completed)).await.unwrap();
    executing(&engine, 5).await;
    let count = async |table: &str| store.look(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}")).await;
    assert_eq!((count("step_run").await, count("execution").await), ("7".to_owned(), "2".to_owned()));
    let held = lease(engine.ledger().as_ref(), &here()).await;
    engine.ledger().delete_session(&held).await.unwrap();
    assert_eq!((count("step_run").await, count("execution").await), ("2".to_owned(), "1".to_owned()));
    assert_eq!(engine.ledger().orphans().await.unwrap(), []);
    assert_eq!(assert_whole(&store.engine().await).await.chains.len(), 1);
}

pub(crate) async fn only_the_holder_of_the_lease_can_delete_a_session(store: &Store) {
    let engine = three_plans(store).await;
    let ledger = engine.ledger();
    let lost = ledger.acquire_lease(&here(), "first", Duration::ZERO).await.unwrap().unwrap();
    let held = ledger.acquire_lease(&here(), "second", LONG).await.unwrap().unwrap();
    let elsewhere = Lease { session: session(BYSTANDER), ..held.clone() };
    let before = rows(store).await;
    for lease in [&lost, &Lease { fence: held.fence, ..lost.clone() }, &Lease { fence: 7, ..held.clone() }, &elsewhere]
    {
        fenced(ledger.delete_session(lease).await);
    }
    let nowhere = Lease { session: session("cli:nowhere1"), ..held.clone() };
    refused(ledger.delete_session(&nowhere).await, RefusalCode::NotFound);
    assert_eq!(rows(store).await, before);
    assert_whole(&engine).await;
    ledger.delete_session(&held).await.unwrap();
    refused(ledger.delete_session(&held).await, RefusalCode::NotFound);
}

pub(crate) async fn a_key_can_be_used_again_and_begins_anew(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    for n in 0..4 {
        // Each handle has worked on the session that the other one deletes.
        let (engine, other) = (&engines[n % 2], &engines[(n + 1) % 2]);
        let opened = engine.ledger().submit(submission(&here(), "the-same-request", open())).await.unwrap();
        assert_eq!((names(&opened.events), opened.seq), (vec!["session_opened"], 1));
        assert_eq!(ready(engine, &here(), "# Mine").await.number, 1);
        draft(other, &here(), set("# Ours")).await;
        let begun = submission(&here(), "turn", begin("Hello"));
        let begun = other.ledger().submit(taking("deleting", LONG, begun)).await.unwrap();
        let held = begun.lease.unwrap();
        assert_eq!((begun.seq, held.fence), (6, 1));
        assert_eq!(assert_no_gaps(engine, &here()).await, 6);
        other.ledger().delete_session(&held).await.unwrap();
        // An earlier holder cannot write to a session that is made after it.
        let late = submission(&here(), "late", open());
        fenced(engine.ledger().submit(holding(&held, late)).await);
    }
    let fresh = engines[0].sessions().open(&here(), &person()).await.unwrap().snapshot.session.unwrap();
    assert!(fresh.turn.is_none() && fresh.topic.is_none() && fresh.plans_made == 0 && !fresh.plan_mode.enabled);
    assert_whole(&engines[1]).await;
}

pub(crate) async fn deleting_one_session_does_not_disturb_others(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let callers = (0..24).map(|n| {
        let (engine, other) = (engines[n % 2].clone(), engines[(n / 2) % 2].clone());
        tokio::spawn(async move {
            let here = nth_session(n);
            for round in 0..5 {
                ready(&engine, &here, &format!("# {round}")).await;
                draft(&other, &here, set(&format!("# {round} again"))).await;
                if n % 3 == 0 {
                    let held = lease(engine.ledger().as_ref(), &here).await;
                    other.ledger().delete_session(&held).await.unwrap();
                }
            }
        })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    let report = assert_whole(&engines[0]).await;
    assert_eq!(report.chains.len(), 16);
    assert!(report.chains.iter().all(|chain| chain.entries == 21), "{report:?}");
}

/// Opening a session that is just being deleted succeeds, before or after.
pub(crate) async fn a_session_can_be_opened_while_it_is_deleted(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let done = Arc::new(AtomicBool::new(false));
    let openers: Vec<_> = (0..4)
        .map(|n| {
            let (engine, done) = (engines[n % 2].clone(), done.clone());
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    engine.sessions().open(&here(), &person()).await.unwrap();
                }
            })
        })
        .collect();
    for n in 0..40 {
        let engine = &engines[n % 2];
        engine.sessions().open(&here(), &person()).await.unwrap();
        let held = lease(engine.ledger().as_ref(), &here()).await;
        engine.ledger().delete_session(&held).await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    join_all(openers).await.into_iter().for_each(Result::unwrap);
    assert_whole(&engines[0]).await;
}
