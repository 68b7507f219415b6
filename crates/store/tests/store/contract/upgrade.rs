//! A store that an earlier version of the program filled.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use planwright_core::event::{Event, SessionEvent};
use planwright_core::journal::{Head, SealedEntry};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::{
    Claim, ClaimedRequest, Lease, LedgerError, LedgerResult, StoreCounts, StoredAnswer, Unfinished,
};

use crate::commands::*;
use crate::contract::damage::{BYSTANDER, here};
use crate::contract::runs::carry_out;
use crate::stores::Store;
use crate::turns::*;
use crate::verification::{assert_no_gaps, assert_whole, chain, whats};

const LONG: Duration = Duration::from_secs(600);

pub(crate) async fn a_store_of_the_first_version_goes_on(store: &Store) {
    store.make_version(1).await;
    assert_eq!(store.schema_version().await, "1");
    let engine = store.engine().await;
    assert_eq!(store.schema_version().await, "17");
    assert_eq!(assert_whole(&engine).await.chains.len(), 2);
    let plan = engine.plans().active(&here()).await.unwrap();
    assert_eq!((plan.status, plan.display_title().as_str()), (PlanStatus::Approved, "Move"));
    let conversation = engine.ledger().conversation(&here(), 0, 10).await.unwrap();
    assert_eq!(conversation.iter().map(|entry| entry.event.name()).collect::<Vec<_>>(), ["session_opened"]);

    // Everything that is new works on what is old.
    let begun = submission(&here(), "turn", begin("Where were we?"));
    let begun = engine.ledger().submit(taking("anew", LONG, begun)).await.unwrap();
    let lease = begun.lease.unwrap();
    assert_eq!((begun.seq, lease.fence), (6, 3));
    engine.submit(&here(), &person(), resume(&plan.id)).await.unwrap();
    engine.submit(&here(), &agent(), report(StepStatus::Completed)).await.unwrap();
    engine.ledger().submit(letting_go(&lease, submission(&here(), "end", end("turn")))).await.unwrap();
    draft(&engine, &session(BYSTANDER), record(2)).await;
    assert_eq!(planning(&engine, &nth_session(1), PlanStyle::Build).await.number, 1);
    let chat = TransportChat("telegram:1".to_owned());
    for session in [&session(BYSTANDER), &here()] {
        engine.ledger().point(&chat, session).await.unwrap();
    }
    assert_eq!(assert_whole(&store.engine().await).await.chains.len(), 3);
    let lease = engine.ledger().acquire_lease(&here(), "deleting", LONG).await.unwrap().unwrap();
    engine.ledger().delete_session(&lease).await.unwrap();
    assert_eq!(engine.ledger().active_session(&chat).await.unwrap(), Some(session(BYSTANDER)));
    assert_eq!(assert_no_gaps(&engine, &session(BYSTANDER)).await, 5);
    assert_eq!(assert_whole(&engine).await.chains.len(), 2);
}

pub(crate) async fn many_can_bring_a_store_up_to_date_at_once(store: &Store) {
    store.make_version(1).await;
    let chat = TransportChat("telegram:1".to_owned());
    for ledger in join_all((0..8).map(|_| store.open())).await {
        ledger.unwrap().point(&chat, &here()).await.unwrap();
    }
    assert_eq!(store.schema_version().await, "17");
    assert_eq!(assert_whole(&store.engine().await).await.chains.len(), 2);
}

pub(crate) async fn outcomes_of_the_second_version_are_moved(store: &Store) {
    store.make_version(2).await;
    let before = store.look("SELECT body FROM plan WHERE style = 'collect'").await;
    let engine = store.engine().await;
    assert_eq!(store.schema_version().await, "17");
    assert_eq!(assert_whole(&engine).await.chains.len(), 2);
    let plan = engine.plans().active(&here()).await.unwrap();
    assert_eq!(*plan, serde_json::from_str(&before).unwrap());
    let runs = &plan.execution.as_ref().unwrap().steps;
    let statuses: Vec<_> = runs.iter().map(|run| run.status).collect();
    assert_eq!(statuses, [StepStatus::Completed, StepStatus::InProgress, StepStatus::Pending]);
    assert_eq!(runs[0].note.as_deref(), Some("it's \0 \"done\" \\ ż"));
    assert!(!store.look("SELECT body FROM plan WHERE style = 'collect'").await.contains("IN_PROGRESS"));

    let plan = carry_out(&engine, &plan, 3, "moved on").await;
    assert_eq!(*store.engine().await.plans().get(&here(), &plan.id).await.unwrap(), plan);
    let ended = engine.submit(&session(BYSTANDER), &agent(), report(StepStatus::Completed)).await.unwrap();
    assert_eq!(active(&ended).status, PlanStatus::Completed);
    assert_whole(&store.engine().await).await;
}

