//! The work that no process does, and turns that ask a person.

use std::time::Duration;

use planwright_core::ask::{AskAnswer, AskSubject, CallToPermit, Grant};
use planwright_core::command::{AnswerCommand, Command, ExecutionCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::Pause;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::{Lease, Ledger, Unfinished};
use serde_json::json;
use tokio::time::timeout;

use crate::commands::*;
use crate::contract::damage::here;
use crate::contract::runs::executing;
use crate::stores::Store;
use crate::turns::*;

const LONG: Duration = Duration::from_secs(600);
/// Only reached if something never comes.
const TIMEOUT: Duration = Duration::from_secs(30);

async fn begin_turn(ledger: &dyn Ledger, session: &SessionIdentity, owner: &str, ttl: Duration) -> Lease {
    let request = format!("turn-of-{}", session.conversation);
    let begun = taking(owner, ttl, submission(session, &request, begin("Hello")));
    ledger.submit(begun).await.unwrap().lease.unwrap()
}

async fn end_turn(ledger: &dyn Ledger, lease: &Lease) {
    let turn = format!("turn-of-{}", lease.session.conversation);
    let request = format!("end-of-{}", lease.session.conversation);
    ledger.submit(letting_go(lease, submission(&lease.session, &request, end(&turn)))).await.unwrap();
}

/// Waits until a lease that runs for next to no time has run out, by the clock that counts.
async fn left(ledger: &dyn Ledger, sessions: usize) -> Vec<Unfinished> {
    let waiting = async {
        loop {
            let found = ledger.unfinished(None, 100).await.unwrap().items;
            if found.len() == sessions {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(TIMEOUT, waiting).await.expect("something is not listed, or too much is")
}

pub(crate) async fn work_that_no_process_does_is_found(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, []);
    let (talking, idle) = (session("web:talking1"), session("web:idle-idle"));
    executing(&engine, 2).await;
    for session in [&talking, &idle] {
        engine.sessions().open(session, &person()).await.unwrap();
    }
    ready(&engine, &idle, "# Waits for a person").await;
    let lease = begin_turn(ledger.as_ref(), &talking, "crashed", Duration::from_millis(1)).await;
    let seq = engine.ledger().session(&here()).await.unwrap().unwrap().head.seq;
    let carried_out = Unfinished { session: here(), seq, left_by: None };
    let talked = Unfinished { session: talking.clone(), seq: 2, left_by: Some(lease.clone()) };
    assert_eq!(left(ledger.as_ref(), 2).await, [carried_out.clone(), talked.clone()]);
    assert_eq!(ledger.unfinished(None, 1).await.unwrap().items, std::slice::from_ref(&carried_out));
    assert_eq!(ledger.unfinished(None, 0).await.unwrap().items, []);
    engine.submit(&here(), &person(), begin("And now?")).await.unwrap();
    let carried_out = Unfinished { seq: seq + 1, ..carried_out };
    // The order is that of the keys, whichever session is written to.
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, [carried_out.clone(), talked]);
    end_turn(ledger.as_ref(), &lease).await;
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, [carried_out]);
    engine.submit(&here(), &person(), stop()).await.unwrap();
    let plan = engine.plans().active(&here()).await.unwrap();
    engine.submit(&here(), &person(), cancel(&plan.id)).await.unwrap();
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, []);
}

pub(crate) async fn work_that_a_process_does_is_not_listed(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    executing(&engine, 2).await;
    let held = ledger.acquire_lease(&here(), "working", LONG).await.unwrap().unwrap();
    engine.sessions().open(&nth_session(1), &person()).await.unwrap();
    begin_turn(ledger.as_ref(), &nth_session(1), "talking", LONG).await;
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, []);
    ledger.release_lease(&held).await.unwrap();
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items.len(), 1);
}

