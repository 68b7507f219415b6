//! All sessions together: the plans that wait, the work that no process does, and the counts.

use std::time::Duration;

use planwright_core::ask::{AskAnswer, AskSubject, CallToPermit, Grant};
use planwright_core::command::{AnswerCommand, Command, ExecutionCommand};
use planwright_core::plan::execution::Pause;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::{Lease, Ledger, Page};
use planwright_engine::server_ledger::{PlanAnywhere, ServerLedger, StoreCounts, Unfinished};
use serde_json::json;
use tokio::time::timeout;

use super::concurrency::any_mix_of_commands;
use super::damage::here;
use super::runs::{carry_out, executing};
use crate::commands::*;
use crate::stores::Store;
use crate::turns::*;
use crate::verification::whats;

const LONG: Duration = Duration::from_secs(600);
/// Only reached if something never comes.
const TIMEOUT: Duration = Duration::from_secs(30);
const EVERY: [PlanStatus; 9] = [
    PlanStatus::Collecting,
    PlanStatus::Ready,
    PlanStatus::Approved,
    PlanStatus::Executing,
    PlanStatus::Completed,
    PlanStatus::PartiallyCompleted,
    PlanStatus::Rejected,
    PlanStatus::Cancelled,
    PlanStatus::Superseded,
];

fn named(page: &Page<PlanAnywhere>) -> Vec<(String, u32)> {
    page.items.iter().map(|found| (found.session.to_string(), found.plan.number)).collect()
}

fn plans(names: &[(&str, u32)]) -> Vec<(String, u32)> {
    names.iter().map(|(session, number)| ((*session).to_owned(), *number)).collect()
}

pub(crate) async fn plans_are_found_in_every_session_the_latest_first(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    let there = session("web:k3yk3y8x");
    assert!(ledger.plans_anywhere(&EVERY, None, 10).await.unwrap().items.is_empty());
    let plan = executing(&engine, 2).await;
    ready(&engine, &there, "# First").await;
    let rejected = ready(&engine, &there, "# Second").await;
    engine.submit(&there, &person(), reject(&rejected.id)).await.unwrap();
    planning(&engine, &session("mcp:k3yk3y8x"), PlanStyle::Build).await;

    let of = async |statuses: &[PlanStatus]| ledger.plans_anywhere(statuses, None, 10).await.unwrap();
    let waiting = of(&[PlanStatus::Ready, PlanStatus::Executing]).await;
    assert_eq!(named(&waiting), plans(&[("web:k3yk3y8x", 1), ("cli:k3yk3y8x", 1)]));
    assert_eq!(waiting.next, None);
    assert_eq!(waiting.items.iter().map(|found| found.active).collect::<Vec<_>>(), [false, true]);
    // A step that ends changes its plan, though not the plan's own row.
    carry_out(&engine, &plan, 1, "done").await;
    let waiting = of(&[PlanStatus::Ready, PlanStatus::Executing]).await;
    assert_eq!(named(&waiting), plans(&[("cli:k3yk3y8x", 1), ("web:k3yk3y8x", 1)]));
    assert_eq!(waiting.items[0].plan, engine.plans().list(&here(), None, 1).await.unwrap().items[0]);

    assert_eq!(named(&of(&[PlanStatus::Ready]).await), plans(&[("web:k3yk3y8x", 1)]));
    assert_eq!(named(&of(&[PlanStatus::Rejected]).await), plans(&[("web:k3yk3y8x", 2)]));
    assert_eq!(named(&of(&[PlanStatus::PartiallyCompleted]).await), []);
    assert_eq!(named(&of(&[]).await), []);
    let all = [("mcp:k3yk3y8x", 1), ("cli:k3yk3y8x", 1), ("web:k3yk3y8x", 2), ("web:k3yk3y8x", 1)];
    let (mut all, mut found) = (plans(&all), named(&of(&EVERY).await));
    all.sort();
    found.sort();
    assert_eq!(found, all);
}

pub(crate) async fn plans_anywhere_are_paged(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..7 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    for statuses in [&[PlanStatus::Ready][..], &EVERY] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = ledger.plans_anywhere(statuses, after, 3).await.unwrap();
            found.extend(page.items.into_iter().map(|found| found.session));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, (0..7).rev().map(nth_session).collect::<Vec<_>>());
    }
}

pub(crate) async fn a_write_between_two_pages_of_plans_hides_and_repeats_nothing_else(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..9 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    let statuses = [PlanStatus::Ready];
    let first = ledger.plans_anywhere(&statuses, None, 3).await.unwrap();
    // Of the first page one is decided and one is written anew; a new one joins.
    let rejected = engine.plans().active(&nth_session(8)).await.unwrap();
    engine.plans().reject(&nth_session(8), &person(), &rejected.id, None).await.unwrap();
    ready(&engine, &nth_session(6), "# Plan again").await;
    ready(&engine, &nth_session(9), "# Plan").await;
    let (mut found, mut after) = (first.items, first.next);
    while after.is_some() {
        let page = ledger.plans_anywhere(&statuses, after, 3).await.unwrap();
        found.extend(page.items);
        after = page.next;
    }
    let found: Vec<_> = found.into_iter().map(|found| found.session).collect();
    assert_eq!(found, (0..9).rev().map(nth_session).collect::<Vec<_>>());
}