pub(crate) async fn damaged_plans_of_the_second_version_stay_as_they_are(store: &Store) {
    store.make_version(2).await;
    let damage = "UPDATE plan SET body = replace(body, 'IN_PROGRESS', 'MISLAID') WHERE style = 'collect'";
    assert_eq!(store.tamper(damage).await, 1);
    let body = "SELECT body FROM plan WHERE style = 'collect'";
    let kept = store.look(body).await;
    let engine = store.engine().await;
    damaged(engine.plans().active(&here()).await, "plan 1 of cli:k3yk3y8x");
    assert_eq!(whats(&chain(&engine, &here()).await.disagreements), ["plan 1 of cli:k3yk3y8x"]);
    assert!(chain(&engine, &session(BYSTANDER)).await.is_whole());
    assert_eq!(store.look(body).await, kept);
}

pub(crate) async fn sessions_of_the_third_version_are_looked_into(store: &Store) {
    store.make_version(3).await;
    assert_eq!(store.schema_version().await, "3");
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    assert_eq!(store.schema_version().await, "17");
    assert_eq!(assert_whole(&engine).await.chains.len(), 3);
    let census = StoreCounts { sessions: 3, planning: 2, turns: 1, plans_ready: 1, plans_executing: 1 };
    assert_eq!(ledger.counts().await.unwrap(), census);
    let left_by = Some(Lease { session: here(), owner: "gone".to_owned(), fence: 1 });
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, [Unfinished { session: here(), seq: 12, left_by }]);
    let waiting = ledger.plans_anywhere(&[PlanStatus::Ready, PlanStatus::Executing], None, 10).await.unwrap().items;
    let waiting: Vec<_> = waiting.iter().map(|found| (found.session.to_string(), found.plan.status)).collect();
    let ready = (BYSTANDER.to_owned(), PlanStatus::Ready);
    assert_eq!(waiting, [ready, (here().to_string(), PlanStatus::Executing)]);
    for session in [BYSTANDER, "mcp:parked-1", "cli:k3yk3y8x"].map(session) {
        engine.submit(&session, &person(), on(PlanStyle::Document)).await.unwrap();
        assert_eq!(ledger.sessions(None, 10).await.unwrap().items[0].session.identity, session);
    }
    let census = StoreCounts { planning: 3, ..census };

    let taken = submission(&here(), "again", resume_turn("turn"));
    let lease = ledger.submit(taking("anew", LONG, taken)).await.unwrap().lease.unwrap();
    assert_eq!(lease.fence, 2);
    ledger.submit(letting_go(&lease, submission(&here(), "end", end("turn")))).await.unwrap();
    assert_eq!(ledger.counts().await.unwrap(), StoreCounts { turns: 0, ..census });
    assert_whole(&store.engine().await).await;
}

pub(crate) async fn damaged_sessions_of_the_third_version_stay_as_they_are(store: &Store) {
    store.make_version(3).await;
    assert_eq!(store.tamper("UPDATE session SET state = substr(state, 1, 60) WHERE channel = 'cli'").await, 1);
    let state = "SELECT state FROM session WHERE channel = 'cli'";
    let kept = store.look(state).await;
    let ledger = store.ledger().await;
    damaged(ledger.session(&here()).await, "session cli:k3yk3y8x");
    assert_eq!(ledger.unfinished(None, 10).await.unwrap().items, []);
    assert_eq!((ledger.counts().await.unwrap().turns, ledger.counts().await.unwrap().planning), (0, 1));
    assert_eq!(store.look(state).await, kept);
}

