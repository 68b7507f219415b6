//! A command is stored when it is answered, and a refused one leaves nothing.

use futures::future::join_all;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;

use crate::commands::*;
use crate::stores::Store;
use crate::verification::{assert_no_gaps, assert_whole};

pub(crate) async fn a_commit_is_seen_through_a_second_handle_at_once(store: &Store) {
    let (writer, reader) = (store.engine().await, store.engine().await);
    let here = session("cli:k3yk3y8x");
    planning(&writer, &here, PlanStyle::Document).await;
    for n in 1..=10 {
        let text = format!("version {n}");
        let written = draft(&writer, &here, set(&text)).await;
        let seen = reader.plans().active(&here).await.unwrap();
        assert_eq!(seen, active(&written));
        assert_eq!(reader.ledger().session(&here).await.unwrap().unwrap().head.seq, written.seq);
        // And the other way round: the second handle builds on what the first one wrote.
        let written = draft(&reader, &here, set(&format!("{text} again"))).await;
        assert_eq!(writer.plans().active(&here).await.unwrap(), active(&written));
    }
    assert_eq!(assert_no_gaps(&reader, &here).await, 3 + 20);
}

pub(crate) async fn opening_again_finds_everything(store: &Store) {
    let here = session("cli:k3yk3y8x");
    let engine = store.engine().await;
    let plan = ready(&engine, &here, "1. Pack\n2. Drive").await;
    engine.submit(&here, &person(), approve(&plan)).await.unwrap();
    let before = (
        engine.ledger().session(&here).await.unwrap().unwrap(),
        engine.ledger().journal(&here, 0, 100).await.unwrap(),
        engine.ledger().snapshot(&here, None).await.unwrap(),
    );
    drop(engine);

    let engine = store.engine().await;
    let session = engine.ledger().session(&here).await.unwrap().unwrap();
    assert_eq!(
        (session.session, session.head, session.last_active),
        (before.0.session, before.0.head, before.0.last_active)
    );
    assert_eq!(engine.ledger().journal(&here, 0, 100).await.unwrap(), before.1);
    assert_eq!(engine.ledger().snapshot(&here, None).await.unwrap(), before.2);
    assert_eq!(engine.plans().active(&here).await.unwrap().status, PlanStatus::Approved);
    assert_whole(&engine).await;
}

pub(crate) async fn many_can_open_a_fresh_store_at_once(store: &Store) {
    let ledgers = join_all((0..8).map(|_| store.open())).await;
    for (n, ledger) in ledgers.into_iter().enumerate() {
        let submission = submission(&nth_session(n), &format!("open-{n}"), open());
        ledger.unwrap().submit(submission).await.unwrap();
    }
    assert_eq!(assert_whole(&store.engine().await).await.chains.len(), 8);
}

pub(crate) async fn a_refused_command_leaves_nothing_behind(store: &Store) {
    let engine = store.engine().await;
    let too_short = session("cli:abc");
    refused(engine.sessions().open(&too_short, &person()).await, RefusalCode::NotFound);
    let missing = session("cli:k3yk3y8x");
    for command in [on(PlanStyle::Document), off(), reset()] {
        refused(engine.submit(&missing, &person(), command).await, RefusalCode::NotFound);
    }
    for session in [&too_short, &missing] {
        assert!(engine.ledger().session(session).await.unwrap().is_none());
        assert!(engine.ledger().sessions_with_key(&session.conversation).await.unwrap().is_empty());
    }
    assert!(engine.sessions().list(None, 10).await.unwrap().items.is_empty());

    planning(&engine, &missing, PlanStyle::Document).await;
    let before = engine.ledger().session(&missing).await.unwrap().unwrap().head;
    refused(engine.submit(&missing, &agent(), set("  \n ")).await, RefusalCode::InvalidArgument);
    refused(engine.submit(&missing, &agent(), record(1)).await, RefusalCode::PolicyDenied);
    assert_eq!(engine.ledger().session(&missing).await.unwrap().unwrap().head, before);
    assert_whole(&engine).await;
}

pub(crate) async fn a_command_with_nothing_to_change_writes_nothing(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    let first = planning(&engine, &here, PlanStyle::Collect).await;
    let before = engine.ledger().session(&here).await.unwrap().unwrap();
    for command in [open(), on(PlanStyle::Collect)] {
        let committed = engine.submit(&here, &person(), command).await.unwrap();
        assert!(committed.events.is_empty());
        assert_eq!(committed.seq, before.head.seq);
        assert_eq!(active(&committed), first);
    }
    let after = engine.ledger().session(&here).await.unwrap().unwrap();
    assert_eq!((after.head, after.last_active), (before.head, before.last_active));
}

