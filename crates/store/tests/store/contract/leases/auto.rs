//! Schedules and runs, found over all sessions: due ones are taken once, in the order they are due, and all are gone with their
//! session.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::auto::{AutoCommand, NewSchedule, ScheduleChange, StartTarget};
use planwright_core::command::Command;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::{Ledger, RunsFilter};

use crate::commands::*;
use crate::contract::restore::journal;
use crate::stores::Store;
use crate::verification::assert_whole;

const KEEP: Duration = Duration::from_secs(60);

async fn schedule(engine: &Engine, session: &SessionIdentity, expression: &str) {
    engine.sessions().open(session, &person()).await.unwrap();
    let new = NewSchedule {
        expression: expression.to_owned(),
        zone: None,
        title: "Read the news".to_owned(),
        goal: None,
        max_executions: None,
    };
    engine.auto().schedule(session, &person(), AutoCommand::AddSchedule(new)).await.unwrap().unwrap();
}

async fn start(engine: &Engine, session: &SessionIdentity) {
    engine.sessions().open(session, &person()).await.unwrap();
    let command = AutoCommand::Start { target: StartTarget::Current, driver: "here".to_owned() };
    engine.submit(session, &person(), Command::Auto(command)).await.unwrap();
}

fn tomorrow() -> Timestamp {
    Timestamp::now() + SignedDuration::from_hours(25)
}

async fn with_runs(ledger: &dyn Ledger, which: RunsFilter) -> Vec<SessionIdentity> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = ledger.sessions_with_runs(which, after, 2).await.unwrap();
        found.extend(page.items.into_iter().map(|stored| stored.session.identity));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

pub(crate) async fn a_due_session_is_taken_once_until_its_time_is_over(store: &Store) {
    let (engine, ledger) = (store.engine().await, store.ledger().await);
    let (daily, hourly) = (session("cli:session-one"), session("cli:session-two"));
    // At every time of the day the daily one is due after the hourly one.
    let hour = (Timestamp::now().to_zoned(TimeZone::UTC).hour() + 2) % 24;
    schedule(&engine, &daily, &format!("30 {hour} * * *")).await;
    schedule(&engine, &hourly, "0 * * * *").await;
    engine.sessions().open(&session("cli:session-none"), &person()).await.unwrap();
    assert_eq!(ledger.take_due(Timestamp::now(), KEEP, 10).await.unwrap(), []);
    // The longest due comes first.
    let taken = ledger.take_due(tomorrow(), KEEP, 10).await.unwrap();
    assert_eq!(taken, [hourly.clone(), daily.clone()]);
    assert_eq!(ledger.take_due(tomorrow(), KEEP, 10).await.unwrap(), []);
    // A process that died after it took them does not keep them.
    let later = tomorrow() + SignedDuration::from_secs(61);
    assert_eq!(ledger.take_due(later, KEEP, 1).await.unwrap(), std::slice::from_ref(&hourly));
    assert_eq!(ledger.take_due(later, KEEP, 10).await.unwrap(), std::slice::from_ref(&daily));
    // A schedule that changed can be taken again at once, and a paused one not at all.
    let state = engine.auto().state(&daily).await.unwrap();
    let change = |change| AutoCommand::ChangeSchedule { schedule: state.schedules[0].id.clone(), change };
    engine.auto().schedule(&daily, &person(), change(ScheduleChange::Pause)).await.unwrap();
    assert_eq!(ledger.take_due(later + SignedDuration::from_hours(1), KEEP, 10).await.unwrap(), [hourly]);
    engine.auto().schedule(&daily, &person(), change(ScheduleChange::Resume)).await.unwrap();
    assert_eq!(ledger.take_due(later, KEEP, 10).await.unwrap(), [daily]);
    assert_whole(&engine).await;
}

pub(crate) async fn many_who_take_due_sessions_get_each_once(store: &Store) {
    const SESSIONS: usize = 200;
    let engine = store.engine().await;
    let sessions: Vec<_> = (0..SESSIONS).map(nth_session).collect();
    join_all(sessions.iter().map(|one| schedule(&engine, one, "0 * * * *"))).await;
    let servers = [store.ledger().await, store.ledger().await, store.ledger().await];
    let due = tomorrow();
    let take = |ledger: Arc<dyn Ledger>| async move {
        let mut mine = Vec::new();
        loop {
            let taken = ledger.take_due(due, KEEP, 7).await.unwrap();
            if taken.is_empty() {
                return mine;
            }
            mine.extend(taken);
        }
    };
    let taken = join_all(servers.map(take)).await;
    // One that found every row locked by others may have ended early; the rest is there for the next look.
    let mut all: Vec<_> = taken.into_iter().flatten().collect();
    all.extend(store.ledger().await.take_due(due, KEEP, SESSIONS as u32).await.unwrap());
    assert_eq!(all.len(), SESSIONS, "none is taken twice");
    let different: BTreeSet<_> = all.into_iter().collect();
    assert_eq!(different, sessions.into_iter().collect());
}

