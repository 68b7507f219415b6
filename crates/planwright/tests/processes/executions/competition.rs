//! Two processes and one approved plan: one of them carries it out, the other waits. If the one that works is killed, the
//! other takes over.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use planwright_core::plan::{PlanStatus, PlanStyle};

use super::child::{Job, Waiting};
use super::fixture::{Stage, calls, resume};
use crate::stores::Store;

const STYLES: [PlanStyle; 4] = [PlanStyle::Collect, PlanStyle::Build, PlanStyle::Collect, PlanStyle::Document];

#[tokio::test(flavor = "multi_thread")]
async fn of_two_processes_one_carries_the_plan_out_on_sqlite() {
    two_at_once(Stage::new(Store::sqlite()), 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_processes_one_carries_the_plan_out_on_postgres() {
    two_at_once(Stage::new(Store::postgres().await), 4).await;
}

async fn two_at_once(stage: Stage, rounds: u32) {
    for round in 0..rounds {
        let style = STYLES[round as usize % STYLES.len()];
        let approved = stage.approved(style, &format!("race-{round}")).await;
        let job = Job { takes: Duration::from_millis(2), ..approved.job(resume()) };
        let mut both = [job.start(), job.start()];
        both.iter_mut().for_each(super::child::Started::go);
        let answers = both.map(|one| one.end().answer);
        let what = format!("round {round}, {style:?}: {answers:?}");
        assert_eq!(approved.standing().await.status, PlanStatus::Completed, "{what}");
        let begun = approved.begun();
        assert!(begun.len() == calls(style).len() && begun.values().all(|times| *times == 1), "{what}: {begun:?}");
        let workers: BTreeSet<_> = approved.record().iter().map(|noted| noted.process).collect();
        assert_eq!(workers.len(), 1, "{what}");
        assert!(answers.iter().all(|answer| answer.contains("COMPLETED")), "{what}");
    }
    stage.is_whole().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_one_that_waits_takes_over_on_sqlite() {
    one_is_killed(Stage::new(Store::sqlite()), 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_one_that_waits_takes_over_on_postgres() {
    one_is_killed(Stage::new(Store::postgres().await), 8).await;
}

async fn one_is_killed(stage: Stage, rounds: u32) {
    let (mut taken_over, mut asked) = (0, 0);
    for round in 0..rounds {
        let style = STYLES[round as usize % STYLES.len()];
        let approved = stage.approved(style, &format!("kill-{round}")).await;
        let begin = approved.job(resume());
        let job = Job { takes: Duration::from_millis(3), waiting: Waiting::ForTheLease, ..begin };
        let mut both = [job.start(), job.start()];
        both.iter_mut().for_each(super::child::Started::go);
        // The kill comes somewhat later in every round, from the first call on.
        let worker = loop {
            if let Some(noted) = approved.record().first() {
                break noted.process;
            }
            std::thread::yield_now();
        };
        let moment = Instant::now();
        while moment.elapsed() < Duration::from_micros(u64::from(round) * 2_741 % 40_000) {
            std::hint::spin_loop();
        }
        both.iter_mut().find(|one| one.process() == worker).unwrap().kill();
        let [one, other] = both.map(super::child::Started::end);
        let standing = approved.standing().await;
        let what = format!("round {round}, {style:?}: {standing:?}, {one:?}, {other:?}, {:?}", approved.record());
        taken_over += usize::from(approved.record().iter().any(|noted| noted.process != worker));
        for (number, tool) in calls(style) {
            let times = approved.begun().get(&number).copied().unwrap_or(0);
            assert!(times <= if tool == "ring" { 1 } else { 2 }, "{tool} {number} was called {times} times; {what}");
        }
        if let Some(step) = standing.uncertain() {
            assert!(step.contains("ring") && standing.status == PlanStatus::Executing, "{what}");
            asked += 1;
        } else {
            assert_eq!(standing.status, PlanStatus::Completed, "{what}");
            assert_eq!(approved.begun().len(), calls(style).len(), "{what}");
        }
    }
    stage.is_whole().await;
    assert!(
        taken_over + asked > rounds as usize / 4,
        "only {taken_over} were taken over, and {asked} waited for a person"
    );
}