pub(crate) async fn the_work_of_a_process_that_ended_is_free_at_once(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for (number, owner) in [(1, "gone"), (2, "gone"), (3, "working")] {
        engine.sessions().open(&nth_session(number), &person()).await.unwrap();
        begin_turn(ledger.as_ref(), &nth_session(number), owner, LONG).await;
    }
    let owners = async |of: Option<&SessionIdentity>, longest| {
        let mut owners = ledger.lease_owners(of, longest).await.unwrap();
        owners.sort_by(|one, other| one.owner.cmp(&other.owner));
        owners.into_iter().map(|found| (found.owner, found.is_too_long)).collect::<Vec<_>>()
    };
    assert_eq!(owners(None, LONG).await, [("gone".to_owned(), false), ("working".to_owned(), false)]);
    assert_eq!(owners(Some(&nth_session(3)), LONG).await, [("working".to_owned(), false)]);
    ledger.shorten_leases("gone", Duration::ZERO).await.unwrap();
    let left = left(ledger.as_ref(), 2).await;
    assert!(left.iter().all(|left| left.left_by.as_ref().is_some_and(|lease| lease.owner == "gone")), "{left:?}");
    assert_eq!(owners(None, LONG).await, [("working".to_owned(), false)]);
    // Who held a session is known until the lease is released.
    assert_eq!(owners(Some(&nth_session(1)), LONG).await, [("gone".to_owned(), false)]);
    let lease = left.iter().find_map(|left| left.left_by.clone().filter(|lease| lease.session == nth_session(1)));
    ledger.release_lease(&lease.expect("its lease")).await.unwrap();
    assert!(owners(Some(&nth_session(1)), LONG).await.is_empty());
    assert!(ledger.acquire_lease(&nth_session(1), "next", LONG).await.unwrap().is_some());
}

/// A clock that was set back leaves leases that would last for hours.
pub(crate) async fn a_lease_that_lasts_too_long_is_shortened(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    engine.sessions().open(&nth_session(1), &person()).await.unwrap();
    let lease = begin_turn(ledger.as_ref(), &nth_session(1), "before the clock was set", LONG).await;
    let minute = Duration::from_secs(60);
    let is_too_long = async || ledger.lease_owners(None, minute).await.unwrap()[0].is_too_long;
    assert!(is_too_long().await);
    ledger.shorten_leases(&lease.owner, minute).await.unwrap();
    assert!(!is_too_long().await);
    assert!(ledger.renew_lease(&lease, minute).await.unwrap(), "a process that works keeps it");
    ledger.shorten_leases(&lease.owner, LONG).await.unwrap();
    assert!(!is_too_long().await, "none becomes longer");
}

/// Asks for permission, which this turn waits for.
async fn ask_for_permission(engine: &Engine, session: &SessionIdentity, request: &str) {
    let call = CallToPermit {
        tool: "a".to_owned(),
        arguments: json!({ "b": 1 }),
        reason: "a rule".to_owned(),
        paths: Vec::new(),
        always: None,
    };
    let subject = AskSubject::Permission(call);
    engine.submit(session, &agent(), note(request, vec![replied("", 1)])).await.unwrap();
    engine.submit(session, &agent(), ask(request, 1, subject)).await.unwrap();
}

pub(crate) async fn a_turn_that_asks_a_person_is_found_and_not_unfinished(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    executing(&engine, 2).await;
    let sessions = [session("web:asking-1"), here(), session("web:asking-2")];
    let mut expected = Vec::new();
    for session in &sessions {
        engine.sessions().open(session, &person()).await.unwrap();
        let begun = engine.submit(session, &person(), begin("Hello")).await.unwrap();
        let turn = begun.snapshot.open_turn().unwrap().id.clone();
        ask_for_permission(&engine, session, turn.as_str()).await;
        expected.push(session.clone());
    }
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, [], "an executing plan waits with its turn");
    let listed = async |after, limit| {
        let page = ledger.asking(after, limit).await.unwrap();
        (page.items.into_iter().map(|stored| stored.session.identity).collect::<Vec<_>>(), page.next)
    };
    let (mut found, next) = listed(None, 2).await;
    let (rest, end) = listed(next, 2).await;
    found.extend(rest);
    found.sort_by_key(ToString::to_string);
    expected.sort_by_key(ToString::to_string);
    assert_eq!((found, end), (expected, None));
    let stored = ledger.session(&sessions[0]).await.unwrap().unwrap().session;
    let asked = stored.waiting_ask().unwrap().clone();
    let answer = AskAnswer::permission(Grant::Once, None);
    let answer = AnswerCommand { ask: asked.id, digest: asked.digest, answer };
    engine.submit(&sessions[0], &person(), Command::Answer(answer)).await.unwrap();
    assert_eq!(listed(None, 10).await.0.len(), 2);
    let unfinished = ledger.unfinished(None, 10).await.unwrap().items;
    assert_eq!(unfinished.iter().map(|left| &left.session).collect::<Vec<_>>(), [&sessions[0]]);
}

