//! Three servers on one database with many schedules due in the same second, one of them killed while its runs are at work.

use std::time::Duration;

use futures::future::join_all;
use planwright_core::actor::Actor;
use planwright_core::auto::{AutoCommand, AutoRun, AutoState, NewSchedule};
use planwright_core::event::Event;
use planwright_engine::Engine;
use planwright_test_support::clock::TestClock;

use crate::journal::{entries, verify};
use crate::program::Program;
use crate::provider::Provider;
use crate::stores::Store;
use crate::world::{TIMEOUT, session};

const SESSIONS: usize = 45;
/// So many are made at once.
const AT_ONCE: usize = 64;
/// A server with a hundred runs at work on a busy machine renews a lease some seconds late. A live server must not lose one here.
const LEASE: (&str, &str) = ("PLANWRIGHT_SERVER_LEASE_SECONDS", "20");
/// A run pauses after its first turn.
const TURNS: (&str, &str) = ("PLANWRIGHT_AUTO_TURNS", "1");

fn key(n: usize) -> String {
    format!("scheduled-{n}")
}

async fn state(engine: &Engine, n: usize) -> AutoState {
    engine.auto().state(&session(&key(n))).await.unwrap()
}

/// The only run of a session, once it neither runs nor is about to.
async fn rested(engine: &Engine, n: usize) -> AutoRun {
    let looking = async {
        loop {
            let state = state(engine, n).await;
            assert!(state.runs.len() <= 1, "{} has two runs", key(n));
            match state.runs.as_slice() {
                [run] if !run.is_running() => return run.clone(),
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    tokio::time::timeout(TIMEOUT, looking).await.unwrap_or_else(|_| panic!("the run of {} never rests", key(n)))
}

/// Makes so many sessions with a schedule each. The schedules are made many years ago, so that all of them are due as soon as a
/// server looks.
async fn schedule(engine: &Engine, sessions: usize) {
    let clock = TestClock::stopped();
    clock.jump(-10 * 365 * 24 * 3_600 * 1_000);
    let past = &engine.clone().with_clock(clock, planwright_engine::clock::TimeOrderedIds);
    let ada = &Actor::person("ada", "web");
    let make = |n: usize| async move {
        past.sessions().open(&session(&key(n)), ada).await.unwrap();
        let new = NewSchedule {
            expression: "0 0 1 1 *".to_owned(),
            zone: None,
            title: format!("news {n}"),
            goal: None,
            max_executions: Some(1),
        };
        past.auto().schedule(&session(&key(n)), ada, AutoCommand::AddSchedule(new)).await.unwrap();
    };
    for first in (0..sessions).step_by(AT_ONCE) {
        join_all((first..sessions.min(first + AT_ONCE)).map(make)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_due_in_the_same_second_are_started_once_although_a_server_is_killed() {
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    let engine = store.engine().await;
    schedule(&engine, SESSIONS).await;
    provider.hold();
    let mut servers: Vec<_> = (0..3).map(|_| Program::asking(&store, &provider, &[LEASE, TURNS])).collect();
    provider.wait_for(SESSIONS, |asked| asked.phrase.starts_with("[TASK_RUN")).await;
    // The process that drives a run has its number in its name.
    let mut drivers = Vec::new();
    for n in 0..SESSIONS {
        drivers.push(state(&engine, n).await.runs[0].driver.clone());
    }
    let drives = |server: &Program, driver: &str| driver.contains(&format!("/{}/", server.id()));
    let killed = (0..3).max_by_key(|n| drivers.iter().filter(|driver| drives(&servers[*n], driver)).count()).unwrap();
    let lost: Vec<_> = drivers.iter().map(|driver| drives(&servers[killed], driver)).collect();
    assert!(lost.contains(&true));
    servers[killed].kill();
    provider.release();
    for (n, lost) in lost.into_iter().enumerate() {
        let run = rested(&engine, n).await;
        let expected = if lost { "interrupted" } else { "paused" };
        assert_eq!(run.state.name(), expected, "{}: {run:?}", key(n));
        let written = entries(&engine, &key(n)).await;
        let count = |name: &str| written.iter().filter(|entry| entry.event.name() == name).count();
        assert_eq!((count("schedule_fired"), count("run_started")), (1, 1), "{}", key(n));
        let turns = written.iter().filter(|entry| matches!(&entry.event, Event::Turn { .. })).count();
        assert!(turns >= 2, "{} was not served", key(n));
    }
    verify(&store);
}

/// Every session is served by one of three servers, and none twice, although one is killed after a third of them. With
/// `PLANWRIGHT_MANY_SESSIONS=10000` there are ten thousand.
#[tokio::test(flavor = "multi_thread")]
async fn many_runs_due_in_the_same_second_are_shared_by_three_servers_and_none_is_started_twice() {
    let many = std::env::var("PLANWRIGHT_MANY_SESSIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    let engine = store.engine().await;
    schedule(&engine, many).await;
    let mut servers: Vec<_> = (0..3).map(|_| Program::asking(&store, &provider, &[LEASE, TURNS])).collect();
    provider.wait_for(many / 3, |asked| asked.phrase.starts_with("[TASK_RUN")).await;
    let killed = format!("/{}/", servers[0].id());
    servers[0].kill();
    let (mut interrupted, mut served_by) = (0, std::collections::BTreeMap::new());
    for n in 0..many {
        let served = async {
            // A run that was taken by the killed server is started by no other.
            while state(&engine, n).await.runs.is_empty() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let limit = Duration::from_secs(600);
        tokio::time::timeout(limit, served).await.unwrap_or_else(|_| panic!("{} is not served", key(n)));
        let run = rested(&engine, n).await;
        match run.state.name() {
            "paused" => {}
            "interrupted" => {
                assert!(run.driver.contains(&killed), "{}: {run:?}", key(n));
                interrupted += 1;
            }
            other => panic!("{} is {other}: {run:?}", key(n)),
        }
        let written = entries(&engine, &key(n)).await;
        let count = |name: &str| written.iter().filter(|entry| entry.event.name() == name).count();
        assert_eq!((count("schedule_fired"), count("run_started")), (1, 1), "{}", key(n));
        *served_by.entry(run.driver.clone()).or_insert(0) += 1;
    }
    // The servers share the work, and only what the killed one had begun is interrupted.
    assert!(served_by.len() > 1, "{served_by:?}");
    assert!(interrupted < many / 2, "{interrupted} of {many} were interrupted: {served_by:?}");
    verify(&store);
}