/// A newer program upgrades the store while this one has it open.
pub(crate) async fn a_process_older_than_the_schema_writes_nothing(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    let here = here();
    ready(&engine, &here, "# Plan").await;
    let lease = ledger.acquire_lease(&here, "me", LONG).await.unwrap().unwrap();
    let other = ledger.acquire_lease(&here, "me", LONG).await.unwrap().unwrap();
    let request = ClaimedRequest { key: "key".to_owned(), fingerprint: "print".to_owned() };
    ledger.claim(&request, at(1), LONG).await.unwrap();
    let journal = ledger.journal(&here, 0, 100).await.unwrap();
    store.set_schema_version(18).await;

    let chat = TransportChat("telegram:1".to_owned());
    let answer = StoredAnswer { status: 200, body: "{}".to_owned() };
    let another = ClaimedRequest { key: "another".to_owned(), fingerprint: "print".to_owned() };
    for _ in 0..2 {
        restart(engine.submit(&here, &agent(), set("# Changed")).await);
        restart(engine.sessions().open(&nth_session(1), &person()).await);
        restart(ledger.acquire_lease(&here, "me", LONG).await);
        restart(ledger.renew_lease(&lease, LONG).await);
        restart(ledger.release_lease(&lease).await);
        restart(ledger.delete_session(&other).await);
        restart(ledger.point(&chat, &here).await);
        restart(ledger.claim(&another, at(2), LONG).await);
        restart(ledger.keep_answer("key", &answer).await);
        restart(ledger.forget_claim("key").await);
        restart(ledger.restore(&nth_session(2), Arc::new(restorable(&nth_session(2)))).await);
        assert!(ledger.check_writable().await.unwrap_err().to_string().contains("Restart with the new program"));
    }
    store.set_schema_version(17).await;
    assert_eq!(ledger.journal(&here, 0, 100).await.unwrap(), journal);
    assert_eq!(ledger.count_sessions().await.unwrap(), 1);
    assert_eq!(ledger.claim(&request, at(3), LONG).await.unwrap(), Claim::Begun { at: at(1) });
    assert_eq!(ledger.claim(&another, at(3), LONG).await.unwrap(), Claim::New);
    assert!(ledger.renew_lease(&lease, LONG).await.unwrap());
    draft(&engine, &here, set("# Changed")).await;
    assert_whole(&engine).await;
}

/// The journal of a session that was opened and nothing else.
fn restorable(session: &SessionIdentity) -> Vec<SealedEntry> {
    let submission = submission(session, "restorable", open());
    let mut head = Head::START;
    vec![head.seal(session, &submission.context, &Event::Session(SessionEvent::Opened)).unwrap()]
}

#[track_caller]
fn restart<T: std::fmt::Debug>(outcome: LedgerResult<T>) {
    match outcome {
        Err(error @ LedgerError::TooNew { found: 18, known: 17 }) => {
            assert!(error.to_string().contains("Restart with the new program"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

/// Entries of earlier versions did not say which version they made.
pub(crate) async fn versions_of_earlier_stores_are_numbered(store: &Store) {
    store.make_version(3).await;
    let engine = store.engine().await;
    for (session, kind) in [(here(), "plan_finalized"), (session(BYSTANDER), "content_set")] {
        let plan = engine.plans().active(&session).await.unwrap();
        assert_eq!(plan.version, 1);
        let entry = engine.ledger().version_entry(&session, &plan.id, 1).await.unwrap().unwrap();
        assert_eq!(entry.event.name(), kind);
        assert_eq!(engine.history().version_author(&plan).await.unwrap().unwrap().by, agent());
    }
    draft(&engine, &session(BYSTANDER), set("# Written since")).await;
    let plan = engine.plans().active(&session(BYSTANDER)).await.unwrap();
    let index = engine.ledger().version_index(&plan.session).await.unwrap();
    let numbered: Vec<_> = index.iter().map(|made| (made.version, made.seq)).collect();
    assert_eq!(numbered, [(1, 4), (2, 7)]);
    assert_whole(&engine).await;
}
