//! Three servers on one database with many schedules due in the same second, one of them killed while its runs are at work.

use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::auto::{AutoCommand, AutoState, NewSchedule, Run};
use planwright_core::event::Event;
use planwright_engine::Engine;
use planwright_test_support::clock::TestClock;

use crate::journal::{entries, verify};
use crate::program::Program;
use crate::provider::Provider;
use crate::stores::Store;
use crate::world::{PATIENCE, session};

const SESSIONS: usize = 45;
/// Long enough for a machine that is busy, short enough to wait for.
const LEASE: (&str, &str) = ("PLANWRIGHT_SERVER_LEASE_SECONDS", "4");
/// A run pauses after its first turn.
const TURNS: (&str, &str) = ("PLANWRIGHT_AUTO_TURNS", "1");

fn key(n: usize) -> String {
    format!("scheduled-{n}")
}

async fn state(engine: &Engine, n: usize) -> AutoState {
    engine.auto().state(&session(&key(n))).await.unwrap()
}

/// The only run of a session, once it neither runs nor is about to.
async fn rested(engine: &Engine, n: usize) -> Run {
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
    tokio::time::timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("the run of {} never rests", key(n)))
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_due_in_the_same_second_are_started_once_although_a_server_is_killed() {
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    // Made many years ago, so that all of them are due as soon as a server looks.
    let clock = TestClock::stopped();
    clock.jump(-10 * 365 * 24 * 3_600 * 1_000);
    let engine = store.engine().await;
    let past = engine.clone().with_clock(clock, planwright_engine::clock::TimeOrderedIds);
    let ada = Actor::person("ada", "web");
    for n in 0..SESSIONS {
        past.sessions().open(&session(&key(n)), &ada).await.unwrap();
        let new = NewSchedule {
            expression: "0 0 1 1 *".to_owned(),
            zone: None,
            title: format!("news {n}"),
            goal: None,
            max_executions: Some(1),
        };
        past.auto().schedule(&session(&key(n)), &ada, AutoCommand::AddSchedule(new)).await.unwrap();
    }
    provider.hold();
    let mut servers: Vec<_> = (0..3).map(|_| Program::asking(&store, &provider, &[LEASE, TURNS])).collect();
    provider.wait_for(SESSIONS, |asked| asked.words.starts_with("[TASK_RUN")).await;
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
    provider.let_go();
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