pub(crate) async fn damage_hides_no_plan_of_others(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..4 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    let of = |n: usize| format!("(SELECT id FROM session WHERE conversation = 'session-{n:05}')");
    for tampering in [
        format!("UPDATE plan SET style = 'nonsense' WHERE session_id = {}", of(0)),
        format!("UPDATE plan SET updated_at = -9223372036854775807 WHERE session_id = {}", of(1)),
        "UPDATE session SET state = 'nonsense' WHERE conversation = 'session-00002'".to_owned(),
    ] {
        assert_eq!(store.tamper(&tampering).await, 1, "{tampering}");
    }
    let page = ledger.plans_anywhere(&[PlanStatus::Ready], None, 10).await.unwrap();
    assert_eq!(named(&page), plans(&[("web:session-00003", 1)]));
    let mut damaged = whats(&page.damaged);
    damaged.sort_unstable();
    assert_eq!(damaged, ["plan 1 of web:session-00000", "plan 1 of web:session-00001", "plan 1 of web:session-00002"]);
}

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
async fn left(ledger: &dyn ServerLedger, sessions: usize) -> Vec<Unfinished> {
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

/// Asks for permission, which this turn waits for.
async fn ask_for_permission(engine: &Engine, session: &SessionIdentity, request: &str) {
    let call = CallToPermit { tool: "a".to_owned(), arguments: json!({ "b": 1 }), reason: "a rule".to_owned() };
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
    let answer = AskAnswer::Permission { grant: Grant::Once, note: None };
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

pub(crate) async fn everything_is_counted(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    assert_eq!(ledger.counts().await.unwrap(), StoreCounts::default());
    executing(&engine, 2).await;
    for n in 0..3 {
        ready(&engine, &nth_session(n), "# Plan").await;
    }
    engine.sessions().open(&nth_session(3), &person()).await.unwrap();
    engine.submit(&nth_session(3), &person(), begin("Hello")).await.unwrap();
    engine.submit(&nth_session(0), &person(), off()).await.unwrap();
    let census = StoreCounts { sessions: 5, planning: 3, turns: 1, plans_ready: 3, plans_executing: 1 };
    assert_eq!(ledger.counts().await.unwrap(), census);
    let lease = ledger.acquire_lease(&nth_session(1), "deleting", LONG).await.unwrap().unwrap();
    ledger.delete_session(&lease).await.unwrap();
    engine.submit(&nth_session(3), &person(), stop()).await.unwrap();
    let census = StoreCounts { sessions: 4, planning: 2, turns: 0, plans_ready: 2, plans_executing: 1 };
    assert_eq!(ledger.counts().await.unwrap(), census);
}

/// What stands in columns of its own is what the sessions say.
pub(crate) async fn assert_counts_agree(store: &Store, ledger: &dyn ServerLedger, engine: &Engine) {
    let mut counted = StoreCounts::default();
    for stored in ledger.sessions(None, 100).await.unwrap().items {
        let (session, name) = (&stored.session, &stored.session.identity.conversation);
        for (column, says) in [("turn_open", session.turn.is_some()), ("planning", session.plan_mode.enabled)] {
            let sql = format!("SELECT CAST(count(*) AS TEXT) FROM session WHERE conversation = '{name}' AND {column}");
            assert_eq!(store.look(&sql).await, u64::from(says).to_string(), "{column} of {name}");
        }
        counted.sessions += 1;
        counted.planning += u64::from(session.plan_mode.enabled);
        counted.turns += u64::from(session.turn.is_some());
        let (plans, _) = engine.ledger().stored_plans(&session.identity).await.unwrap();
        let of = |status| plans.values().filter(|plan| plan.status == status).count() as u64;
        counted.plans_ready += of(PlanStatus::Ready);
        counted.plans_executing += of(PlanStatus::Executing);
        let paused = |plan: &Plan| plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
        let works = |plan: &Plan| plan.status == PlanStatus::Executing && !paused(plan);
        let is_unfinished = session.turn.is_some() || plans.values().any(works);
        let listed = ledger.unfinished(None, 100).await.unwrap().items;
        assert_eq!(listed.iter().any(|found| found.session == session.identity), is_unfinished, "{name}");
    }
    assert_eq!(ledger.counts().await.unwrap(), counted);
}

pub(crate) async fn after_any_mix_of_commands_the_counts_agree(store: &Store) {
    any_mix_of_commands(store).await;
    assert_counts_agree(store, store.ledger().await.as_ref(), &store.engine().await).await;
}
