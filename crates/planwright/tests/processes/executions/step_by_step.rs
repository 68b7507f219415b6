//! A process that carries out plans step by step is killed behind every write. After a restart nothing runs before the
//! person's go, and each go runs one step.

use planwright_core::plan::{PlanStatus, PlanStyle};

use super::child::Act;
use super::fixture::{Approved, Stage, resume, typed};
use super::kill_points::KillPoint;
use crate::stores::Store;

/// More than one step of a plan here is written down.
const WRITES: u32 = 14;

#[tokio::test(flavor = "multi_thread")]
async fn collected_calls_wait_for_a_go_after_every_kill_on_sqlite() {
    every_kill(Store::sqlite(), PlanStyle::Collect).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn built_steps_wait_for_a_go_after_every_kill_on_sqlite() {
    every_kill(Store::sqlite(), PlanStyle::Build).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_waits_for_a_go_after_every_kill_on_sqlite() {
    every_kill(Store::sqlite(), PlanStyle::Document).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn collected_calls_wait_for_a_go_after_every_kill_on_postgres() {
    every_kill(Store::postgres().await, PlanStyle::Collect).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn built_steps_wait_for_a_go_after_every_kill_on_postgres() {
    every_kill(Store::postgres().await, PlanStyle::Build).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_waits_for_a_go_after_every_kill_on_postgres() {
    every_kill(Store::postgres().await, PlanStyle::Document).await;
}

async fn every_kill(store: Store, style: PlanStyle) {
    let stage = Stage::new(store);
    let mut plans = Vec::new();
    for number in 1..=WRITES {
        plans.push((
            stage.approved_step_by_step(style, &format!("slow-{number}")).await,
            KillPoint::BehindWrite(number),
        ));
    }
    let mut killed_while_it_waits = 0;
    // Each round is one go of the person. The first one begins the plan.
    for released in 1..=2 {
        let kill_points = plans.iter().map(|(approved, kill_point)| (approved, Some(*kill_point)));
        let ended = stage.job(resume(), kill_points).run_and_kill();
        assert!(ended.contains(&plans[plans.len() - 1].0.name()), "a step takes more than {WRITES} writes");
        for (approved, kill_point) in &plans {
            let before = approved.standing().await;
            let was_killed = !ended.contains(&approved.name());
            killed_while_it_waits += usize::from(was_killed && before.look_at == Some(released));
            restart_twice(approved).await;
            let standing = approved.standing().await;
            let what = format!("{kill_point:?} in round {released}: {before:?}, then {standing:?}");
            assert!(standing.touched() <= released, "a step ran that no person released; {what}");
            let begun = approved.begun();
            assert!(begun.keys().all(|number| *number <= last_call(style, released)), "{begun:?}; {what}");
            if standing.uncertain().is_some() {
                let answer = approved.job(typed("/plan resume 1 skip")).run_here().await;
                assert!(!answer.starts_with("failed"), "{answer}");
            }
            // A kill before the step began leaves it to a person, who says it again.
            if approved.standing().await.touched() < released {
                approved.job(resume()).run_here().await;
            }
            let standing = approved.standing().await;
            let over = standing.status == PlanStatus::Completed;
            assert!(over || standing.look_at.is_some(), "{what}, then {standing:?}");
        }
    }
    assert!(killed_while_it_waits > 0, "no kill came between the outcome of a step and the end of its work");
    for (approved, kill_point) in &plans {
        for _ in 0..10 {
            if approved.standing().await.status == PlanStatus::Completed {
                break;
            }
            let before = approved.standing().await.touched();
            approved.job(resume()).run_here().await;
            assert!(approved.standing().await.touched() <= before + 1, "{kill_point:?}");
        }
        assert_eq!(approved.standing().await.status, PlanStatus::Completed, "{kill_point:?}");
    }
    stage.is_whole().await;
}

/// What a chat does when it is started, twice.
async fn restart_twice(approved: &Approved<'_>) {
    for _ in 0..2 {
        let answer = approved.job(Act::TakeUp).run_here().await;
        assert!(!answer.starts_with("failed"), "{answer}");
    }
}

/// The largest number of a call in the first steps.
fn last_call(style: PlanStyle, steps: usize) -> u64 {
    match (style, steps) {
        (PlanStyle::Build, 2) => 3,
        (PlanStyle::Build, 3..) => 4,
        (PlanStyle::Collect | PlanStyle::Document | PlanStyle::Build, steps) => steps as u64,
    }
}
