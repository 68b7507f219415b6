//! Everything that only looks.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use planwright_core::command::{Command, SessionCommand};
use planwright_core::ids::PlanId;
use planwright_core::journal::Head;
use planwright_core::plan::PlanStyle;
use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::RefusalCode;
use planwright_engine::ledger::{Ledger, Submission};

use crate::commands::*;
use crate::stores::Store;
use crate::turns::{begin, note, replied, tool_ended};
use crate::verification::assert_whole;

pub(crate) async fn a_session_that_is_not_there_is_empty_everywhere(store: &Store) {
    let ledger = store.ledger().await;
    let nowhere = session("cli:k3yk3y8x");
    let plan = PlanId::new("nothing").unwrap();
    assert!(ledger.session(&nowhere).await.unwrap().is_none());
    assert!(ledger.sessions(None, 10).await.unwrap().items.is_empty());
    assert!(ledger.sessions_with_key(&nowhere.conversation).await.unwrap().is_empty());
    let snapshot = ledger.snapshot(&nowhere, Some(&plan)).await.unwrap();
    assert!(snapshot.session.is_none() && snapshot.plans.is_empty());
    assert!(ledger.candidates(&nowhere, &PlanReference::Number(1)).await.unwrap().is_empty());
    assert!(ledger.session_of(&plan).await.unwrap().is_none());
    let plans = ledger.plans(&nowhere, None, 10).await.unwrap();
    assert!(plans.items.is_empty() && plans.next.is_none());
    assert!(ledger.journal(&nowhere, 0, 10).await.unwrap().is_empty());
    assert!(ledger.conversation(&nowhere, 0, 10).await.unwrap().is_empty());
    assert!(ledger.plan_journal(&nowhere, &plan).await.unwrap().is_empty());
    assert!(ledger.stored_plans(&nowhere).await.unwrap().0.is_empty());
}

/// Every page of a list of sessions, by name.
async fn all_sessions(ledger: &dyn Ledger, limit: u32) -> Vec<String> {
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let page = ledger.sessions(after, limit).await.unwrap();
        assert!(page.items.len() <= limit as usize && page.damaged.is_empty());
        names.extend(page.items.iter().map(|stored| stored.session.identity.to_string()));
        match page.next {
            Some(next) => after = Some(next),
            None => return names,
        }
    }
}

fn when(second: i64, mut submission: Submission) -> Submission {
    submission.context.at = at(second);
    submission
}

pub(crate) async fn sessions_are_paged_the_most_recently_active_first(store: &Store) {
    let ledger = store.ledger().await;
    for n in 0..7 {
        ledger.submit(when(n as i64, submission(&nth_session(n), &format!("open-{n}"), open()))).await.unwrap();
    }
    // The oldest one wakes up again.
    let woken = submission(&nth_session(0), "again", on(PlanStyle::Document));
    ledger.submit(when(100, woken)).await.unwrap();
    let expected: Vec<_> = [0, 6, 5, 4, 3, 2, 1].map(|n| nth_session(n).to_string()).into();
    for limit in [1, 2, 3, 7, 100] {
        assert_eq!(all_sessions(ledger.as_ref(), limit).await, expected, "{limit} a page");
    }
    assert_eq!(ledger.session(&nth_session(0)).await.unwrap().unwrap().last_active, at(100));
}

