//! Many callers at once, through several handles.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use planwright_core::command::Command;
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerError;

use crate::commands::*;
use crate::stores::Store;
use crate::turns::{begin, stop};
use crate::verification::{assert_no_gaps, assert_whole};

pub(crate) async fn one_session_with_many_callers_has_no_gaps(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let here = session("cli:k3yk3y8x");
    planning(&engines[0], &here, PlanStyle::Document).await;
    let callers = (0..100).map(|n| {
        let (engine, here) = (engines[n % 2].clone(), here.clone());
        tokio::spawn(async move { draft(&engine, &here, set(&format!("text {n}"))).await.seq })
    });
    let told: BTreeSet<_> = join_all(callers).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(told, (4..=103).collect());
    assert_eq!(assert_no_gaps(&engines[0], &here).await, 103);
    assert_eq!(engines[1].plans().active(&here).await.unwrap().version, 100);
    assert_whole(&engines[1]).await;
}

pub(crate) async fn many_sessions_with_many_callers_have_no_gaps(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let callers = (0..150).map(|n| {
        let engine = engines[n % 2].clone();
        tokio::spawn(async move {
            // Five callers share a session, and one of them opens it.
            let here = nth_session(n / 5);
            engine.sessions().open(&here, &person()).await.unwrap();
            engine.sessions().enable_plan_mode(&here, &person(), PlanStyle::Document).await.unwrap();
            draft(&engine, &here, set(&format!("text {n}"))).await;
        })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    for n in 0..30 {
        assert_no_gaps(&engines[0], &nth_session(n)).await;
    }
    assert_eq!(assert_whole(&engines[0]).await.chains.len(), 30);
}

pub(crate) async fn no_recorded_step_is_lost(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let here = session("cli:k3yk3y8x");
    planning(&engines[0], &here, PlanStyle::Collect).await;
    let callers = (0..200).map(|n| {
        let (engine, here) = (engines[n % 2].clone(), here.clone());
        tokio::spawn(async move { draft(&engine, &here, record(n)).await })
    });
    join_all(callers).await.into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let plan = engines[0].plans().active(&here).await.unwrap();
    assert_eq!(recorded(&plan), (0..200).collect());
    assert_eq!(plan.content.steps().len(), 200);
    assert_whole(&engines[0]).await;
}

/// The numbers that were recorded.
pub(crate) fn recorded(plan: &Plan) -> BTreeSet<u64> {
    match &plan.content {
        PlanContent::Collect(collected) => {
            collected.steps.iter().map(|step| step.arguments["n"].as_u64().unwrap()).collect()
        }
        PlanContent::Document(_) | PlanContent::Build(_) => panic!("this plan has no recorded steps"),
    }
}

pub(crate) async fn a_refused_command_does_not_disturb_others(store: &Store) {
    let engine = store.engine().await;
    let (here, there) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    planning(&engine, &here, PlanStyle::Collect).await;
    let theirs = ready(&engine, &there, "# Theirs").await;
    let callers = (0..120).map(|n| {
        let (engine, here, theirs) = (engine.clone(), here.clone(), theirs.clone());
        tokio::spawn(async move {
            match n % 6 {
                0 => refused(engine.submit(&here, &agent(), set("wrong style")).await, RefusalCode::PolicyDenied),
                1 => refused(engine.submit(&here, &person(), cancel(&theirs.id)).await, RefusalCode::NotFound),
                2 => refused(engine.submit(&here, &person(), import(theirs.id.as_str())).await, RefusalCode::Conflict),
                3 => refused(engine.sessions().open(&session("cli:short"), &person()).await, RefusalCode::NotFound),
                _ => draft(&engine, &here, record(n)).await.seq.to_string(),
            }
        })
    });
    let told: Vec<_> = join_all(callers).await.into_iter().map(Result::unwrap).collect();
    let seqs: BTreeSet<u64> = told.iter().filter_map(|told| told.parse().ok()).collect();
    assert_eq!(seqs, (4..=43).collect());
    assert_eq!(engine.plans().active(&here).await.unwrap().content.steps().len(), 40);
    assert_eq!(engine.sessions().list(None, 10).await.unwrap().items.len(), 2);
    assert_whole(&engine).await;
}

/// The check never takes the running work of another process for damage.
pub(crate) async fn a_check_while_others_write_finds_everything_whole(store: &Store) {
    let (engine, writers) = (store.engine().await, store.engine().await);
    let done = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..6)
        .map(|n| {
            let (engine, done) = (writers.clone(), done.clone());
            tokio::spawn(async move {
                let mut written = 0;
                while !done.load(Ordering::Relaxed) {
                    // Two callers share a session, and new ones are opened all the time.
                    let here = nth_session(n / 2 + written / 20 * 3);
                    engine.sessions().open(&here, &person()).await.unwrap();
                    engine.sessions().ensure_plan_mode(&here, &person(), Some(PlanStyle::Document)).await.unwrap();
                    let text = format!("# {n}\n\n1. {written}");
                    draft(&engine, &here, set(&text)).await;
                    written += 1;
                }
            })
        })
        .collect();
    for _ in 0..10 {
        assert_whole(&engine).await;
    }
    done.store(true, Ordering::Relaxed);
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    assert_whole(&engine).await;
}

/// A sum that is too large panics, in the builds that check for it; in the others there is nothing to see.
pub(crate) async fn a_command_that_panics_does_not_disturb_others(store: &Store) {
    if !cfg!(debug_assertions) {
        return;
    }
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    ready(&engine, &here, "# One").await;
    let tampering = "UPDATE session SET state = replace(state, '\"plans_made\":1', '\"plans_made\":4294967295')";
    assert_eq!(store.tamper(tampering).await, 1);
    let callers = (0..60).map(|n| {
        let (engine, here) = (engine.clone(), here.clone());
        tokio::spawn(async move {
            if n % 3 == 0 {
                let outcome = engine.sessions().enable_plan_mode(&here, &person(), PlanStyle::Build).await;
                assert_eq!(outcome.unwrap_err().code(), RefusalCode::Internal);
            } else {
                ready(&engine, &nth_session(n), "# Fine").await;
            }
        })
    });
    join_all(callers).await.into_iter().for_each(Result::unwrap);
    assert_eq!(assert_no_gaps(&engine, &here).await, 4);
    draft(&engine, &here, set("# Two")).await;
    assert_eq!(assert_no_gaps(&engine, &here).await, 5);
    assert_eq!(engine.sessions().list(None, 100).await.unwrap().items.len(), 41);
}

pub(crate) async fn replaying_any_mix_of_commands_gives_what_is_stored(store: &Store) {
    any_mix_of_commands(store).await;
    assert_eq!(assert_whole(&store.engine().await).await.chains.len(), 3);
}

/// Three sessions after whatever many callers may do at once.
pub(crate) async fn any_mix_of_commands(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let callers = (0..8).map(|n| {
        let engine = engines[n % 2].clone();
        tokio::spawn(async move {
            let mut dice = Dice(n as u64 + 1);
            let mut stored = 0;
            for round in 0..60 {
                let here = nth_session(dice.roll(3));
                engine.sessions().open(&here, &person()).await.unwrap();
                let command = any_command(&engine, &here, &mut dice, n * 1000 + round).await;
                let by = if matches!(command, Command::Draft(_) | Command::Execution(_)) { agent() } else { person() };
                match engine.submit(&here, &by, command).await {
                    Ok(_) => stored += 1,
                    Err(LedgerError::Refused(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            stored
        })
    });
    let stored: usize = join_all(callers).await.into_iter().map(Result::unwrap).sum();
    assert!(stored > 100, "only {stored} commands came to something");
}

async fn any_command(engine: &Engine, here: &SessionIdentity, dice: &mut Dice, n: usize) -> Command {
    let plans = engine.plans().list(here, None, 5).await.unwrap().items;
    let named =
        if plans.is_empty() { None } else { engine.plans().get(here, &plans[dice.roll(plans.len())].id).await.ok() };
    match (dice.roll(20), named) {
        (0, _) => off(),
        (1, _) => done(),
        (2, _) if n.is_multiple_of(3) => reset(),
        (3, _) => import(&format!("imported-{n}")),
        (11, _) => begin(&format!("What about {n}?")),
        (12, _) => stop(),
        (4..=6, Some(plan)) => approve(&plan),
        (7, Some(plan)) => reject(&plan.id),
        (8, Some(plan)) => revise(&plan.id),
        (9, Some(plan)) => cancel(&plan.id),
        (10, Some(plan)) => resume(&plan.id),
        (_, Some(_)) => match engine.sessions().snapshot(here).await.unwrap().session.unwrap().plan_mode.clone() {
            mode if !mode.enabled => on(PlanStyle::ALL[dice.roll(3)]),
            mode => match (mode.style, dice.roll(4)) {
                (PlanStyle::Document, 0) => report(StepStatus::InProgress),
                (PlanStyle::Document, 1) => report(StepStatus::Completed),
                (PlanStyle::Document, _) => set(&format!("# {n}\n\n1. One\n2. Two")),
                (PlanStyle::Collect, 0) => finalize(),
                (PlanStyle::Collect, _) => record(n),
                (PlanStyle::Build, 0) => goal(&n.to_string()),
                (PlanStyle::Build, 1) => submit(),
                (PlanStyle::Build, _) => add(&n.to_string()),
            },
        },
        (_, None) => on(PlanStyle::ALL[dice.roll(3)]),
    }
}

/// Gives identical throws each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}
