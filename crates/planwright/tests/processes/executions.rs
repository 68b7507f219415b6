//! A process that carries out approved plans is killed behind every write to the journal, in every call of a tool and
//! behind it. After a restart every call was made once, or again because it may be, or its result is unknown and a person is asked.
//! The tools count for themselves, outside the store.

mod child;
mod competition;
mod file_calls;
mod fixture;
mod kill_points;
mod ledger;
mod model;
mod step_by_step;
mod tools;

use std::collections::BTreeMap;

use planwright_core::plan::{PlanStatus, PlanStyle};

use self::child::Act;
use self::fixture::{Approved, Stage, calls, resume, typed};
use self::kill_points::KillPoint;
use crate::stores::Store;

#[tokio::test(flavor = "multi_thread")]
async fn collected_calls_survive_every_kill_on_sqlite() {
    every_kill(Store::sqlite(), PlanStyle::Collect).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn built_steps_survive_every_kill_on_sqlite() {
    every_kill(Store::sqlite(), PlanStyle::Build).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_survives_every_kill_on_sqlite() {
    every_kill(Store::sqlite(), PlanStyle::Document).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn collected_calls_survive_every_kill_on_postgres() {
    every_kill(Store::postgres().await, PlanStyle::Collect).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn built_steps_survive_every_kill_on_postgres() {
    every_kill(Store::postgres().await, PlanStyle::Build).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_survives_every_kill_on_postgres() {
    every_kill(Store::postgres().await, PlanStyle::Document).await;
}

/// How often something happened over all kills.
#[derive(Debug, Default)]
struct Tally {
    kills: usize,
    asked: usize,
    repeated: usize,
}

type Kind = fn(u32) -> KillPoint;

async fn every_kill(store: Store, style: PlanStyle) {
    /// More than a plan here is written down.
    const WRITES: usize = 36;
    let stage = Stage::new(store);
    let made = calls(style).len();
    let mut tally = Tally::default();
    let kinds: [(Kind, usize); 3] =
        [(KillPoint::BehindWrite, WRITES), (KillPoint::InCall, made + 1), (KillPoint::BehindCall, made + 1)];
    for (kill_point, most) in kinds {
        let mut plans = Vec::new();
        for number in (1..).take(most) {
            let kill_point = kill_point(number);
            let name = format!("{kill_point:?}").replace(['(', ')'], "-");
            plans.push((stage.approved(style, &name).await, kill_point));
        }
        let kill_points = plans.iter().map(|(approved, kill_point)| (approved, Some(*kill_point)));
        let ended = stage.job(resume(), kill_points).run_and_kill();
        assert!(ended.contains(&plans[most - 1].0.name()), "there are more points than {most}");
        for (approved, kill_point) in &plans {
            if ended.contains(&approved.name()) {
                came_to_its_end(approved, style).await;
            } else {
                goes_on(approved, style, *kill_point, &mut tally).await;
            }
        }
    }
    stage.is_whole().await;
    // Every call is died in and behind, and there is a write for almost every one, before it or behind it.
    assert!(tally.kills >= 3 * made && tally.asked > 0 && tally.repeated > 0, "{tally:?}");
}

async fn came_to_its_end(approved: &Approved<'_>, style: PlanStyle) {
    assert_eq!(approved.standing().await.status, PlanStatus::Completed);
    let once: BTreeMap<_, _> = calls(style).into_keys().map(|number| (number, 1)).collect();
    assert_eq!(approved.begun(), once);
}

/// After the kill.
async fn goes_on(approved: &Approved<'_>, style: PlanStyle, kill_point: KillPoint, tally: &mut Tally) {
    tally.kills += 1;
    let (known, before) = (approved.outcomes().await, approved.begun());
    let answer = resume_plan(approved, tally.kills).await;
    let standing = approved.standing().await;
    let after = approved.begun();
    let what = format!("{kill_point:?}: {standing:?}, begun {before:?}, then {after:?}, answered {answer:?}");
    for number in known {
        assert_eq!(before.get(&number), after.get(&number), "call {number} had an outcome; {what}");
    }
    for (number, tool) in calls(style) {
        let times = after.get(&number).copied().unwrap_or(0);
        let most = if tool == "ring" { 1 } else { 2 };
        assert!(times <= most, "{tool} {number} was called {times} times; {what}");
        tally.repeated += usize::from(times == 2);
    }
    match standing.uncertain().map(str::to_owned) {
        None => {
            assert_eq!(standing.status, PlanStatus::Completed, "{what}");
            assert_eq!(after.len(), calls(style).len(), "{what}");
        }
        Some(step) => {
            assert!(step.contains("ring"), "{what}");
            assert_eq!(standing.status, PlanStatus::Executing, "{what}");
            tally.asked += 1;
            settle(approved, style, tally.asked).await;
        }
    }
}

/// Takes the plan up as a chat does when it is started, or as a person does who asks for it.
async fn resume_plan(approved: &Approved<'_>, round: usize) -> String {
    let mut answers = Vec::new();
    if round.is_multiple_of(2) {
        answers.push(approved.job(Act::TakeUp).run_here().await);
    }
    let standing = approved.standing().await;
    if standing.status != PlanStatus::Completed && standing.uncertain().is_none() {
        answers.push(approved.job(resume()).run_here().await);
    }
    for answer in &answers {
        assert!(!answer.starts_with("failed"), "{answer}");
    }
    answers.join("; ")
}

/// A person is asked, and says what to do.
async fn settle(approved: &Approved<'_>, style: PlanStyle, round: usize) {
    let before = approved.begun();
    let asked = approved.job(resume()).run_here().await;
    assert!(asked.contains("The result of step"), "{asked}");
    assert_eq!(approved.begun(), before, "asking does nothing");
    let choice = if round.is_multiple_of(2) { "retry" } else { "skip" };
    let answer = approved.job(typed(&format!("/plan resume 1 {choice}"))).run_here().await;
    let (standing, after) = (approved.standing().await, approved.begun());
    let what = format!("{choice}: {standing:?}, begun {before:?}, then {after:?}, answered {answer:?}");
    assert_eq!(standing.status, PlanStatus::Completed, "{what}");
    for (number, tool) in calls(style).into_iter().filter(|(_, tool)| *tool == "ring") {
        let times = after.get(&number).copied().unwrap_or(0);
        assert!(times <= if choice == "retry" { 2 } else { 1 }, "{tool} {number}: {what}");
    }
}