pub(crate) async fn sessions_with_runs_are_found_by_their_state(store: &Store) {
    let (engine, ledger) = (store.engine().await, store.ledger().await);
    let names: Vec<_> = (0..5).map(nth_session).collect();
    for one in &names {
        start(&engine, one).await;
    }
    assert_eq!(with_runs(ledger.as_ref(), RunsFilter::Running).await, names);
    assert_eq!(with_runs(ledger.as_ref(), RunsFilter::Waiting).await, []);
    let run = engine.auto().state(&names[1]).await.unwrap().runs[0].id().clone();
    let interrupt = Command::Auto(AutoCommand::Interrupt { run });
    engine.submit(&names[1], &Actor::system("cli"), interrupt).await.unwrap();
    let stop = Command::Auto(AutoCommand::Stop { run: None });
    engine.submit(&names[2], &person(), stop).await.unwrap();
    let running = [&names[0], &names[3], &names[4]].map(Clone::clone);
    assert_eq!(with_runs(ledger.as_ref(), RunsFilter::Running).await, running);
    assert_eq!(with_runs(ledger.as_ref(), RunsFilter::Waiting).await, [names[1].clone()]);
    assert_whole(&engine).await;
}

pub(crate) async fn a_deleted_session_has_no_schedule_and_no_run(store: &Store) {
    let engine = store.engine().await;
    let (gone, kept) = (session("cli:session-one"), session("cli:session-two"));
    for one in [&gone, &kept] {
        schedule(&engine, one, "0 * * * *").await;
        start(&engine, one).await;
    }
    assert_eq!(store.look("SELECT CAST(count(*) AS TEXT) FROM auto_session").await, "2");
    let lease = engine.ledger().acquire_lease(&gone, "deleting", KEEP).await.unwrap().unwrap();
    engine.ledger().delete_session(&lease).await.unwrap();
    assert_eq!(store.look("SELECT CAST(count(*) AS TEXT) FROM auto_session").await, "1");
    let ledger = store.ledger().await;
    assert_eq!(ledger.take_due(tomorrow(), KEEP, 10).await.unwrap(), std::slice::from_ref(&kept));
    assert_eq!(with_runs(ledger.as_ref(), RunsFilter::Running).await, [kept]);
}

pub(crate) async fn a_restored_session_has_its_schedules_and_runs(store: &Store) {
    let engine = store.engine().await;
    let one = session("cli:session-one");
    schedule(&engine, &one, "0 * * * *").await;
    start(&engine, &one).await;
    let entries = journal(store.ledger().await.as_ref(), &one).await;
    let other = store.another().await;
    let ledger = other.ledger().await;
    ledger.restore(&one, Arc::new(entries)).await.unwrap();
    assert_eq!(ledger.take_due(tomorrow(), KEEP, 10).await.unwrap(), std::slice::from_ref(&one));
    assert_eq!(with_runs(ledger.as_ref(), RunsFilter::Running).await, std::slice::from_ref(&one));
    let restored = other.engine().await;
    assert_eq!(restored.auto().state(&one).await.unwrap(), engine.auto().state(&one).await.unwrap());
    assert_whole(&restored).await;
}

/// Sessions that are due within one second before `now`, the first one the longest. They have rows and no journal: making them
/// by commands takes minutes.
async fn make_due_sessions(store: &Store, count: usize, now: Timestamp) {
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {count} - 1)");
    store
        .tamper(&match store {
            Store::Sqlite { .. } => format!(
                "{numbers} INSERT INTO session (channel, conversation, state, seq)
                 SELECT 'cli', printf('due-session-%05d', i), '{{}}', 1 FROM n"
            ),
            Store::Postgres { .. } => format!(
                "{numbers} INSERT INTO session (channel, conversation, head_seq, head_hash, state, last_active)
                 SELECT 'cli', 'due-session-' || lpad(i::text, 5, '0'), 1, '', '{{}}', 0 FROM n"
            ),
        })
        .await;
    let first = now.as_microsecond() - 1_000_000;
    let rows = store
        .tamper(&format!(
            "INSERT INTO auto_session (session_id, due_at, running, waits, taken_until)
             SELECT id, {first} + CAST(substr(conversation, 13) AS INTEGER) * 100, false, false, 0 FROM session"
        ))
        .await;
    assert_eq!(rows, count as u64);
}