pub(crate) async fn the_desk_afterwards_has_the_active_and_the_named_plan(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    let parked = ready(&engine, &here, "# Parked").await;
    let second = engine.sessions().enable_plan_mode(&here, &person(), PlanStyle::Document).await.unwrap();
    let second = active(&second);
    assert_ne!(parked.id, second.id);

    let committed = engine.submit(&here, &person(), approve(&parked)).await.unwrap();
    assert_eq!(committed.snapshot.active().unwrap().id, second.id);
    assert_eq!(committed.snapshot.plan(&parked.id).unwrap().status, PlanStatus::Approved);
    assert_eq!(names(&committed.events), ["plan_approved"]);

    let committed = engine.submit(&here, &person(), revise(&parked.id)).await.unwrap();
    let successor = committed.snapshot.active().unwrap();
    assert_eq!(successor.supersedes.as_ref(), Some(&parked.id));
    assert_eq!(committed.snapshot.plan(&parked.id).unwrap().superseded_by.as_ref(), Some(&successor.id));
    assert_eq!(engine.plans().active(&here).await.unwrap().id, successor.id);
}

pub(crate) async fn a_plan_of_another_session_is_not_found(store: &Store) {
    let engine = store.engine().await;
    let (here, there) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    let plan = ready(&engine, &there, "# Theirs").await;
    engine.sessions().open(&here, &person()).await.unwrap();
    for command in [approve(&plan), reject(&plan.id), revise(&plan.id), cancel(&plan.id), resume(&plan.id)] {
        refused(engine.submit(&here, &person(), command).await, RefusalCode::NotFound);
    }
    refused(engine.plans().get(&here, &plan.id).await, RefusalCode::NotFound);
    assert!(engine.ledger().snapshot(&here, Some(&plan.id)).await.unwrap().plans.is_empty());
    assert!(engine.ledger().plan_journal(&here, &plan.id).await.unwrap().is_empty());
    assert!(engine.ledger().candidates(&here, &plan.id.as_str().parse().unwrap()).await.unwrap().is_empty());
    assert_eq!(engine.plans().get(&there, &plan.id).await.unwrap(), plan);
}

pub(crate) async fn an_import_opens_its_session(store: &Store) {
    let engine = store.engine().await;
    let old = session("legacy:7");
    let committed = engine.submit(&old, &person(), import("old-plan")).await.unwrap();
    assert_eq!(names(&committed.events), ["session_opened", "plan_imported"]);
    assert_eq!(committed.seq, 2);
    let plan = engine.plans().get(&old, &committed.snapshot.plans.keys().next().unwrap().clone()).await.unwrap();
    assert_eq!(plan.title.as_deref(), Some("from before"));
    refused(engine.submit(&old, &person(), import("old-plan")).await, RefusalCode::Conflict);
    assert_eq!(assert_no_gaps(&engine, &old).await, 2);
    assert_whole(&engine).await;
}

pub(crate) async fn an_id_that_another_session_has_cannot_be_imported(store: &Store) {
    let engine = store.engine().await;
    let (here, there) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    let plan = ready(&engine, &there, "# Theirs").await;
    refused(engine.submit(&here, &person(), import(plan.id.as_str())).await, RefusalCode::Conflict);
    assert!(engine.ledger().session(&here).await.unwrap().is_none(), "a session was left behind");
    assert_eq!(engine.ledger().session_of(&plan.id).await.unwrap(), Some(there.clone()));
    assert_eq!(engine.plans().get(&there, &plan.id).await.unwrap(), plan);
    assert_whole(&engine).await;
}

pub(crate) async fn an_id_is_imported_once_however_many_want_it(store: &Store) {
    let engines = [store.engine().await, store.engine().await];
    let imports = (0..40).map(|n| {
        let engine = engines[n % 2].clone();
        // Each second session exists already, so that both ways are tried.
        async move {
            let session = nth_session(n);
            if n % 4 < 2 {
                engine.sessions().open(&session, &person()).await.unwrap();
            }
            (session.clone(), engine.submit(&session, &person(), import("wanted-by-all")).await)
        }
    });
    let outcomes = join_all(imports.map(tokio::spawn)).await;
    let mut winners = Vec::new();
    for outcome in outcomes {
        let (session, outcome) = outcome.unwrap();
        match outcome {
            Ok(_) => winners.push(session),
            lost => drop(refused(lost, RefusalCode::Conflict)),
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    let [engine, _] = engines;
    let home = engine.ledger().session_of(&"wanted-by-all".to_owned().try_into().unwrap()).await.unwrap();
    assert_eq!(home.as_ref(), winners.first());
    let opened = 20 + usize::from(!(0..40).any(|n| n % 4 < 2 && Some(nth_session(n)) == home));
    assert_eq!(engine.sessions().list(None, 100).await.unwrap().items.len(), opened);
    assert_whole(&engine).await;
}