pub(crate) async fn a_released_session_is_not_listed_as_left(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    executing(&engine, 2).await;
    let held = ledger.acquire_lease(&here(), "working", LONG).await.unwrap().unwrap();
    ledger.release_lease(&held).await.unwrap();
    assert_eq!(left(ledger.as_ref(), 1).await[0].left_by, None);
    let lost = ledger.acquire_lease(&here(), "lost", Duration::from_millis(1)).await.unwrap().unwrap();
    assert_eq!(left(ledger.as_ref(), 1).await[0].left_by, Some(lost));
}

pub(crate) async fn damage_hides_no_unfinished_work(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..7 {
        engine.sessions().open(&nth_session(n), &person()).await.unwrap();
        engine.submit(&nth_session(n), &person(), begin("Hello")).await.unwrap();
    }
    let damage = "UPDATE session SET state = 'nonsense' WHERE conversation < 'session-00005'";
    assert_eq!(store.tamper(damage).await, 5);
    let (mut found, mut damaged, mut after) = (Vec::new(), 0, None);
    loop {
        let page = ledger.unfinished(after, 2).await.unwrap();
        assert!(page.items.len() + page.damaged.len() <= 2);
        found.extend(page.items.into_iter().map(|found| found.session));
        damaged += page.damaged.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((found, damaged), (vec![nth_session(5), nth_session(6)], 5));
}

pub(crate) async fn unfinished_work_is_walked_by_key_while_sessions_are_written_to(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..9 {
        engine.sessions().open(&nth_session(n), &person()).await.unwrap();
        engine.submit(&nth_session(n), &person(), begin("Hello")).await.unwrap();
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = ledger.unfinished(after, 2).await.unwrap();
        found.extend(page.items.into_iter().map(|found| found.session));
        // What is written between two pages moves no session past the walk.
        for n in 0..9 {
            let request = format!("say-{}-{n}", found.len());
            ledger.submit(submission(&nth_session(n), &request, on(PlanStyle::Document))).await.unwrap();
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, (0..9).map(nth_session).collect::<Vec<_>>());
}

pub(crate) async fn a_paused_execution_is_not_unfinished_until_it_is_resumed(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    executing(&engine, 2).await;
    let plan = engine.plans().active(&here()).await.unwrap();
    let execution = plan.execution.as_ref().unwrap().id.clone();
    let pause = Command::Execution(ExecutionCommand::Pause { plan: plan.id.clone(), execution });
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items.len(), 1);
    engine.submit(&here(), &person(), pause.clone()).await.unwrap();
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, []);
    let stored = store.engine().await.plans().get(&here(), &plan.id).await.unwrap();
    assert!(stored.execution.as_ref().unwrap().paused_since().is_some());
    // To pause what is paused changes nothing.
    assert_eq!(engine.submit(&here(), &person(), pause).await.unwrap().events, []);
    engine.plans().resume(&here(), &person(), &plan.id).await.unwrap();
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items.len(), 1);
    let stored = store.engine().await.plans().get(&here(), &plan.id).await.unwrap();
    assert!(matches!(stored.execution.as_ref().unwrap().pause, Some(Pause::Resumed { .. })));
}

pub(crate) async fn the_lease_that_a_process_holds_can_be_looked_at(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    assert_eq!(ledger.lease(&here()).await.unwrap(), None);
    engine.sessions().open(&here(), &person()).await.unwrap();
    assert_eq!(ledger.lease(&here()).await.unwrap(), None);
    let held = ledger.acquire_lease(&here(), "working", LONG).await.unwrap().unwrap();
    assert_eq!(ledger.lease(&here()).await.unwrap(), Some(held.clone()));
    ledger.release_lease(&held).await.unwrap();
    assert_eq!(ledger.lease(&here()).await.unwrap(), None);
}