/// A session's row does not follow each of its entries; the order of the list does.
pub(crate) async fn the_order_of_sessions_holds_over_thousands_of_entries(store: &Store) {
    const CALLS: u32 = 700;
    let ledger = store.ledger().await;
    let names = |order: &[usize]| order.iter().map(|n| nth_session(*n).to_string()).collect::<Vec<_>>();
    for n in 0..6 {
        ledger.submit(submission(&nth_session(n), &format!("open-{n}"), open())).await.unwrap();
    }
    for (round, n) in [2, 4].into_iter().enumerate() {
        let (turn, called) = (format!("turn-{round}"), format!("called-{round}"));
        ledger.submit(submission(&nth_session(n), &turn, begin("Hello"))).await.unwrap();
        let calls = note(&turn, vec![replied("", CALLS as usize)]);
        ledger.submit(submission(&nth_session(n), &called, calls)).await.unwrap();
        // So many entries between those of the other sessions.
        let ended = note(&turn, (1..=CALLS).map(|call| tool_ended(call, "fine")).collect());
        ledger.submit(submission(&nth_session(n), &format!("ended-{round}"), ended)).await.unwrap();
    }
    for limit in [1, 2, 100] {
        assert_eq!(all_sessions(ledger.as_ref(), limit).await, names(&[4, 2, 5, 3, 1, 0]), "{limit} a page");
    }
    // One whose row is far behind, and two that follow closely.
    for (n, request) in [(0, "woken"), (5, "next"), (2, "last")] {
        let title = format!("Session {n}");
        let rename = Command::Session(SessionCommand::Rename { title: Some(title) });
        ledger.submit(submission(&nth_session(n), request, rename)).await.unwrap();
    }
    for ledger in [ledger, store.ledger().await] {
        for limit in [1, 2, 100] {
            assert_eq!(all_sessions(ledger.as_ref(), limit).await, names(&[2, 5, 0, 4, 3, 1]), "{limit} a page");
        }
    }
}

pub(crate) async fn sessions_are_found_by_their_words_the_most_recently_active_first(store: &Store) {
    let ledger = store.ledger().await;
    let rename = |title: &str| Command::Session(SessionCommand::Rename { title: Some(title.to_owned()) });
    let titles = ["Move the blog", "Paint the Łódź shed", "Blog and shed", "Other", "Another"];
    for (n, title) in titles.iter().enumerate() {
        ledger.submit(submission(&nth_session(n), &format!("open-{n}"), open())).await.unwrap();
        ledger.submit(submission(&nth_session(n), &format!("rename-{n}"), rename(title))).await.unwrap();
    }
    let found = async |words: &[&str], limit: u32| {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let (mut names, mut after) = (Vec::new(), None);
        loop {
            let page = ledger.sessions_with_words(&words, after, limit).await.unwrap().unwrap();
            names.extend(page.items.into_iter().map(|stored| stored.session.identity));
            after = page.next;
            if after.is_none() {
                return names;
            }
        }
    };
    for limit in [1, 10] {
        assert_eq!(found(&["blog"], limit).await, [nth_session(2), nth_session(0)]);
        assert_eq!(found(&["shed", "log"], limit).await, [nth_session(2)], "also within a word");
        assert_eq!(found(&["łódź"], limit).await, [nth_session(1)]);
        assert_eq!(found(&["session-00004"], limit).await, [nth_session(4)], "by its key");
        assert_eq!(found(&["nowhere"], limit).await, []);
    }
    // The oldest one is active again, under another name.
    ledger.submit(submission(&nth_session(0), "again", rename("A shed"))).await.unwrap();
    assert_eq!(found(&["shed"], 10).await, [0, 2, 1].map(nth_session));
    assert_eq!(found(&["blog"], 10).await, [nth_session(2)]);
    assert_whole(&store.engine().await).await;
}

/// What is written between two pages moves; everything else is listed once.
pub(crate) async fn a_write_between_two_pages_of_sessions_hides_and_repeats_nothing_else(store: &Store) {
    let ledger = store.ledger().await;
    for n in 0..20 {
        ledger.submit(submission(&nth_session(n), &format!("open-{n}"), open())).await.unwrap();
    }
    let first = ledger.sessions(None, 5).await.unwrap();
    // Sessions of the first page are written to, deleted, and joined by a new one.
    for n in [18, 16] {
        ledger.submit(submission(&nth_session(n), &format!("again-{n}"), on(PlanStyle::Document))).await.unwrap();
    }
    for n in [19, 17, 15] {
        let lease = ledger
            .acquire_lease(&nth_session(n), "another-process", std::time::Duration::from_secs(60))
            .await
            .unwrap()
            .unwrap();
        ledger.delete_session(&lease).await.unwrap();
    }
    ledger.submit(submission(&nth_session(20), "open-20", open())).await.unwrap();
    let (mut found, mut after) = (first.items, first.next);
    while after.is_some() {
        let page = ledger.sessions(after, 5).await.unwrap();
        assert!(page.items.len() <= 5);
        found.extend(page.items);
        after = page.next;
    }
    let found: Vec<_> = found.into_iter().map(|stored| stored.session.identity).collect();
    assert_eq!(found, (0..20).rev().map(nth_session).collect::<Vec<_>>());
    // Position 0 is the beginning.
    let beginning = ledger.sessions(Some(0), 1).await.unwrap();
    assert_eq!(beginning.items[0].session.identity, nth_session(20));
}

