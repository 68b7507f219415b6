//! Schedules and runs, found over all sessions: due ones are taken once, in the order they are due, and all are gone with their
//! session.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::Actor;
use planwright_core::auto::{AutoCommand, NewSchedule, ScheduleChange, StartTarget};
use planwright_core::command::Command;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::server_ledger::{RunsFilter, ServerLedger};

use super::restore::journal;
use crate::commands::*;
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

async fn with_runs(ledger: &dyn ServerLedger, which: RunsFilter) -> Vec<SessionIdentity> {
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
    schedule(&engine, &daily, "0 0 * * *").await;
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
    let take = |ledger: Arc<dyn ServerLedger>| async move {
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

pub(crate) async fn a_process_is_alive_when_it_says_so_and_forgotten_after_a_day(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    let start: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
    assert_eq!(ledger.alive_at("a host/12").await.unwrap(), None);
    ledger.note_alive("a host/12", start).await.unwrap();
    ledger.note_alive("a host/1", start + SignedDuration::from_secs(20)).await.unwrap();
    assert_eq!(other.alive_at("a host/12").await.unwrap(), Some(start));
    let later = start + SignedDuration::from_secs(40);
    other.note_alive("a host/12", later).await.unwrap();
    assert_eq!(ledger.alive_at("a host/12").await.unwrap(), Some(later));
    // Records of other kinds are left alone.
    assert!(ledger.put_chat_record("alive", 0, "0").await.unwrap());
    assert!(ledger.put_chat_record("b", 0, "0").await.unwrap());
    let tomorrow = start + SignedDuration::from_secs(24 * 3_600 + 30);
    ledger.note_alive("another host/3", tomorrow).await.unwrap();
    assert_eq!(ledger.alive_at("a host/1").await.unwrap(), None);
    assert_eq!(ledger.alive_at("a host/12").await.unwrap(), Some(later));
    for kept in ["alive", "b"] {
        assert!(ledger.chat_record(kept).await.unwrap().is_some(), "{kept}");
    }
}