pub(crate) async fn ten_thousand_sessions_due_in_one_second_are_taken_in_order_and_none_twice(store: &Store) {
    const SESSIONS: usize = 10_000;
    const PAGE: u32 = 128;
    let (dies, one, other) = (store.ledger().await, store.ledger().await, store.ledger().await);
    let now = tomorrow();
    make_due_sessions(store, SESSIONS, now).await;
    let name = |number: usize| session(&format!("cli:due-session-{number:05}"));
    // The longest due come first. The server that took them dies, and its time is over after a second.
    let lost = dies.take_due(now, Duration::from_secs(1), PAGE).await.unwrap();
    assert_eq!(lost, (0..PAGE as usize).map(name).collect::<Vec<_>>());
    let take = |ledger: Arc<dyn Ledger>| async move {
        let mut mine = Vec::new();
        loop {
            let taken = ledger.take_due(now, KEEP, PAGE).await.unwrap();
            if taken.is_empty() {
                return mine;
            }
            mine.extend(taken);
        }
    };
    let (first, second) = futures::join!(take(Arc::clone(&one)), take(other));
    for mine in [&first, &second] {
        assert!(mine.is_sorted(), "the longest due come first");
    }
    let mut all: Vec<_> = first.into_iter().chain(second).collect();
    // One that found every row locked by the other may have ended early.
    all.extend(one.take_due(now, KEEP, SESSIONS as u32).await.unwrap());
    assert_eq!(all.len(), SESSIONS - PAGE as usize, "none is taken twice, and none that the dead server has");
    let later = now + SignedDuration::from_secs(2);
    let taken_over = one.take_due(later, KEEP, SESSIONS as u32).await.unwrap();
    assert_eq!(taken_over, lost);
    all.extend(taken_over);
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), (0..SESSIONS).map(name).collect());
}

/// The clocks of the machines that write and ask have no part in it.
pub(crate) async fn an_agent_is_silent_by_the_clock_of_the_store(store: &Store) {
    const PROGRAM: &str = "agent/another machine/12/34";
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let silent = async || other.silent_for(PROGRAM).await.unwrap();
    assert_eq!(silent().await, None);
    ledger.sign_of_life(PROGRAM).await.unwrap();
    let minutes = |count: u64| Duration::from_secs(60 * count);
    assert!(silent().await.is_some_and(|age| age < minutes(60)));
    // A process whose clock is days ahead forgets none of them.
    let far_ahead = Timestamp::now() + SignedDuration::from_hours(24 * 30);
    other.heartbeat("a host/12", far_ahead).await.unwrap();
    assert!(silent().await.is_some_and(|age| age < minutes(60)));
    let older = |minutes: i64| {
        format!("UPDATE process_heartbeat SET at = at - {} WHERE process = '{PROGRAM}'", minutes * 60_000_000)
    };
    assert_eq!(store.tamper(&older(120)).await, 1);
    assert!(silent().await.is_some_and(|age| age >= minutes(120) && age < minutes(180)));
    // As after the clock of the store was set back: it fails closed.
    assert_eq!(store.tamper(&older(-60 * 24 * 2)).await, 1);
    assert_eq!(silent().await, Some(Duration::ZERO));
    assert_eq!(store.tamper(&older(60 * 24 * 4)).await, 1);
    ledger.sign_of_life("agent/another machine/13/34").await.unwrap();
    assert_eq!(silent().await, None, "after a day it is forgotten");
}

pub(crate) async fn a_process_is_alive_when_it_says_so_and_forgotten_after_a_day(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let start: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
    assert_eq!(ledger.alive_at("a host/12").await.unwrap(), None);
    ledger.heartbeat("a host/12", start).await.unwrap();
    ledger.heartbeat("a host/1", start + SignedDuration::from_secs(20)).await.unwrap();
    assert_eq!(other.alive_at("a host/12").await.unwrap(), Some(start));
    let later = start + SignedDuration::from_secs(40);
    other.heartbeat("a host/12", later).await.unwrap();
    assert_eq!(ledger.alive_at("a host/12").await.unwrap(), Some(later));
    // Records of other kinds are left alone.
    assert!(ledger.put_keyed_record("alive", 0, "0").await.unwrap());
    assert!(ledger.put_keyed_record("b", 0, "0").await.unwrap());
    let tomorrow = start + SignedDuration::from_secs(24 * 3_600 + 30);
    ledger.heartbeat("another host/3", tomorrow).await.unwrap();
    assert_eq!(ledger.alive_at("a host/1").await.unwrap(), None);
    assert_eq!(ledger.alive_at("a host/12").await.unwrap(), Some(later));
    for kept in ["alive", "b"] {
        assert!(ledger.keyed_record(kept).await.unwrap().is_some(), "{kept}");
    }
}