pub(crate) async fn sessions_active_at_the_same_moment_are_all_listed(store: &Store) {
    let ledger = store.ledger().await;
    for n in 0..9 {
        ledger.submit(submission(&nth_session(n), &format!("open-{n}"), open())).await.unwrap();
    }
    let expected: BTreeSet<_> = (0..9).map(|n| nth_session(n).to_string()).collect();
    for limit in [1, 2, 4, 9] {
        let listed = all_sessions(ledger.as_ref(), limit).await;
        assert_eq!(listed.len(), 9);
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected, "{limit} a page");
    }
}

pub(crate) async fn sessions_with_one_key_are_found_on_every_channel(store: &Store) {
    let engine = store.engine().await;
    for name in ["web:k3yk3y8x", "cli:k3yk3y8x", "cli:another1", "cli:k3yk3y8xx"] {
        engine.sessions().open(&session(name), &person()).await.unwrap();
    }
    let found = engine.sessions().with_key(&session("mcp:k3yk3y8x").conversation).await.unwrap();
    let found: BTreeSet<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, BTreeSet::from(["cli:k3yk3y8x".to_owned(), "web:k3yk3y8x".to_owned()]));
}

pub(crate) async fn the_journal_is_read_in_pages(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    planning(&engine, &here, PlanStyle::Collect).await;
    for n in 0..10 {
        draft(&engine, &here, record(n)).await;
    }
    planning(&engine, &session("web:k3yk3y8x"), PlanStyle::Collect).await;
    let mut head = Head::START;
    loop {
        let page = engine.ledger().journal(&here, head.seq, 4).await.unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 4);
        for sealed in page {
            head.check(&here, &sealed).unwrap();
        }
    }
    assert_eq!(head, engine.ledger().session(&here).await.unwrap().unwrap().head);
    assert_eq!(head.seq, 13);
    assert!(engine.ledger().journal(&here, u64::MAX, 4).await.unwrap().is_empty());
}

pub(crate) async fn a_session_is_replayed_to_each_of_its_entries(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    let mut known = Vec::new();
    planning(&engine, &here, PlanStyle::Collect).await;
    for n in 0..5 {
        draft(&engine, &here, record(n)).await;
        let stored = engine.ledger().session(&here).await.unwrap().unwrap();
        known.push((stored.head.seq, stored.session, engine.ledger().stored_plans(&here).await.unwrap().0));
    }
    planning(&engine, &here, PlanStyle::Document).await;
    let elsewhere = store.engine().await;
    for (seq, session, plans) in known {
        let past = elsewhere.history().state_at(&here, Some(seq)).await.unwrap();
        assert_eq!((past.seq, past.snapshot.session, past.damaged), (seq, Some(session.into()), Vec::new()));
        let replayed: Vec<_> = past.snapshot.plans.values().map(AsRef::as_ref).collect();
        assert_eq!(replayed, plans.values().collect::<Vec<_>>());
    }
    let head = elsewhere.ledger().session(&here).await.unwrap().unwrap().head.seq;
    assert_eq!(elsewhere.history().state_at(&here, None).await.unwrap().seq, head);
    for seq in [0, head + 1, u64::MAX] {
        let refused = elsewhere.history().state_at(&here, Some(seq)).await.unwrap_err();
        assert_eq!(refused.code(), RefusalCode::NotFound);
    }
    let nowhere = elsewhere.history().state_at(&session("web:k3yk3y8x"), None).await.unwrap_err();
    assert_eq!(nowhere.code(), RefusalCode::NotFound);
}

