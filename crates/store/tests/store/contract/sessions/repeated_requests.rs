//! A request is never carried out twice.

use futures::future::join_all;
use planwright_core::ids::RequestId;
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;

use crate::commands::*;
use crate::stores::Store;
use crate::verification::{assert_no_gaps, assert_whole};

pub(crate) async fn the_same_request_is_carried_out_once(store: &Store) {
    let ledger = store.ledger().await;
    let here = session("cli:k3yk3y8x");
    let requests = [
        ("one", open()),
        ("two", on(PlanStyle::Collect)),
        ("three", record(1)),
        ("four", record(1)),
        ("five", finalize()),
    ];
    for (request, command) in requests {
        let submission = submission(&here, request, command);
        let first = ledger.submit(submission.clone()).await.unwrap();
        let again = ledger.submit(submission.clone()).await.unwrap();
        assert_eq!(
            (&again.events, again.seq, &again.snapshot),
            (&first.events, first.seq, &first.snapshot),
            "{request}"
        );
        // Another process has forgotten nothing either.
        let elsewhere = store.ledger().await.submit(submission).await.unwrap();
        assert_eq!(
            (elsewhere.events, elsewhere.seq, elsewhere.snapshot),
            (first.events, first.seq, first.snapshot),
            "{request}"
        );
    }
    let engine = store.engine().await;
    assert_eq!(engine.plans().active(&here).await.unwrap().content.steps().len(), 2);
    assert_eq!(assert_no_gaps(&engine, &here).await, 6);
    assert_whole(&engine).await;
}

pub(crate) async fn the_same_request_sent_many_times_at_once_is_carried_out_once(store: &Store) {
    let ledgers = [store.ledger().await, store.ledger().await];
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    planning(&engine, &here, PlanStyle::Collect).await;
    for round in 0..5 {
        let submission = submission(&here, &format!("round-{round}"), record(round));
        let sent = (0..20).map(|n| {
            let (ledger, submission) = (ledgers[n % 2].clone(), submission.clone());
            tokio::spawn(async move { ledger.submit(submission).await.unwrap() })
        });
        for committed in join_all(sent).await {
            assert_eq!(names(&committed.unwrap().events), ["step_recorded"]);
        }
        assert_eq!(engine.plans().active(&here).await.unwrap().content.steps().len(), round + 1);
    }
    assert_eq!(assert_no_gaps(&engine, &here).await, 3 + 5);
    assert_whole(&engine).await;
}

pub(crate) async fn the_same_opening_sent_many_times_at_once_opens_once(store: &Store) {
    let ledgers = [store.ledger().await, store.ledger().await];
    let here = session("cli:k3yk3y8x");
    let sent = (0..40).map(|n| {
        let ledger = ledgers[n % 2].clone();
        // Half of them are the same request, the others ask for the same thing by themselves.
        let request = if n < 20 { "same".to_owned() } else { format!("other-{n}") };
        let submission = submission(&here, &request, open());
        tokio::spawn(async move { ledger.submit(submission).await.unwrap() })
    });
    for committed in join_all(sent).await {
        assert_eq!(committed.unwrap().seq, 1);
    }
    let engine = store.engine().await;
    assert_eq!(assert_no_gaps(&engine, &here).await, 1);
    assert_whole(&engine).await;
}

pub(crate) async fn a_request_of_another_session_is_a_conflict(store: &Store) {
    let ledger = store.ledger().await;
    let (here, there) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    ledger.submit(submission(&there, "mine", open())).await.unwrap();
    ledger.submit(submission(&here, "other", open())).await.unwrap();
    refused(ledger.submit(submission(&here, "mine", on(PlanStyle::Document))).await, RefusalCode::Conflict);
    assert_eq!(assert_no_gaps(&store.engine().await, &here).await, 1);
    // Nor can it open a session.
    let third = session("mcp:k3yk3y8x");
    refused(ledger.submit(submission(&third, "mine", open())).await, RefusalCode::Conflict);
    assert!(ledger.session(&third).await.unwrap().is_none());
}

pub(crate) async fn what_a_request_wrote_is_found_in_its_session(store: &Store) {
    let ledger = store.ledger().await;
    let (here, there) = (session("cli:k3yk3y8x"), session("web:k3yk3y8x"));
    let find = async |session: &SessionIdentity, request: &str| {
        let found = ledger.find_request(session, &RequestId::new(request).unwrap()).await.unwrap();
        found.map(|found| (found.events, found.seq))
    };
    for (request, command) in [("open", open()), ("on", on(PlanStyle::Collect)), ("on-again", on(PlanStyle::Collect))] {
        assert_eq!(find(&here, request).await, None, "{request}");
        let committed = ledger.submit(submission(&here, request, command)).await.unwrap();
        // What changed nothing was not written down.
        let written = (!committed.events.is_empty()).then_some((committed.events, committed.seq));
        assert_eq!(find(&here, request).await, written, "{request}");
    }
    // Each of these is all that its request wrote, whatever was written afterwards.
    let (events, seq) = find(&here, "on").await.unwrap();
    assert_eq!((names(&events), seq), (vec!["plan_created", "plan_mode_enabled"], 3));
    let (events, seq) = find(&here, "open").await.unwrap();
    assert_eq!((names(&events), seq), (vec!["session_opened"], 1));
    ledger.submit(submission(&there, "there", open())).await.unwrap();
    assert_eq!(find(&there, "open").await, None);
    assert_eq!(find(&session("mcp:k3yk3y8x"), "open").await, None);
    let unknown = session("cli:never-opened");
    refused(ledger.submit(submission(&unknown, "refused", finalize())).await, RefusalCode::PolicyDenied);
    assert_eq!(find(&unknown, "refused").await, None);
}

pub(crate) async fn a_refused_request_may_be_sent_again(store: &Store) {
    let ledger = store.ledger().await;
    let here = session("cli:k3yk3y8x");
    let early = submission(&here, "early", on(PlanStyle::Document));
    refused(ledger.submit(early.clone()).await, RefusalCode::NotFound);
    ledger.submit(submission(&here, "opening", open())).await.unwrap();
    let committed = ledger.submit(early).await.unwrap();
    assert_eq!(names(&committed.events), ["plan_created", "plan_mode_enabled"]);
}