pub(crate) async fn a_time_leads_to_the_last_entry_written_by_then(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    let ledger = engine.ledger();
    ledger.submit(when(0, submission(&here, "open", open()))).await.unwrap();
    for n in 1..30 {
        let rename = SessionCommand::Rename { title: Some(format!("title {n}")) };
        ledger.submit(when(10 * n, submission(&here, &format!("n{n}"), Command::Session(rename)))).await.unwrap();
    }
    for (second, seq) in [(-1, 0), (0, 1), (9, 1), (10, 2), (155, 16), (289, 29), (290, 30), (1_000, 30)] {
        assert_eq!(engine.history().last_entry_until(&here, at(second)).await.unwrap(), seq, "{second}");
    }
}

/// Every session that is not visited yet is written to between two pages, and one that was visited is deleted.
pub(crate) async fn a_walk_visits_every_session_however_they_move(store: &Store) {
    let (ledger, engine) = (store.ledger().await, store.engine().await);
    for n in 0..10 {
        planning(&engine, &nth_session(n), PlanStyle::Collect).await;
    }
    assert_eq!(ledger.count_sessions().await.unwrap(), 10);
    let (mut visited, mut after, mut written) = (Vec::new(), None, 0);
    loop {
        let page = ledger.walk_sessions(after, 3).await.unwrap();
        assert_eq!(page.damaged, []);
        visited.extend(page.items.into_iter().map(|stored| stored.session.identity));
        let Some(next) = page.next else { break };
        after = Some(next);
        for session in (0..10).map(nth_session).filter(|session| !visited.contains(session)) {
            written += 1;
            draft(&engine, &session, record(written)).await;
        }
        if visited.len() == 3 {
            let lease = ledger.acquire_lease(&visited[0], "deleting", Duration::from_secs(60)).await.unwrap().unwrap();
            ledger.delete_session(&lease).await.unwrap();
        }
    }
    visited.sort();
    assert_eq!(visited, (0..10).map(nth_session).collect::<Vec<_>>());
    assert_eq!(ledger.count_sessions().await.unwrap(), 9);
}

/// More sessions than are read at once. The one that is damaged becomes the most recently active one during the check.
pub(crate) async fn a_check_under_writes_leaves_no_session_out(store: &Store) {
    let engine = store.engine().await;
    let many = 520;
    let opened = (0..many).map(|n| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.sessions().open(&nth_session(n), &person()).await.map(drop).unwrap() })
    });
    join_all(opened).await.into_iter().for_each(Result::unwrap);
    let oldest = nth_session(many);
    ready(&engine, &oldest, "# Plan").await;
    // It is the last one of the walk, whichever way that goes: the first to be opened, or the longest inactive.
    let ids = "(SELECT id FROM session WHERE conversation = 'session-00520')";
    store
        .tamper(&format!(
            "UPDATE journal SET body = replace(body, 'Plan', 'Plot') WHERE seq = 4 AND session_id = {ids}"
        ))
        .await;
    for n in 0..many {
        engine.submit(&nth_session(n), &person(), on(PlanStyle::Document)).await.unwrap();
    }
    let mut moved = false;
    let report = engine
        .verifier()
        .verify_all(|_| {
            if !std::mem::replace(&mut moved, true) {
                tokio::task::block_in_place(|| {
                    let person = person();
                    let write = engine.submit(&oldest, &person, off());
                    tokio::runtime::Handle::current().block_on(write).unwrap();
                });
            }
        })
        .await
        .unwrap();
    assert_eq!((report.checked, report.total), (521, 521));
    let broken: Vec<_> = report.chains.iter().filter(|chain| !chain.is_whole()).map(|chain| &chain.session).collect();
    assert_eq!(broken, [&oldest], "{:?}", report.damaged);
}
